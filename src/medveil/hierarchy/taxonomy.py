"""A tree written in the policy."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, model_validator
from typing_extensions import TypeAliasType

from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.hierarchy.tabulated import Tabulated, bind_table, listed
from medveil.table.domain import Domain
from medveil.workspace import Workspace

Tree = TypeAliasType("Tree", "dict[str, Tree] | list[Tree] | str | None")


def _as_text(node: Any) -> Any:
    """YAML reads `1` as a number and `2020-01-01` as a date; in a tree all of them are words."""
    if isinstance(node, dict):
        return {_as_text(label): _as_text(child) for label, child in node.items()}
    if isinstance(node, list | tuple):
        return [_as_text(child) for child in node]
    if isinstance(node, int | float | dt.date) and not isinstance(node, bool):
        return str(node)
    return node


def _walk(node: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each leaf with its groups, nearest first."""
    if isinstance(node, dict):
        for label, child in node.items():
            yield from [(label, above)] if child is None else _walk(child, (label, *above))
    elif isinstance(node, list):
        for child in node:
            yield from _walk(child, above)
    elif node is not None:
        yield node, above


class Taxonomy(HierarchySpec):
    """Groups of groups of values, written out: `tree: {Respiratory: [flu, cold], Heart: {Rhythm: [a, b]}}`.

    Levels count from the top: the groups that stand outermost are all at the level below the root. A leaf on a shorter
    branch therefore stays as it is on the lower levels until its group's level is reached. A leaf may stand beside
    groups (`[flu, {Rare: [a, b]}]`). One single outermost group is the root.
    """

    name: ClassVar[str] = "taxonomy"

    type: Literal["taxonomy"] = "taxonomy"
    tree: Annotated[Tree, BeforeValidator(_as_text), describe("Labels with what they hold: labels or lists of values.")]

    @model_validator(mode="after")
    def _check(self) -> Taxonomy:
        paths = list(_walk(self.tree, ()))
        if not paths:
            raise ValueError("The tree has no leaves. Write at least one value into it.")
        leaves = [leaf for leaf, _ in paths]
        if len(set(leaves)) < len(leaves):
            repeated = len(leaves) - len(set(leaves))
            raise ValueError(f"The tree holds {repeated} leaves more than once. Give every leaf one place.")
        height = max(len(above) for _, above in paths)
        for level in range(1, height + 1):
            # Top-down paths as far as this level; two different ones must not end in the same label.
            ways = {(*above[::-1], leaf)[: height - level + 1] for leaf, above in paths}
            if len({way[-1] for way in ways}) < len(ways):
                raise ValueError(f"Two groups at level {level} of the tree share a label. Give each its own.")
        return self

    @cached_property
    def _table(self) -> Tabulated:
        paths = list(_walk(self.tree, ()))
        height = max(len(above) for _, above in paths)
        padded = [(leaf,) * (height - len(above)) + above for leaf, above in paths]
        columns = [[groups[level] for groups in padded] for level in range(height)]
        root = ROOT
        if columns and len(set(columns[-1])) == 1:
            root = columns.pop()[0]
        return Tabulated([leaf for leaf, _ in paths], columns, root)

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        return bind_table(self, self._table, domain, column)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return listed(self._table.leaves)
