"""Published classifications as hierarchies: diseases by category, block and chapter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.hierarchy.tabulated import Tabulated, bind_table
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

GROUP = "-"
"""Behind a code it means: with all that is below it, as the classifications write it themselves (E11.-). A record may
hold the code of a group, and then is that code alone."""


@dataclass(frozen=True)
class Classification:
    """Every code that a record may hold, and in `levels` its group at each level by name, the finest level first."""

    version: str
    codes: Sequence[str]
    levels: Mapping[str, Sequence[str]]


class CodeTree(HierarchySpec):
    """A classification that another package ships. Codes are read with or without dots and in either case.

    Branches differ in depth: a code that has no group of its own at a level is its own group there.
    """

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CODE, Kind.CATEGORY)

    version: Annotated[
        str | None, describe("The version that the tree must have (default: any; the manifest says which).")
    ] = None

    @abstractmethod
    def classification(self) -> Classification:
        """The whole classification, loaded once."""

    @property
    def chosen(self) -> Sequence[str]:
        """The levels that the hierarchy has, by name."""
        return tuple(self.classification().levels)

    def read(self, value: str) -> str:
        """A value as the code that it means, without dots."""
        return value.strip().upper().replace(".", "")

    def write(self, label: str) -> str:
        """A code or a group as it is published."""
        return label

    def known(self, values: Sequence[str]) -> float:
        """The share of values that are codes of the classification."""
        codes = {self.read(code) for code in self.classification().codes}
        return sum(self.read(value) in codes for value in values) / max(len(values), 1)

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        found = self.classification()
        if self.version is not None and self.version != found.version:
            raise InputError(
                f"The hierarchy '{self.name}' of '{column}' must be version '{self.version}', but "
                f"'{found.version}' is installed.",
                "Install that version, or leave 'version:' out.",
            )
        columns = [[self.write(label) for label in found.levels[name]] for name in self.chosen]
        table = Tabulated([self.read(code) for code in found.codes], columns)
        return bind_table(self, table, domain, column, self.read)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return [self.write(code) for code in self.classification().codes]

    def described(self) -> dict[str, Any]:
        return {**super().described(), "version": self.classification().version}


def version_of(distribution: str, release: str) -> str:
    """What the manifest says of a tree: the release of the classification, and the package that it came with."""
    return f"{release} ({distribution} {installed_version(distribution)})"


def not_installed(word: str, distribution: str) -> InputError:
    return InputError(
        f"The hierarchy '{word}' needs the package {distribution}, which is not installed.",
        "pip install 'medveil[codes]'",
    )


def marked(group: str) -> str:
    """A group as it is published.

    >>> marked("E11"), marked("E11.2")
    ('E11.-', 'E11.2-')
    """
    return f"{group}{'' if '.' in group else '.'}{GROUP}"
