"""The auditor's own door to a source: it shares no query with the engine that made the release."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa

from medveil.sources.source import SPACES, Source


def text(source: Source, name: str) -> str:
    """The SQL expression for a column as text without the spaces around it, NULL where it is missing."""
    column = f"trim(CAST(c{source.position(name)} AS VARCHAR), {quote_text(SPACES)})"
    markers = ", ".join(quote_text(marker) for marker in sorted(source.missing))
    return f"CASE WHEN {column} IN ({markers}) THEN NULL ELSE {column} END"


def relation(connection: duckdb.DuckDBPyConnection, source: Source) -> str:
    """A relation, ready to stand after FROM, with one column c0, c1, ... for each name of the source."""
    location = source.location
    if location is not None and location.format == "csv":
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(source.names)))
        told = location.options
        return (
            f"read_csv({quote_path(location.path)}, auto_detect=false, columns={{{columns}}}, "
            f"delim={quote_text(told['delimiter'])}, quote={quote_text(told['quote'])}, "
            f"escape={quote_text(told['quote'])}, header={str(told['header']).lower()}, "
            f"compression={quote_text(told['compression'])}, max_line_size=16777216, buffer_size=33554432)"
        )
    if location is not None and location.format == "parquet":
        rows = f"read_parquet({quote_path(location.path)})"
        if "columns" in location.options:
            columns = ", ".join('"' + name.replace('"', '""') + '"' for name in location.options["columns"])
            rows = f"(SELECT {columns} FROM {rows})"
        return _numbers_only(connection, rows)
    table = source.batches().read_all().rename_columns([f"r{i}" for i in range(len(source.names))])
    return _numbers_only(connection, _view(connection, table))


def _view(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> str:
    name = f"source_{id(table)}"
    connection.register(name, table)
    return name


def _numbers_only(connection: duckdb.DuckDBPyConnection, rows: str) -> str:
    """Columns by their position; what is not a number in a column of floats is missing. The least and
    greatest number that a Parquet file tells, in which NaN has no place, must not decide that there is none.
    """
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    kinds = [kind for _, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()]
    aliases = [f"r{i}" for i in range(len(kinds))]
    columns = [
        f"nullif({alias}, 'NaN'::{kind}) AS c{i}" if kind in {"FLOAT", "DOUBLE"} else f"{alias} AS c{i}"
        for i, (alias, kind) in enumerate(zip(aliases, kinds, strict=True))
    ]
    return f"(SELECT {', '.join(columns)} FROM {rows} AS raw({', '.join(aliases)}))"


def quote_text(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """A file as an SQL literal that names this file alone, whatever stands for others in its name.

    >>> quote_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"([*?\[])", r"[\1]", str(path)))
