"""Where records come from: each source gives DuckDB one relation with text columns c0, c1, ... (missing as NULL).

Columns have plain internal names, so a column may be called `count` or `select`, or differ from another in case only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from medveil.errors import InputError, did_you_mean
from medveil.table.csv_dialect import Dialect, explain, find_dialect

MISSING = frozenset({""})


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
        """The SQL expression for a column as text, NULL where it is missing."""
        column = f"CAST(c{self.position(name)} AS VARCHAR)"
        markers = ", ".join(quote_text(text) for text in sorted(self.missing))
        return f"CASE WHEN trim({column}) IN ({markers}) THEN NULL ELSE {column} END"


@dataclass(frozen=True)
class CsvSource(Source):
    """A CSV file, possibly compressed."""

    path: Path
    dialect: Dialect

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:  # noqa: ARG002
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        dialect = self.dialect
        return (
            f"read_csv({quote_text(str(dialect.readable))}, auto_detect=false, columns={{{columns}}}, "
            f"delim={quote_text(dialect.delimiter)}, quote={quote_text(dialect.quote)}, "
            f"escape={quote_text(dialect.quote)}, header={str(dialect.header).lower()}, "
            f"compression='{dialect.compression}', max_line_size=16777216)"
        )


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file."""

    path: Path

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:
        return _typed(connection, f"read_parquet({quote_text(str(self.path))})", self.names)


@dataclass(frozen=True)
class ArrowSource(Source):
    """A table in memory."""

    table: pa.Table

    def relation(self, connection: duckdb.DuckDBPyConnection) -> str:
        view, plain = f"arrow_{id(self.table)}", [f"c{i}" for i in range(len(self.names))]
        connection.register(view, self.table.rename_columns(plain))
        return _typed(connection, view, plain)


def _typed(connection: duckdb.DuckDBPyConnection, relation: str, names: Collection[str]) -> str:
    """Typed columns as c0, c1, ...; what is not a number in a column of floats is missing."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    floats = {name for name, kind, *_ in described if kind in {"FLOAT", "DOUBLE"}}

    def value(name: str) -> str:
        column = quote_name(name)
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if name in floats else column

    return f"(SELECT {', '.join(f'{value(name)} AS c{i}' for i, name in enumerate(names))} FROM {relation})"


def quote_text(text: str) -> str:
    """A text as an SQL literal.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


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
    if path.stat().st_size == 0:
        raise InputError(f"'{path.name}' is empty.", "Give a table with a header line and records.")
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic == b"PAR1":
        return _open_parquet(path, missing)
    dialect, names = find_dialect(path, delimiter, encoding, columns)
    return CsvSource(check_names(names, f"'{path.name}'"), missing, path, dialect)


def _open_parquet(path: Path, missing: frozenset[str]) -> Source:
    try:
        rows = duckdb.execute("SELECT name FROM parquet_schema(?) WHERE num_children IS NULL", [str(path)]).fetchall()
    except duckdb.Error as error:
        raise InputError(f"'{path.name}' cannot be read as Parquet.", explain(error)) from None
    return ParquetSource(check_names([row[0] for row in rows], f"'{path.name}'"), missing, path)


def to_arrow(frame: Any) -> pa.Table:
    """A frame as an Arrow table; a row index is not part of the data."""
    import narwhals as nw  # noqa: PLC0415

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, Mapping):
        return pa.table(dict(frame))
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a table that medveil can read.",
            "Give a path, or a pandas, polars or Arrow table.",
        ) from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    names = check_names([str(name) for name in eager.columns], "The frame")
    return pa.table([_column(eager[column]) for column in eager.columns], names=list(names))


def _column(series: Any) -> pa.Array:
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of mixed Python objects; its error would show a value
        return pa.array(
            [None if item is None or str(item) in {"nan", "NaT", "<NA>"} else str(item) for item in series.to_list()],
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
