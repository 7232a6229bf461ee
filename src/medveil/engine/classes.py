"""Classes that are counted where the records are: what is asked of an engine when cells are too many to travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.interface import Engine, Publication

Groups = Sequence[NDArray[np.int32]]
"""For each quasi-identifier, the group of each of its codes."""


@dataclass(frozen=True)
class Asked:
    """What is asked of every class: so many people (records where no subject is known), and of sensitive attributes,
    by their place, so many distinct values.
    """

    people: int = 1
    distinct: Mapping[int, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """No class of fewer records can hold so many people and values."""
        return max(self.people, *self.distinct.values(), 1)


@dataclass(frozen=True)
class CountedClasses:
    """What a check found: the records of classes that fail, in all and by group of each quasi-identifier, and of the
    classes that hold their number and the sum of their squared sizes in records.

    `hidden` is empty where more records fail than was worth telling; `failing` is then a lower bound.
    """

    failing: int
    hidden: tuple[NDArray[np.int64], ...] = ()
    squares: int = 0
    classes: int = 0


@dataclass(frozen=True)
class Told:
    """What columns tell of who somebody is: how many combinations of values there are, how many bits an attacker who
    knows them still lacks on average, how many people some combination has for itself, and how many people there are.
    """

    values: int
    lacking: float
    unique: int
    people: int


class CodedPublication(Protocol):
    """What is published of a coded table."""

    @property
    def published(self) -> Publication:
        """The records of the classes that hold, and rows of `*` in the place of the others where asked for."""

    @property
    def suppressed(self) -> int:
        """The records of the classes that fail."""

    def write_links(self, path: Path) -> None:
        """What became of each record of the source: see `medveil.engine.links`."""


class CodedTable(Protocol):
    """The records of an engine as codes. They stay there; one check of a node is one question.

    Columns are told by their place: the quasi-identifiers first, then the sensitive attributes. People are records
    where no subject is known.
    """

    def check(self, groups: Groups, asked: Asked, most: int) -> CountedClasses:
        """The classes of a node. Where more than `most` records fail, nobody needs to know more than that."""

    def cross(
        self, first: int, of_first: NDArray[np.int32], second: int, of_second: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """The records of every pair of groups of two columns."""

    def least(self, groups: Groups, attributes: Sequence[int]) -> tuple[int, dict[int, int]]:
        """The fewest people of any class, and the fewest distinct values that any has of some sensitive attributes,
        which are told by their place among these.
        """

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes, in people, that classes have where nothing is generalized, and how many have each."""

    def people(self, column: int, group_of: NDArray[np.int32]) -> NDArray[np.int64]:
        """The people of each group of one column."""

    def told(self, columns: Sequence[int]) -> Told:
        """What some columns tell together."""

    def publish(
        self,
        groups: Groups,
        asked: Asked,
        labels: Sequence[Sequence[str | None]],
        plain: Sequence[str],
        *,
        stars: bool,
    ) -> CodedPublication:
        """Every record of a class that holds, with the label of its group in each quasi-identifier, of its code in each
        sensitive attribute, and its plain columns as they are. Records of classes that fail are left out, or published
        as rows of `*`.
        """


class ClassEngine(Engine, Protocol):
    """An engine that counts classes where its records are, which it declares by `has_classes = True`."""

    def tuples(self, columns: Sequence[str]) -> int:
        """How many distinct tuples these columns have: what would travel if cells did."""

    def encode(
        self, quasi: Sequence[str], sensitive: Sequence[str], codes: Sequence[pa.Table], subject: str | None
    ) -> CodedTable:
        """The records as codes, which stay here: `codes` has, for each of these columns, the `code` of every `value`.
        Where a subject is named people are counted; records without one are one person together.
        """

    def told(self, columns: Sequence[str], subject: str | None) -> Told:
        """What columns tell together as they stand in the source: see `CodedTable.told`."""


def with_classes(engine: Engine) -> ClassEngine | None:
    """The engine as one that counts classes by itself; None where it declares nothing of the kind."""
    return cast("ClassEngine", engine) if getattr(engine, "has_classes", False) else None
