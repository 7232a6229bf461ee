"""Concepts of OMOP by the table CONCEPT_ANCESTOR that the user has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.hierarchy.code_tree import marked
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.hierarchy.tabulated import Tabulated, bind_table
from medveil.sources.file import open_file
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

COLUMNS = ("ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation")


class ConceptAncestor(HierarchySpec):
    """Concepts of OMOP by the user's own table CONCEPT_ANCESTOR (CSV with commas or tabs, or Parquet, packed or not).

    A concept that has several parents goes with the one that has the most descendants in the file, of several the one
    with the smallest number, whatever the data hold. The levels are those from the top: the widest groups last. A
    concept that the file does not have stays as it is until `*`. A group is written with `.-` behind the concept.
    """

    name: ClassVar[str] = "concept-ancestor"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CODE, Kind.CATEGORY)

    type: Literal["concept-ancestor"] = "concept-ancestor"
    path: Annotated[Path, describe("The file, relative to the policy.")]
    levels: Annotated[int, describe("How many levels of groups there are, counted from the widest.", ge=1, le=20)] = 5

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        file = _File(workspace.resolve(self.path), column)
        values = sorted({int(value) for value in domain.values if value is not None and value.isdecimal()})
        chains = file.chains(values)
        if values and not any(len(chain) > 1 for chain in chains.values()):
            raise InputError(
                f"The file '{self.path.name}' has no ancestor of any concept in '{column}'.",
                "Does the column hold standard concepts, and the file their vocabulary?",
            )
        leaves = [value for value in domain.values if value is not None]
        ways = [chains.get(int(leaf), [int(leaf)]) if leaf.isdecimal() else [leaf] for leaf in leaves]
        groups = {concept for chain in chains.values() for concept in chain[:-1]}
        depth = min(self.levels, max(map(len, ways), default=1) - 1)
        columns = [
            [_label(way, level, groups, leaf) for way, leaf in zip(ways, leaves, strict=True)]
            for level in reversed(range(depth))
        ]
        return bind_table(self, Tabulated(leaves, columns), domain, column)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return None


def _label(way: Sequence[int | str], level: int, groups: set[int], leaf: str) -> str:
    """The group at a level, counted from the top; below its own place a concept is itself."""
    if level >= len(way):
        return leaf
    concept = way[level]
    return marked(str(concept)) if level < len(way) - 1 or concept in groups else leaf


class _File:
    """A table of ancestors, read in parts: it may have tens of millions of records."""

    def __init__(self, path: Path, column: str) -> None:
        self.path = path
        self.column = column
        self.source = open_file(path)
        named = [name.lower() for name in self.source.names]
        missing = [name for name in COLUMNS if name not in named]
        if missing:
            raise InputError(
                f"The file '{path.name}' of '{column}' has no column '{missing[0]}'.",
                "Name the table CONCEPT_ANCESTOR of the vocabularies.",
            )
        self.places = [named.index(name) for name in COLUMNS]

    def _parts(self) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
        for batch in self.source.batches():
            try:
                above, below, apart = (pc.cast(batch.column(place), pa.int64()) for place in self.places)
            except pa.ArrowException:  # its message would show what stands there
                raise InputError(
                    f"The file '{self.path.name}' of '{self.column}' holds concepts that are not numbers.",
                    "Is it the table CONCEPT_ANCESTOR, and is it complete?",
                ) from None
            yield above, below, apart

    def chains(self, concepts: Sequence[int]) -> dict[int, list[int]]:
        """From each concept the chain of its ancestors, the widest first and the concept itself last."""
        asked = pa.array(concepts, pa.int64())
        found: set[int] = set(concepts)
        for above, below, _ in self._parts():
            found |= set(above.filter(pc.is_in(below, asked)).to_pylist())
        related = pa.array(sorted(found), pa.int64())
        parents: dict[int, set[int]] = {}
        sizes: dict[int, int] = {}
        for above, below, apart in self._parts():
            counted = pc.value_counts(above.filter(pc.is_in(above, related)))
            for one in counted.to_pylist():
                sizes[one["values"]] = sizes.get(one["values"], 0) + one["counts"]
            near = pc.and_(pc.is_in(below, related), pc.equal(apart, 1))
            for child, parent in zip(below.filter(near).to_pylist(), above.filter(near).to_pylist(), strict=True):
                parents.setdefault(child, set()).add(parent)
        chosen = {child: min(ones, key=lambda one: (-sizes.get(one, 0), one)) for child, ones in parents.items()}
        return {concept: _chain(concept, chosen) for concept in concepts}


def _chain(concept: int, parent: dict[int, int]) -> list[int]:
    chain = [concept]
    while (above := parent.get(chain[-1])) is not None and above not in chain:
        chain.append(above)
    return chain[::-1]
