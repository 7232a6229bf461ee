"""Rows in the process: DuckDB reads a source into a snapshot on disk and counts there, within any memory.

The snapshot's columns are texts, d0, d1, ... in the order in which they were asked for; the view `data` adds `line`,
the number of a record in the source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.classes import Told
from medveil.engine.duckdb_classes import DuckDBCodedTable, told_of
from medveil.engine.duckdb_publication import DuckDBPublication, stars_of
from medveil.engine.duckdb_reading import quote_text, relation, text
from medveil.engine.duckdb_session import Session
from medveil.engine.interface import COUNT, Interrupting, Limits, Snapshot
from medveil.engine.links import write_links
from medveil.engine.specification import EngineSpec
from medveil.engine.tables import ChangedTables, LinkedTables
from medveil.errors import InputError, OutputError
from medveil.guessing.column_profile import SAMPLE, ColumnProfile
from medveil.guessing.missing_words import MISSING_WORDS
from medveil.sources.csv_dialect import explain
from medveil.sources.parquet import ParquetSource
from medveil.sources.source import Source
from medveil.table.arrow import number_array, numpy_of
from medveil.table.changes import ChangedTable
from medveil.table.pseudonyms import ReleaseKey

SNAPSHOT = "snapshot.parquet"
_RANK = f"CASE WHEN value IN ({', '.join(map(quote_text, MISSING_WORDS))}) THEN 0 ELSE hash(value) END"
"""Which values are taken into a sample: words for a missing value before all others, which chance then decides."""


class DuckDB(EngineSpec):
    """DuckDB, in this process: rows stay on this machine, and what outgrows memory goes to its disk. The default."""

    name: ClassVar[str] = "duckdb"

    def open(
        self,
        source: Source,
        columns: Sequence[str],
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> DuckDBEngine:
        return DuckDBEngine(source, columns, limits, may_be_empty=may_be_empty, interrupting=interrupting)

    def change(
        self,
        tables: Mapping[str, ChangedTable],
        sources: Mapping[str, Source],
        key: ReleaseKey,
        space: str,
        limits: Limits,
        interrupting: Interrupting,
    ) -> ChangedTables:
        from medveil.engine.duckdb_changing import DuckDBChangedTables  # noqa: PLC0415 - few policies need it

        return DuckDBChangedTables(tables, sources, key, space, limits, interrupting)

    def link(
        self,
        tables: Mapping[str, ChangedTable],
        sources: Mapping[str, Source],
        key: ReleaseKey,
        space: str,
        limits: Limits,
        interrupting: Interrupting,
    ) -> LinkedTables:
        from medveil.engine.duckdb_linking import DuckDBLinkedTables  # noqa: PLC0415 - few policies need it

        return DuckDBLinkedTables(tables, sources, key, space, limits, interrupting)


class DuckDBEngine:
    """One table, read once from its source and counted as often as needed: see `Engine` and `RowEngine`."""

    has_rows = True
    has_classes = True
    remarks: tuple[str, ...] = ()

    def __init__(
        self,
        source: Source,
        columns: Sequence[str],
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> None:
        self.columns = tuple(dict.fromkeys(columns))
        self.missing = source.missing
        self._session = Session(limits or Limits())
        try:
            with interrupting(self.interrupt):
                self.rows = self._read(source, may_be_empty=may_be_empty)
        except BaseException:
            self.close()
            raise

    def _read(self, source: Source, *, may_be_empty: bool) -> int:
        """Make the view `data` on a snapshot of the source; the number of records.

        A file takes no memory, and its dictionaries make counting quick.
        """
        texts = [f"{text(source, name)} AS d{j}" for j, name in enumerate(self.columns)] or ["1 AS d0"]
        rows = relation(self._session, source)
        file = quote_text(str(self._file))
        try:
            self._session.run(f"COPY (SELECT {', '.join(texts)} FROM {rows}) TO {file} (FORMAT parquet)")
        except duckdb.Error as error:
            if self._session.refused is not None:
                raise self._session.refused from None
            if "no space left" in str(error).lower():
                raise OutputError("The disk is full.", "The data are copied to it while they are read.") from None
            is_csv = source.location is not None and source.location.format == "csv"
            remedy = explain(str(error)) if is_csv else "Is the file complete, with plain columns only?"
            raise InputError("The data cannot be read.", remedy) from None
        self._relation = f"read_parquet({file})"
        self._session.run("SET parquet_metadata_cache = true")
        self._session.run(
            f"CREATE VIEW data AS SELECT file_row_number AS line, * EXCLUDE (file_row_number) "
            f"FROM read_parquet({file}, file_row_number = true)"
        )
        number = int(self._session.row("SELECT count(*) FROM data")[0])
        if number == 0 and not may_be_empty:
            raise InputError("The data hold no records.", "Give a table with at least one record.")
        return number

    @property
    def _file(self) -> Path:
        return self._session.folder / SNAPSHOT

    @cached_property
    def snapshot(self) -> Snapshot:
        with self._file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return Snapshot(ParquetSource(self.columns, self.missing, self._file), digest)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    def interrupt(self) -> None:
        self._session.connection.interrupt()

    def listen(self, told: Callable[[float], None]) -> None:
        """DuckDB does not say how far it is with a query."""

    def _column(self, name: str) -> str:
        """The internal name of a column."""
        return f"d{self.columns.index(name)}"

    # Counts

    def profile(self, name: str) -> ColumnProfile:
        # Asked of the file, not of the view: to a view of a thousand columns each question costs all of them.
        counted = f"SELECT {self._column(name)} AS value, count(*) AS n FROM {self._relation} GROUP BY value"
        distinct, missing, longest, average, lowest, highest, sample = self._session.row(
            "SELECT count(value), coalesce(sum(n) FILTER (value IS NULL), 0)::BIGINT, max(length(value)), "
            "sum(n * length(value)) / sum(n) FILTER (value IS NOT NULL), min(TRY_CAST(value AS DOUBLE)), "
            f"max(TRY_CAST(value AS DOUBLE)), arg_min(value, {_RANK}, {SAMPLE}) FROM ({counted})"
        )
        values = sorted(sample or ())
        return ColumnProfile(name, self.rows, distinct, missing, values, longest or 0, average or 0.0, lowest, highest)

    def distinct(self, name: str) -> int:
        return int(self._session.row(f"SELECT count(DISTINCT {self._column(name)}) FROM {self._relation}")[0])

    def values(self, name: str, subject: str | None = None) -> pa.Table:
        people = "count(*)" if subject is None else f"count(DISTINCT {self._column(subject)})"
        return self._session.table(
            f"SELECT {self._column(name)} AS value, count(*) AS {COUNT}, {people} AS people FROM data "
            f"GROUP BY value ORDER BY {COUNT} DESC, value"
        )

    def unique_share(self, columns: Sequence[str]) -> float:
        if not columns:
            return 0.0
        grouped = f"SELECT count(*) AS n FROM {self._relation} GROUP BY {', '.join(map(self._column, columns))}"
        return float(self._session.row(f"SELECT count(*) FROM ({grouped}) WHERE n = 1")[0]) / self.rows

    def cells(self, columns: Sequence[str]) -> pa.Table:
        if not columns:
            return pa.table({COUNT: number_array(np.array([self.rows], dtype=np.int64))})
        selected = ", ".join(f"{self._column(name)} AS q{j}" for j, name in enumerate(columns))
        return self._session.table(f"SELECT {selected}, count(*) AS {COUNT} FROM {self._relation} GROUP BY ALL")

    def marginals(self, sets: Sequence[Sequence[str]]) -> list[pa.Table]:
        """One scan for all: grouping(...) has a bit for each column that a set leaves out."""
        asked = [[self._column(name) for name in columns] for columns in sets]
        used = sorted({column for columns in asked for column in columns})
        if not used:
            return [self.cells(()) for _ in sets]
        apart = sorted({", ".join(sorted(set(columns))) for columns in asked})
        together = self._session.table(
            f"SELECT {', '.join(used)}, grouping({', '.join(used)})::BIGINT AS left_out, count(*) AS {COUNT} "
            f"FROM data GROUP BY GROUPING SETS ({', '.join(f'({columns})' for columns in apart)})"
        )
        left_out = numpy_of(together["left_out"])
        tables = []
        for columns in asked:
            bits = sum(1 << (len(used) - 1 - place) for place, name in enumerate(used) if name not in columns)
            mine = together.filter(number_array(left_out == bits)).select([*columns, COUNT])
            tables.append(mine.rename_columns([*(f"q{j}" for j in range(len(columns))), COUNT]))
        return tables

    def occurrences(self, name: str, subject: str | None) -> pa.Table:
        person = "NULL" if subject is None else self._column(subject)
        return self._session.table(
            "SELECT (dense_rank() OVER (ORDER BY value) - 1)::INTEGER AS code, "
            f"(dense_rank() OVER (ORDER BY person) - 1)::INTEGER AS person, {COUNT} FROM "
            f"(SELECT {self._column(name)} AS value, {person} AS person, count(*) AS {COUNT} FROM data GROUP BY ALL)"
        )

    def subjects(
        self, cells: pa.Table, columns: Sequence[str], subject: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        person = self._column(subject)
        with self._session.registered(_numbered(cells)) as view:
            pairs = self._session.table(
                f"WITH people AS (SELECT {person} AS person, row_number() OVER () - 1 AS code "
                f"FROM (SELECT DISTINCT {person} FROM data)) "
                f"SELECT DISTINCT cells.cell AS cell, people.code AS code FROM data "
                f"JOIN {view} AS cells ON {self._same(columns)} "
                f"JOIN people ON data.{person} IS NOT DISTINCT FROM people.person ORDER BY cell, code"
            )
        cell = numpy_of(pairs["cell"])
        codes = numpy_of(pairs["code"]).astype(np.int32)
        offsets = np.searchsorted(cell, np.arange(len(cells) + 1)).astype(np.int64)
        return offsets, codes, int(codes.max(initial=-1)) + 1

    def _same(self, columns: Sequence[str]) -> str:
        conditions = [f"data.{self._column(name)} IS NOT DISTINCT FROM cells.q{j}" for j, name in enumerate(columns)]
        return " AND ".join(conditions) or "true"

    # Classes that are counted here

    def tuples(self, columns: Sequence[str]) -> int:
        selected = ", ".join(map(self._column, columns)) or "1"
        return int(self._session.row(f"SELECT count(*) FROM (SELECT DISTINCT {selected} FROM {self._relation})")[0])

    def encode(
        self, quasi: Sequence[str], sensitive: Sequence[str], codes: Sequence[pa.Table], subject: str | None
    ) -> DuckDBCodedTable:
        return DuckDBCodedTable(self._session, (*quasi, *sensitive), len(quasi), codes, self._column, subject)

    def told(self, columns: Sequence[str], subject: str | None) -> Told:
        # Who has no name is somebody too: a list of nothing is not nothing.
        person = None if subject is None else f"[{self._column(subject)}]"
        relation = f"(SELECT *, 1 AS n FROM {self._relation})"
        return told_of(self._session, relation, [self._column(name) for name in columns], person)

    def bound_records(self, subject: str, most: int) -> int:
        person = self._column(subject)
        # A window may not be ordered by what is drawn anew each time it is looked at: numbers are drawn first.
        drawn = f"SELECT *, random() AS chance FROM data WHERE {person} IS NOT NULL"
        kept = (
            f"SELECT * EXCLUDE (place, chance) FROM (SELECT *, row_number() OVER (PARTITION BY {person} "
            f"ORDER BY chance) AS place FROM ({drawn})) WHERE place <= {int(most)}"
        )
        before = self.rows
        self._session.run(f"CREATE TABLE bounded AS {kept}")
        self._session.run("CREATE OR REPLACE VIEW data AS SELECT * FROM bounded")
        self._relation = "bounded"
        self.rows = int(self._session.row("SELECT count(*) FROM data")[0])
        return before - self.rows

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
    ) -> DuckDBPublication:
        made = made or {}
        shown = [*made.values(), *labels]
        names = (*made, *columns, *plain)
        published = ", ".join(f"p{j}" for j in range(len(shown)))
        if plain:
            view = self._session.register(_labelled(cells, columns, shown, kept))
            extra = ", ".join(f"data.{self._column(name)} AS p{len(shown) + j}" for j, name in enumerate(plain))
            query = f"SELECT {published}, {extra} FROM data JOIN {view} AS cells ON {self._same(columns)} WHERE kept"
        else:
            counted = pa.table([*shown, cells[COUNT]], names=[*_places(shown), COUNT])
            view = self._session.register(counted.filter(number_array(kept)))
            query = (
                f"SELECT {published} FROM (SELECT {published}, sum({COUNT})::BIGINT AS n FROM {view} GROUP BY ALL), "
                f"unnest(range(n))"
            )
        if beside is not None:
            further = self._session.register(beside.select(list(names)).rename_columns(_places(names)))
            query += f" UNION ALL SELECT {', '.join(_places(names))} FROM {further}"
        suppressed = int(numpy_of(cells[COUNT])[~kept].sum()) if stars else 0
        return DuckDBPublication(self._session, query + stars_of(suppressed, len(names)), names)

    def publish_table(self, table: pa.Table) -> DuckDBPublication:
        view = self._session.register(table.rename_columns(_places(table.column_names)))
        return DuckDBPublication(self._session, f"SELECT * FROM {view}", tuple(table.column_names))

    def expand(self, table: pa.Table, counts: NDArray[np.int64]) -> DuckDBPublication:
        places = _places(table.column_names)
        view = self._session.register(table.rename_columns(places).append_column(COUNT, number_array(counts)))
        query = f"SELECT {', '.join(places)} FROM {view}, unnest(range({COUNT}))"
        return DuckDBPublication(self._session, query, tuple(table.column_names))

    def write_links(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        path: Path,
    ) -> None:
        published = ", ".join(_places(labels))
        with self._session.registered(_labelled(cells, columns, labels, kept)) as view:
            links = self._session.table(
                f"SELECT line, kept, {published} FROM data JOIN {view} AS cells ON {self._same(columns)} ORDER BY line"
            )
        texts = links.select(_places(labels)).rename_columns(list(columns))
        write_links(path, numpy_of(links["kept"]), texts, numpy_of(links["line"]))

    # Record by record

    def texts(self, columns: Sequence[str]) -> pa.Table:
        selected = ", ".join(f"{self._column(name)} AS t{j}" for j, name in enumerate(columns))
        table = self._session.table(f"SELECT {selected or 'line'} FROM data ORDER BY line")
        return table.rename_columns(list(columns)) if columns else table.select([])

    def codes(self, name: str) -> pa.DictionaryArray:
        return self.texts([name]).column(0).combine_chunks().dictionary_encode(null_encoding="encode")

    def marks(self, columns: Sequence[str]) -> NDArray[np.uint64]:
        hashed = ", ".join(self._column(name) for name in columns)
        return numpy_of(self._session.table(f"SELECT hash({hashed}) AS mark FROM data ORDER BY line")["mark"])

    def take(self, lines: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        asked = pa.table({"line": number_array(lines), "nth": number_array(np.arange(len(lines)))})
        selected = ", ".join(f"data.{self._column(name)} AS t{j}" for j, name in enumerate(columns))
        with self._session.registered(asked) as view:
            table = self._session.table(
                f"SELECT {selected} FROM {view} AS asked JOIN data ON data.line = asked.line ORDER BY asked.nth"
            )
        return table.rename_columns(list(columns))

    def cell_of_row(self, cells: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
        with self._session.registered(_numbered(cells)) as view:
            found = self._session.table(
                f"SELECT cell FROM data JOIN {view} AS cells ON {self._same(columns)} ORDER BY data.line"
            )
        return numpy_of(found["cell"])

    def publish_rows(
        self,
        names: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str] = (),
        *,
        stars: bool = False,
    ) -> DuckDBPublication:
        columns = [*labels, *(column.combine_chunks() for column in (self.texts(plain).columns if plain else ()))]
        everything = (*names, *plain)
        view = self._session.register(pa.table(columns, names=_places(everything)).filter(number_array(kept)))
        suppressed = int(np.count_nonzero(~kept)) if stars else 0
        query = f"SELECT {', '.join(_places(everything))} FROM {view}"
        return DuckDBPublication(self._session, query + stars_of(suppressed, len(everything)), everything)


def _places(columns: Sequence[object]) -> list[str]:
    """Internal names of published columns: p0, p1, ..., since names may differ in case only, which SQL does not see."""
    return [f"p{j}" for j in range(len(columns))]


def _numbered(cells: pa.Table) -> pa.Table:
    return cells.append_column("cell", number_array(np.arange(len(cells), dtype=np.int64)))


def _labelled(cells: pa.Table, columns: Sequence[str], labels: Sequence[pa.Array], kept: NDArray[np.bool_]) -> pa.Table:
    """Cells with what is published for them."""
    keys = [f"q{j}" for j in range(len(columns))]
    return pa.table(
        [*(cells[key] for key in keys), *labels, number_array(kept)], names=[*keys, *_places(labels), "kept"]
    )
