"""Tables that are changed or linked before they are counted: what an engine does with them that can.

Keys become pseudonyms, dates are shifted by person, columns are derived, and tables point to each other; what comes
out is a source as any other, which an engine then opens and counts. See `TableFactory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.interface import Interrupting, Limits, Publication
from medveil.sources.source import Source
from medveil.table.changes import ChangedTable
from medveil.table.pseudonyms import ReleaseKey

PERSON = "person"
"""What the view of linked tables calls the number of a person."""


class ChangedTables(Protocol):
    """Tables that are read, each once, and what becomes of their columns. Close it, or use it in a `with`."""

    tables: Mapping[str, ChangedTable]
    sources: Mapping[str, Source]
    key: ReleaseKey

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Give back memory and disk."""

    def interrupt(self) -> None:
        """Stop what is being computed, from another thread."""

    def raw(self, name: str) -> Source:
        """The texts of a table as they were read, for the auditor."""

    def changed(self, name: str) -> Source:
        """A table as it is counted, its columns under their published names."""

    def lost(self, name: str) -> Mapping[str, int]:
        """How many records lack each derived value although its own date is there."""


class LinkedTables(ChangedTables, Protocol):
    """Tables that point to each other, the first of them to none: it holds the people, each in one record.

    A record is *alive* where its person is among the people of the first table and everything that it points to is
    there and alive too; others are not published, so that foreign keys hold.
    """

    def rows(self, name: str) -> int:
        """How many records a table has."""

    def alive(self, name: str) -> int:
        """How many records of a table can be published at all."""

    def view(self, columns: Sequence[tuple[str, str, str]]) -> Source:
        """What may be known of a person: the distinct combinations of one record of each table, `PERSON` first.

        `columns` are a table, a column of it as it is published, and a name for it.
        """

    def sets(self, name: str, column: str, kept: NDArray[np.int64]) -> pa.Table:
        """The distinct (`person`, `value`) of a column, of the people that are kept, by their numbers."""

    def texts(self, name: str, column: str) -> frozenset[str]:
        """The distinct values of a column as it is counted, without the missing one."""

    def tells(self, name: str, column: str, other: str) -> bool:
        """Whether most values of a column go with one value of another, as the name of a disease with its code."""

    def repeated(self, hidden: tuple[str, str], values: Sequence[str], shown: tuple[str, str]) -> float:
        """Of the people's values in one column, `table, column`, the share that stands in another column of theirs.
        Only `values` are looked at.
        """

    def everybody(self) -> NDArray[np.int64]:
        """The numbers of all people."""

    def publish(
        self,
        name: str,
        kept: NDArray[np.int64],
        by_person: Mapping[str, pa.Array],
        by_value: Mapping[str, pa.Table],
    ) -> Publication:
        """The records of the people that are kept. `by_person` has a label for each of them, in their order, `by_value`
        from `value` to `label`; other columns are published as they stand.
        """


class TableFactory(Protocol):
    """What changes and links tables. `space`: what people are named by, the space of their pseudonyms and offsets."""

    def change(
        self,
        tables: Mapping[str, ChangedTable],
        sources: Mapping[str, Source],
        key: ReleaseKey,
        space: str,
        limits: Limits,
        interrupting: Interrupting,
    ) -> ChangedTables:
        """Tables whose columns are changed, each for itself."""

    def link(
        self,
        tables: Mapping[str, ChangedTable],
        sources: Mapping[str, Source],
        key: ReleaseKey,
        space: str,
        limits: Limits,
        interrupting: Interrupting,
    ) -> LinkedTables:
        """Tables that point to each other, the first to none."""
