"""Where records come from: each source gives DuckDB one relation with text columns c0, c1, ... (missing as NULL).

Columns have plain internal names, so a column may be called `count` or `select`, or differ from another in case only.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from medveil.errors import InputError, did_you_mean
from medveil.table.csv_dialect import Dialect, find_dialect

MISSING = frozenset({""})
SPACES = " \t\r\n\u00a0"


@dataclass(frozen=True)
class Source(ABC):
    """A table to read. `missing` are the texts that stand for a missing value; the empty text always does."""

    names: tuple[str, ...]
    missing: frozenset[str]

    @abstractmethod
    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:
        """A relation, ready to stand after FROM, with one column c0, c1, ... for each name."""

    def position(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(f"The data have no column '{name}'.", did_you_mean(name, self.names)) from None

    def text(self, name: str) -> str:
        """The SQL expression for a column as text without the spaces around it, NULL where it is missing."""
        column = f"trim(CAST(c{self.position(name)} AS VARCHAR), {quote_text(SPACES)})"
        markers = ", ".join(quote_text(text) for text in sorted(self.missing))
        return f"CASE WHEN {column} IN ({markers}) THEN NULL ELSE {column} END"


@dataclass(frozen=True)
class CsvSource(Source):
    """A CSV file, possibly compressed."""

    path: Path
    dialect: Dialect

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:  # noqa: ARG002
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        dialect = self.dialect
        return (
            f"read_csv({quote_path(dialect.readable)}, auto_detect=false, columns={{{columns}}}, "
            f"delim={quote_text(dialect.delimiter)}, quote={quote_text(dialect.quote)}, "
            f"escape={quote_text(dialect.quote)}, header={str(dialect.header).lower()}, "
            f"compression='{dialect.compression}', max_line_size=16777216, buffer_size=33554432)"
        )


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file."""

    path: Path

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:
        return _typed(connection, f"read_parquet({quote_path(self.path)})")


@dataclass(frozen=True)
class ArrowSource(Source):
    """A table in memory."""

    table: pa.Table

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:
        view = f"arrow_{id(self.table)}"
        connection.register(view, self.table.rename_columns([f"c{i}" for i in range(len(self.names))]))
        return _typed(connection, view)


def _typed(connection: duckdb.DuckDBPyConnection, relation: str) -> str:
    """Typed columns, by their position, as c0, c1, ...; what is not a number in a column of floats is missing.

    By position, because names that differ in case only are one name to DuckDB.
    """
    kinds = [kind for _, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
    values = [
        f"CASE WHEN isnan(r{i}) THEN NULL ELSE r{i} END" if kind in {"FLOAT", "DOUBLE"} else f"r{i}"
        for i, kind in enumerate(kinds)
    ]
    columns = ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))
    return f"(SELECT {columns} FROM {relation} AS typed({', '.join(f'r{i}' for i in range(len(kinds)))}))"


def quote_text(text: str) -> str:
    """A text as an SQL literal.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """A file as an SQL literal that names this file alone, whatever stands for others in its name.

    >>> quote_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"([*?\[])", r"[\1]", str(path)))


def quote_name(name: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def open_source(
    data: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    columns: Collection[str] | None = None,
    missing: Collection[str] = (),
) -> Source:
    """The source behind a path (CSV or Parquet) or a data frame of any library that narwhals knows.

    `columns` names the columns of a CSV file that has no header line.
    """
    markers = MISSING | frozenset(missing)
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, Path)):
        return _open_path(Path(data), delimiter, encoding, columns, markers)
    table = to_arrow(data)
    return ArrowSource(check_names(table.column_names, "The frame"), markers, table)


def _open_path(
    path: Path, delimiter: str | None, encoding: str | None, columns: Collection[str] | None, missing: frozenset[str]
) -> Source:
    if not path.exists():
        raise InputError(f"There is no file '{path}'.", "Paths in a policy are relative to the policy file.")
    if not path.is_file():
        raise InputError(f"'{path}' is not a file.", "Name a CSV or Parquet file.")
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError:
        raise InputError(f"'{path.name}' cannot be opened.", "May you read it?") from None
    if not magic:
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")
    if magic == b"PAR1":
        return _open_parquet(path, missing)
    dialect, names = find_dialect(path, delimiter, encoding, columns)
    return CsvSource(check_names(names, f"'{path.name}'"), missing, path, dialect)


def _open_parquet(path: Path, missing: frozenset[str]) -> Source:
    try:
        schema = pyarrow.parquet.read_schema(path)
    except pa.ArrowException:
        raise InputError(f"'{path.name}' cannot be read as Parquet.", "Was it written to its end?") from None
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise InputError(f"Column '{nested[0]}' holds lists or records.", "Flatten it, or leave it out of the file.")
    return ParquetSource(check_names(schema.names, f"'{path.name}'"), missing, path)


def to_arrow(frame: Any) -> pa.Table:
    """A frame as an Arrow table; a row index is not part of the data."""
    import narwhals as nw  # noqa: PLC0415

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, Mapping):
        return pa.table({str(name): _array(values) for name, values in frame.items()})
    if not hasattr(frame, "collect"):  # narwhals refuses equal names in words of its own
        check_names([str(name) for name in getattr(frame, "columns", ())], "The frame")
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a table that medveil can read.",
            "Give a path, or a pandas, polars or Arrow table.",
        ) from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    return pa.table([_column(eager[name]) for name in eager.columns], names=[str(name) for name in eager.columns])


def _column(series: Any) -> pa.Array:
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of mixed Python objects; its error would show a value
        return _texts(series.to_list())


def _array(values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _texts(values)


def _texts(values: Iterable[Any]) -> pa.Array:
    """Mixed Python objects as text."""
    return pa.array(
        [None if item is None or str(item) in {"nan", "NaT", "<NA>"} else str(item) for item in values],
        pa.string(),
    )


def check_names(names: Collection[str], where: str) -> tuple[str, ...]:
    """Column names must be there and differ."""
    unnamed = [str(i + 1) for i, name in enumerate(names) if not name.strip()]
    if unnamed:
        raise InputError(f"{where} has columns without a name (number {', '.join(unnamed)}).", "Name every column.")
    seen: set[str] = set()
    twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    if twice:
        raise InputError(
            f"{where} has several columns called {', '.join(repr(name) for name in sorted(twice))}.",
            "Give every column a name of its own.",
        )
    return tuple(names)
