"""How the records of a source come to a cluster: it reads Parquet files and its own tables by itself, and is sent what
it cannot.

Either way a snapshot of texts is made first, which everything is counted in: columns d0, d1, ..., and `line`, the
number of a record in the source. Engines write numbers and dates in different ways, so a value of such a type becomes
a text on this machine, in the one place where that is done, and goes back as a table of values with their texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from medveil.engine.duckdb import DuckDBEngine
from medveil.engine.interface import Interrupting, Limits, Snapshot
from medveil.engine.opening import as_texts
from medveil.engine.spark_session import ClusterSession
from medveil.errors import InputError
from medveil.sources.opening import open_source
from medveil.sources.parquet import ParquetSource
from medveil.sources.parts import PartsSource
from medveil.sources.source import SPACES, Source
from medveil.sources.spark import SparkSource
from medveil.table.arrow import number_array, text_array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROWS_OF_A_PART = 5_000_000
_GONE = "The data are no longer where they were."


@dataclass
class ReadRecords:
    """What was read: the snapshot on the cluster, how many records it has, and what somebody should know of that."""

    data: DataFrame
    rows: int
    names: tuple[str, ...]
    missing: frozenset[str]
    files: tuple[Path, ...]
    remarks: tuple[str, ...] = ()
    here: DuckDBEngine | None = None

    @cached_property
    def snapshot(self) -> Snapshot:
        if self.here is not None:
            return self.here.snapshot
        columns = tuple(f"d{j}" for j in range(len(self.names)))
        parts = [ParquetSource(self.names, self.missing, file, columns) for file in self.files]
        together = hashlib.sha256()
        for file in self.files:
            with file.open("rb") as stream:
                together.update(hashlib.file_digest(stream, "sha256").digest())
        if len(parts) == 1:
            return Snapshot(parts[0], together.hexdigest())
        return Snapshot(PartsSource(self.names, self.missing, self.files[0].parent, tuple(parts)), together.hexdigest())

    def close(self) -> None:
        if self.here is not None:
            self.here.close()


def read_records(
    session: ClusterSession,
    source: Source,
    names: tuple[str, ...],
    limits: Limits,
    *,
    may_be_empty: bool,
    interrupting: Interrupting,
) -> ReadRecords:
    """The columns of a source as texts, on the cluster."""
    try:
        files = _files(source)
    except OSError:
        raise InputError(_GONE, "Were files moved or written anew since the run began?") from None
    if names and isinstance(source, SparkSource) and source.remote == session.remote:
        with interrupting(session.interrupt):
            read = _read_table(session, source, names)
    elif names and files is not None:
        with interrupting(session.interrupt):
            read = _read_files(session, source, files, names)
    else:
        return _read_here(session, source, names, limits, may_be_empty=may_be_empty, interrupting=interrupting)
    if not read.rows and not may_be_empty:
        raise InputError("The data hold no records.", "Give a table with at least one record.")
    return read


def _read_here(
    session: ClusterSession,
    source: Source,
    names: tuple[str, ...],
    limits: Limits,
    *,
    may_be_empty: bool,
    interrupting: Interrupting,
) -> ReadRecords:
    here = Limits(limits.threads, limits.memory, session.folder)
    engine = DuckDBEngine(source, names, here, may_be_empty=may_be_empty, interrupting=interrupting)
    try:
        file = engine.snapshot.source.path
        assert file is not None
        of = session.functions
        data = session.read([file.resolve()]).select(of.col("_metadata.row_index").alias("line"), "*")
    except BaseException:
        engine.close()
        raise
    told = f"Spark does not read these data where they are: {_size(file)} of Parquet were made of them for the cluster."
    return ReadRecords(data, engine.rows, names, source.missing, (file,), (told,), engine)


def _size(file: Path) -> str:
    size = file.stat().st_size / 1e6
    return f"{size:,.0f} MB" if size >= 1 else "less than 1 MB"


# What the cluster reads by itself


def _files(source: Source) -> list[Path] | None:
    """The Parquet files that a source is, where Spark knows their types; None where it has to be read here."""
    if isinstance(source, ParquetSource):
        parts: Sequence[Source] = [source]
    elif isinstance(source, PartsSource):
        parts = source.parts
    else:
        return None
    if not all(isinstance(part, ParquetSource) for part in parts):
        return None
    kinds = [[_kind(kind) for kind in part.types.values()] for part in parts]
    if any(None in known or known != kinds[0] for known in kinds):
        return None
    return [part.path.resolve() for part in parts if part.path is not None]


def _kind(kind: pa.DataType) -> str | None:
    """What Spark calls a type; None where it has none that is read alike."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_decimal128(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP_NTZ" if kind.tz is None and kind.unit in {"ms", "us"} else None
    names = {
        pa.string(): "STRING",
        pa.large_string(): "STRING",
        pa.bool_(): "BOOLEAN",
        pa.int8(): "TINYINT",
        pa.int16(): "SMALLINT",
        pa.int32(): "INT",
        pa.int64(): "BIGINT",
        pa.float32(): "FLOAT",
        pa.float64(): "DOUBLE",
        pa.date32(): "DATE",
    }
    return names.get(kind)


_ALIKE = ("STRING", "VARCHAR", "CHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT")
"""Types whose texts Spark and this machine write alike."""


def _read_files(session: ClusterSession, source: Source, files: list[Path], names: tuple[str, ...]) -> ReadRecords:
    """Parquet files: a record's line is its place in its file, after all files before that."""
    of = session.functions
    kinds = {name: _kind(kind) or "" for name, kind in source.types.items()}
    called = dict(zip(source.names, _inside(source, files[0]), strict=True))
    schema = ", ".join(f"{_quoted(called[name])} {kinds[name]}" for name in names)
    typed = session.read(files, schema).select(
        of.col("_metadata.file_path").alias("file"),
        of.col("_metadata.row_index").alias("place"),
        *(of.col(_quoted(called[name])).alias(f"c{j}") for j, name in enumerate(names)),
    )
    rows, starts = _starts(session, typed, files)
    frame, texts = _as_texts(session, typed, [kinds[name] for name in names], source)
    lines = frame.join(of.broadcast(starts), "file").select((of.col("start") + of.col("place")).alias("line"), *texts)
    parts = max(1, -(-rows // _ROWS_OF_A_PART))
    path = session.write(lines.repartitionByRange(parts, "line").sortWithinPartitions("line"))
    written = tuple(sorted(path.glob("part-*.parquet")))
    return ReadRecords(session.read([path]), rows, names, source.missing, written)


def _read_table(session: ClusterSession, source: SparkSource, names: tuple[str, ...]) -> ReadRecords:
    """A table has no order: a record's line is its place in the snapshot."""
    of = session.functions
    kinds = [source.kinds[name].upper() for name in names]
    try:
        with session.working():
            found = source.on(session.spark)
    except InputError:
        raise InputError(_GONE, "Was the table dropped or renamed since the run began?") from None
    columns = [of.col(_quoted(name)) for name in names]
    typed = found.select(
        *(
            # A moment of a time zone is told in that of the session, which is UTC.
            (column.cast("timestamp_ntz") if kind == "TIMESTAMP" else column).alias(f"c{j}")
            for j, (column, kind) in enumerate(zip(columns, kinds, strict=True))
        )
    )
    frame, texts = _as_texts(session, typed, kinds, source)
    path = session.write(frame.select(*texts))
    written = tuple(sorted(path.glob("part-*.parquet")))
    placed = session.read([path]).select(
        of.col("_metadata.file_path").alias("file"), of.col("_metadata.row_index").alias("place"), "*"
    )
    rows, starts = _starts(session, placed, written)
    line = (of.col("start") + of.col("place")).alias("line")
    data = placed.join(of.broadcast(starts), "file").select(line, *(f"d{j}" for j in range(len(names))))
    return ReadRecords(data, rows, names, source.missing, written)


def _as_texts(
    session: ClusterSession, typed: DataFrame, kinds: Sequence[str], source: Source
) -> tuple[DataFrame, list[Column]]:
    """Columns c0, c1, ... with what is needed beside them, and the columns of texts that are made of that."""
    of = session.functions
    markers = pa.table({"markers": pa.array([sorted(source.missing)], pa.list_(pa.string()))})
    frame, texts = typed.crossJoin(of.broadcast(session.send(markers))), []
    for j, kind in enumerate(kinds):
        if kind.startswith(_ALIKE):
            text = of.trim(of.col(f"c{j}").cast("string"), of.lit(SPACES))
            texts.append(of.when(~of.array_contains("markers", text), text).alias(f"d{j}"))
        else:
            known = session.send(_texts(session, typed, f"c{j}", source).rename_columns([f"k{j}", f"d{j}"]))
            frame = frame.join(known, of.col(f"c{j}").cast("string") == of.col(f"k{j}"), "left")
            texts.append(of.col(f"d{j}"))
    return frame, texts


def _inside(source: Source, file: Path) -> Sequence[str]:
    """What the columns of a source are called in its files."""
    first = source.parts[0] if isinstance(source, PartsSource) else source
    assert isinstance(first, ParquetSource)
    return first.read or pyarrow.parquet.read_schema(file).names


def _starts(session: ClusterSession, typed: DataFrame, files: Sequence[Path]) -> tuple[int, DataFrame]:
    """How many records there are, and the line that each file starts at, by the name that Spark has for the file."""
    counts = [pyarrow.parquet.read_metadata(file).num_rows for file in files]
    starts = dict(zip(map(str, files), np.cumsum([0, *counts[:-1]]).tolist(), strict=True))
    named = session.table(typed.select("file").distinct())["file"].to_pylist()
    places = ["/" + name.removeprefix("file:").lstrip("/") for name in named]
    found = [starts[place if place in starts else unquote(place)] for place in places]
    table = pa.table({"file": text_array(named), "start": number_array(np.array(found, dtype=np.int64))})
    return sum(counts), session.send(table)


def _texts(session: ClusterSession, typed: DataFrame, column: str, source: Source) -> pa.Table:
    """The values of a column as Spark writes them, which tells them apart, and as texts."""
    of = session.functions
    known = typed.where(of.col(column).isNotNull()).select(of.col(column).cast("string").alias("key"), column)
    found = session.table(known.groupBy("key").agg(of.first(column).alias("value")))
    texts = as_texts(open_source(found.select(["value"]), missing=source.missing), ["value"])
    return pa.table({"key": found["key"], "text": texts["value"]})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
