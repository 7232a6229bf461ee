"""Rows on a cluster: Spark counts, joins, sorts and writes; what travels are cells, labels and numbers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.classes import Told
from medveil.engine.interface import COUNT, Interrupting, Limits, Snapshot
from medveil.engine.links import write_links
from medveil.engine.opening import as_texts
from medveil.engine.spark_classes import SparkCodedTable, person_of, told_of
from medveil.engine.spark_publication import SparkPublication
from medveil.engine.spark_reading import read_records
from medveil.engine.spark_recoding import column_maps, in_pieces, labelled, places
from medveil.engine.spark_session import ClusterSession
from medveil.guessing.column_profile import SAMPLE, ColumnProfile
from medveil.guessing.missing_words import MISSING_WORDS
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.arrow import number_array, numpy_of
from medveil.table.labels import ANYTHING

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from pyspark.sql import DataFrame

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class SparkEngine:
    """One table on a cluster, counted as often as needed: see `Engine`."""

    has_rows = False
    has_classes = True

    def __init__(
        self,
        session: ClusterSession,
        source: Source,
        columns: Sequence[str],
        limits: Limits,
        *,
        may_be_empty: bool = False,
        interrupting: Interrupting = nullcontext,
    ) -> None:
        self.columns = tuple(dict.fromkeys(columns))
        self.missing = source.missing
        self._session = session
        try:
            for name in self.columns:
                source.position(name)
            self._read = read_records(
                session, source, self.columns, limits, may_be_empty=may_be_empty, interrupting=interrupting
            )
        except BaseException:
            session.close()
            raise
        self._data, self.rows = self._read.data, self._read.rows

    @property
    def remarks(self) -> tuple[str, ...]:
        return self._read.remarks

    @property
    def snapshot(self) -> Snapshot:
        return self._read.snapshot

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._read.close()
        self._session.close()

    def interrupt(self) -> None:
        self._session.interrupt()

    def listen(self, told: Callable[[float], None]) -> None:
        self._session.listen(told)

    def _column(self, name: str) -> str:
        """The internal name of a column."""
        return f"d{self.columns.index(name)}"

    # Counts

    def profile(self, name: str) -> ColumnProfile:
        of = self._session.functions
        value, n = of.col("value"), of.col("n")
        counted = self._data.groupBy(of.col(self._column(name)).alias("value")).agg(of.count("*").alias("n"))
        number = of.when(value.rlike(_NUMBER), value.cast("double"))
        distinct, missing, longest, letters, lowest, highest = self._session.row(
            counted.agg(
                of.count(value),
                of.coalesce(of.sum(of.when(value.isNull(), n)), of.lit(0)),
                of.max(of.length(value)),
                of.sum(n * of.length(value)),
                of.min(number),
                of.max(number),
            )
        )
        rank = (value.isin(*MISSING_WORDS).desc(), of.xxhash64("value"), "value")
        known = counted.where(value.isNotNull()).select("value").orderBy(*rank).limit(SAMPLE)
        values = sorted(self._session.table(known)["value"].to_pylist())
        average = (letters or 0) / (self.rows - missing) if self.rows > missing else 0.0
        return ColumnProfile(name, self.rows, distinct, missing, values, longest or 0, average, lowest, highest)

    def distinct(self, name: str) -> int:
        of = self._session.functions
        return int(self._session.row(self._data.agg(of.countDistinct(self._column(name))))[0])

    def values(self, name: str, subject: str | None = None) -> pa.Table:
        of = self._session.functions
        people = of.count("*") if subject is None else of.countDistinct(self._column(subject))
        counted = self._data.groupBy(of.col(self._column(name)).alias("value")).agg(
            of.count("*").alias(COUNT), people.alias("people")
        )
        return self._session.table(counted).sort_by([(COUNT, "descending"), ("value", "ascending")])

    def unique_share(self, columns: Sequence[str]) -> float:
        if not columns:
            return 0.0
        of = self._session.functions
        sizes = self._data.groupBy(*map(self._column, columns)).agg(of.count("*").alias("n"))
        return float(self._session.row(sizes.where(of.col("n") == 1).agg(of.count("*")))[0]) / self.rows

    def cells(self, columns: Sequence[str]) -> pa.Table:
        if not columns:
            return pa.table({COUNT: number_array(np.array([self.rows], dtype=np.int64))})
        of = self._session.functions
        selected = [of.col(self._column(name)).alias(f"q{j}") for j, name in enumerate(columns)]
        counted = self._data.groupBy(*selected).agg(of.count("*").alias(COUNT))
        return self._session.table(counted, coded=[f"q{j}" for j in range(len(columns))])

    def marginals(self, sets: Sequence[Sequence[str]]) -> list[pa.Table]:
        """One scan for all: grouping_id() has a bit for each column that a set leaves out."""
        asked = [[self._column(name) for name in columns] for columns in sets]
        used = sorted({column for columns in asked for column in columns})
        if not used:
            return [self.cells(()) for _ in sets]
        of = self._session.functions
        apart = sorted({tuple(sorted(set(columns))) for columns in asked if columns})
        together = self._session.table(
            self._data.groupingSets(apart, *used).agg(of.grouping_id().alias("left_out"), of.count("*").alias(COUNT)),
            coded=used,
        )
        left_out = numpy_of(together["left_out"])
        tables = []
        for columns in asked:
            bits = sum(1 << (len(used) - 1 - place) for place, name in enumerate(used) if name not in columns)
            mine = together.filter(number_array(left_out == bits)).select([*columns, COUNT])
            named = mine.rename_columns([*(f"q{j}" for j in range(len(columns))), COUNT])
            tables.append(named if columns else self.cells(()))
        return tables

    def occurrences(self, name: str, subject: str | None) -> pa.Table:
        of = self._session.functions
        person = of.lit(None).cast("string") if subject is None else of.col(self._column(subject))
        keys = [of.col(self._column(name)).alias("value"), person.alias("person")]
        grouped = self._data.groupBy(*keys).agg(of.count("*").alias(COUNT))
        counted = self._session.table(grouped, coded=["value", "person"])
        return pa.table({"code": _codes(counted["value"]), "person": _codes(counted["person"]), COUNT: counted[COUNT]})

    def subjects(
        self, cells: pa.Table, columns: Sequence[str], subject: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        of = self._session.functions
        numbered = cells.append_column("cell", number_array(np.arange(len(cells), dtype=np.int64)))
        joined = self._joined(self._session.send(numbered), columns)
        people = joined.select("cell", of.col(self._column(subject)).alias("person")).distinct()
        pairs = self._session.table(people, coded=["person"])
        cell, codes = numpy_of(pairs["cell"]), numpy_of(_codes(pairs["person"]))
        order = np.lexsort((codes, cell))
        offsets = np.searchsorted(cell[order], np.arange(len(cells) + 1)).astype(np.int64)
        return offsets, codes[order], int(codes.max(initial=-1)) + 1

    def _joined(self, cells: DataFrame, columns: Sequence[str]) -> DataFrame:
        """Every record with what a table has of its cell."""
        if not columns:
            return self._data.crossJoin(cells)
        return self._data.join(cells, self._same(columns))

    def _same(self, columns: Sequence[str]) -> list[Any]:
        of = self._session.functions
        return [of.col(self._column(name)).eqNullSafe(of.col(f"q{j}")) for j, name in enumerate(columns)]

    def bound_records(self, subject: str, most: int) -> int:
        of = self._session.functions
        person = self._column(subject)
        # What is drawn is written down first: a part that is computed again would draw again.
        chance = of.rand(secrets.randbits(62)).alias("chance")
        drawn = self._session.keep(self._data.where(of.col(person).isNotNull()).select("*", chance))
        place = of.expr(f"row_number() OVER (PARTITION BY {person} ORDER BY chance)").alias("place")
        kept = drawn.select("*", place).where(of.col("place") <= most).drop("chance", "place")
        before = self.rows
        self._data = self._session.keep(kept)
        self.rows = int(self._session.row(self._data.agg(of.count("*")))[0])
        return before - self.rows

    # Classes that are counted there

    def tuples(self, columns: Sequence[str]) -> int:
        of = self._session.functions
        if not columns:
            return min(self.rows, 1)
        found = self._data.select(*map(self._column, columns)).distinct()
        return int(self._session.row(found.agg(of.count("*")))[0])

    def encode(
        self, quasi: Sequence[str], sensitive: Sequence[str], codes: Sequence[pa.Table], subject: str | None
    ) -> SparkCodedTable:
        names = (*quasi, *sensitive)
        return SparkCodedTable(self._session, self._data, names, len(quasi), codes, self._column, subject)

    def told(self, columns: Sequence[str], subject: str | None) -> Told:
        of = self._session.functions
        keys = [self._column(name) for name in columns]
        who = [] if subject is None else [person_of(self._session, self._column(subject)).alias("person")]
        counted = self._data.select(*keys, *who, of.lit(1).cast("bigint").alias("n"))
        return told_of(self._session, counted, keys, has_people=subject is not None)

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
    ) -> SparkPublication:
        made = made or {}
        shown = [*made.values(), *labels]
        names = (*made, *columns, *plain)
        counts = numpy_of(cells[COUNT])
        rows = int(counts[kept].sum())
        if plain:
            frame = self._recoded(cells, columns, labels, kept, plain, made)
        else:
            frame = self._repeated(pa.table(shown, names=places(shown)).filter(number_array(kept)), counts[kept])
        of = self._session.functions
        if beside is not None:
            further = beside.select(list(names)).rename_columns(places(names))
            frame = frame.unionAll(self._session.send(_as_written(further)))
            rows += len(beside)
        if stars:
            suppressed = int(counts[~kept].sum())
            row = [of.lit(ANYTHING).alias(place) for place in places(names)]
            texts = [of.col(place).cast("string").alias(place) for place in places(names)]
            frame = frame.select(*texts).unionAll(self._session.spark.range(suppressed).select(*row))
            rows += suppressed
        return SparkPublication(self._session, frame, names, rows)

    def _recoded(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str],
        made: Mapping[str, pa.Array],
    ) -> DataFrame:
        """Every kept record with its labels, as p0, p1, ..., and its plain columns."""
        of = self._session.functions
        shown = [*made.values(), *labels]
        extra = [of.col(self._column(name)).alias(f"p{len(shown) + j}") for j, name in enumerate(plain)]
        maps = None if made else column_maps(cells, labels, kept)
        if maps is None:
            chosen = labelled(cells, columns, shown, kept).filter(number_array(kept))
            return self._joined(self._session.send(chosen), columns).select(*places(shown), *extra)
        frame = self._data
        left_out = cells.filter(number_array(~kept))
        if len(left_out):
            frame = frame.join(self._session.send(left_out), self._same(columns), "left_anti")
        published = []
        for j, (name, column) in enumerate(zip(columns, maps, strict=True)):
            own = of.col(self._column(name))
            if column.table is None:
                published.append(own.alias(f"p{j}"))
            else:
                frame = frame.join(self._session.send(column.table), own.eqNullSafe(of.col(f"k{j}")))
                published.append(of.col(f"p{j}"))
        return frame.select(*published, *extra)

    def _repeated(self, table: pa.Table, counts: NDArray[np.int64]) -> DataFrame:
        """Every line of a table as often as its count says."""
        of = self._session.functions
        sent = self._session.send(in_pieces(_as_written(table), counts))
        again = of.explode(of.sequence(of.lit(1).cast("bigint"), of.col(COUNT))).alias("nth")
        return sent.select(*table.column_names, again).drop("nth")

    def publish_table(self, table: pa.Table) -> SparkPublication:
        frame = self._session.send(_as_written(table.rename_columns(places(table.column_names))))
        return SparkPublication(self._session, frame, tuple(table.column_names), len(table))

    def expand(self, table: pa.Table, counts: NDArray[np.int64]) -> SparkPublication:
        frame = self._repeated(table.rename_columns(places(table.column_names)), counts)
        return SparkPublication(self._session, frame, tuple(table.column_names), int(counts.sum()))

    def write_links(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        path: Path,
    ) -> None:
        sent = self._session.send(labelled(cells, columns, labels, kept))
        joined = self._joined(sent, columns).select("line", "kept", *places(labels))
        links = self._session.table(joined, coded=places(labels)).sort_by("line")
        texts = links.select(places(labels)).rename_columns(list(columns))
        write_links(path, numpy_of(links["kept"]), texts, numpy_of(links["line"]))


def _codes(column: pa.ChunkedArray) -> pa.Array:
    """Codes of a dictionary that all chunks share, as numbers from 0 without a gap, the missing one among them."""
    nothing = number_array(np.array([-1], dtype=np.int32))[0]
    codes = column.combine_chunks().indices.cast(pa.int32()).fill_null(nothing)
    return number_array(np.unique(numpy_of(codes), return_inverse=True)[1].astype(np.int32))


def _as_written(table: pa.Table) -> pa.Table:
    """Numbers and dates that Spark would write in its own way, as texts."""
    own = [
        name for name, kind in zip(table.column_names, table.schema.types, strict=True) if not _is_written_alike(kind)
    ]
    if not own:
        return table
    texts = as_texts(open_source(table.select(own)), own)
    for name in own:
        table = table.set_column(table.column_names.index(name), name, texts[name])
    return table


def _is_written_alike(kind: Any) -> bool:
    alike = (
        pa.types.is_dictionary,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_integer,
        pa.types.is_boolean,
    )
    return any(is_one(kind) for is_one in alike)
