"""What rows are needed for: an engine holds one table and tells what is counted of it.

Counts travel, rows stay: what an engine gives and takes are Arrow tables of distinct tuples, labels and numbers, never
a query. Methods that go record by record need an engine that declares `has_rows`; see `RowEngine`.

A value is a text: as it stands in a file of texts, without the spaces around it; a number, date or truth value of a
typed source as SQL would cast it (`1`, `1.0`, `2024-02-29`, `true`). What is missing is null, and a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.guessing.column_profile import ColumnProfile
from medveil.sources.source import Source

COUNT = "records"
"""What the column of a table of cells is called that tells how many records each has."""

CELLS_AT_MOST = 20_000_000
"""Beyond so many distinct records the engine is asked about each node of a search, and they stay with it."""


@dataclass(frozen=True)
class Limits:
    """What the engine may use: `threads` (all cores where None), `memory` such as `4GB` (most of it where None), and
    `spill`, a folder for what outgrows memory (one of its own where None). `cells_at_most`: how many distinct records
    may travel from the engine to a search in memory.
    """

    threads: int | None = None
    memory: str | None = None
    spill: Path | None = None
    cells_at_most: int = CELLS_AT_MOST


@dataclass(frozen=True)
class Snapshot:
    """The columns that an engine was asked for, as they were read: record i of the source is record i of the file.

    Who has its hash can test a guess of the original, so it never leaves the house.
    """

    source: Source
    sha256: str


@dataclass(frozen=True)
class WrittenPart:
    """A file that a publication was written to: its name inside the release, how many rows it has, and its SHA-256."""

    name: str
    rows: int
    sha256: str


class Publication(Protocol):
    """A table that is about to be published, its rows sorted by what they publish. Only engines make one."""

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def write(self, folder: Path, file_format: str) -> tuple[WrittenPart, ...]:
        """Write the rows into a folder, as `csv` or `parquet`: one file called `release.csv` or `release.parquet`, or
        parts under `release/` whose rows are sorted within each and from one to the next.
        """

    def to_arrow(self) -> pa.Table:
        """The rows themselves, for tables that fit into memory."""


class Engine(Protocol):
    """One table, read once from its source and counted as often as needed. Close it, or use it in a `with`."""

    @property
    def has_rows(self) -> bool:
        """Whether it can go record by record: see `RowEngine`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were read."""

    @property
    def missing(self) -> frozenset[str]:
        """The texts that stand for a missing value."""

    @property
    def rows(self) -> int:
        """The number of records."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What somebody should know of how the records were read, in sentences without a value."""

    @property
    def snapshot(self) -> Snapshot:
        """What was read, for others who need it; it is there as long as the engine is open."""

    def close(self) -> None:
        """Give back memory and disk."""

    def interrupt(self) -> None:
        """Stop what is being computed, from another thread."""

    def listen(self, told: Callable[[float], None]) -> None:
        """Tell, now and then, which share of what is being computed is done, where the engine knows."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    # Counts

    def profile(self, name: str) -> ColumnProfile:
        """What can be counted of one column, and a sample of its distinct values that does not depend on row order;
        words that many files have for a missing value are in it wherever the column has them.
        """

    def distinct(self, name: str) -> int:
        """How many values a column has, missing aside."""

    def values(self, name: str, subject: str | None = None) -> pa.Table:
        """Every `value` of a column with its number of `records`, the most frequent first, and how many `people` have
        it: distinct subjects, missing aside; every record is somebody's where no subject is named.
        """

    def unique_share(self, columns: Sequence[str]) -> float:
        """The share of records that no other record equals in these columns."""

    def cells(self, columns: Sequence[str]) -> pa.Table:
        """The distinct tuples of these columns with their number of `records`: columns q0, q1, ... and `records`.

        The first are texts, plain or encoded as codes into a dictionary, which is how they should travel where the
        engine is elsewhere. Whoever is given cells gives them back as they came.
        """

    def marginals(self, sets: Sequence[Sequence[str]]) -> list[pa.Table]:
        """The cells of several sets of columns, counted together."""

    def occurrences(self, name: str, subject: str | None) -> pa.Table:
        """How many `records` of each `person` have each value of a column. Both are told by numbers from 0: the values
        themselves stay, since there may be as many as rows. Everybody is person 0 where no subject is named.
        """

    def subjects(
        self, cells: pa.Table, columns: Sequence[str], subject: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        """Who is in each cell, as offsets and codes from 0, and how many people there are; records without a subject
        count as one person together.
        """

    def bound_records(self, subject: str, most: int) -> int:
        """Keep at most so many records of each subject, drawn at random, and none without a subject: how many went.

        What is kept of one subject does not depend on the others.
        """

    # Publications

    def publish(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str] = (),
        *,
        stars: bool = False,
        made: Mapping[str, pa.Array] | None = None,
        beside: pa.Table | None = None,
    ) -> Publication:
        """Every record with the labels of its cell, and its plain columns as they are.

        `labels[j]` holds what is published in column `columns[j]` for each cell, `made` what stands in columns before
        them that the source does not have; records of cells that are not `kept` are left out, or published as rows of
        `*`. `beside` are further rows, with all these columns, that are published among the records.
        """

    def publish_table(self, table: pa.Table) -> Publication:
        """A table as a method made it."""

    def expand(self, table: pa.Table, counts: NDArray[np.int64]) -> Publication:
        """Each row of a table as often as its count says."""

    def write_links(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        path: Path,
    ) -> None:
        """What became of each record of the source: see `medveil.engine.links`."""


class RowEngine(Engine, Protocol):
    """An engine that goes record by record. A record's line is its number in the source, from 0; "in order" is in the
    order of lines.
    """

    def texts(self, columns: Sequence[str]) -> pa.Table:
        """Columns of all records in order, under their names."""

    def codes(self, name: str) -> pa.DictionaryArray:
        """One column of all records in order, as codes; a missing value has a code of its own."""

    def marks(self, columns: Sequence[str]) -> NDArray[np.uint64]:
        """A number for each record in order that depends on nothing but what stands in these columns."""

    def take(self, lines: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        """Columns of the records on these lines, in the order of `lines`, a record as often as it is named."""

    def cell_of_row(self, cells: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
        """The cell of each record, in order."""

    def publish_rows(
        self,
        names: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str] = (),
        *,
        stars: bool = False,
    ) -> Publication:
        """Every record with labels of its own, given in order, and its plain columns as they are."""


Interrupting = Callable[[Callable[[], None]], AbstractContextManager[object]]
"""Within this, what it is given is called where somebody wants the work to stop."""


class EngineFactory(Protocol):
    """What opens an engine on a source. `may_be_empty`: a table without records is no error. `interrupting`: reading
    stops where somebody wants it to; afterwards whoever holds the engine interrupts it.
    """

    def __call__(
        self,
        source: Source,
        columns: Sequence[str],
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> Engine: ...


def with_rows(engine: Engine) -> RowEngine:
    """The engine as one that goes record by record, which it must have declared."""
    if not engine.has_rows:
        raise InputError(
            "This needs the records one by one, and the engine only counts them.", "Use an engine that has rows."
        )
    return cast("RowEngine", engine)
