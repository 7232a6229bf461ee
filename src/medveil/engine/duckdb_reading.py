"""How DuckDB reads a source: from its location where it knows the format, else from its batches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from medveil.engine.duckdb_session import Session
from medveil.errors import MedveilError
from medveil.sources.source import SPACES, Location, Source


def text(source: Source, name: str) -> str:
    """The expression for a column as text without the spaces around it, NULL where it is missing."""
    column = f"trim(CAST(c{source.position(name)} AS VARCHAR), {quote_text(SPACES)})"
    # Each marker in turn, so that the column stands there once: DuckDB plans a thousand of them in seconds.
    for marker in sorted(source.missing):
        column = f"nullif({column}, {quote_text(marker)})"
    return column


def relation(session: Session, source: Source) -> str:
    """A relation, ready to stand after FROM, with one column c0, c1, ... for each name of the source: a column may be
    called `count` or `select`, or differ from another in case only.
    """
    location = source.location
    if location is not None and location.format == "csv":
        return _csv(location, len(source.names))
    if location is not None and location.format == "parquet":
        return _parquet(session, location)
    return _batches(session, source)


def _csv(location: Location, width: int) -> str:
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    options = location.options
    return (
        f"read_csv({quote_path(location.path)}, auto_detect=false, columns={{{columns}}}, "
        f"delim={quote_text(options['delimiter'])}, quote={quote_text(options['quote'])}, "
        f"escape={quote_text(options['quote'])}, header={str(options['header']).lower()}, "
        f"compression='{options['compression']}', max_line_size=16777216, buffer_size=33554432)"
    )


def _parquet(session: Session, location: Location) -> str:
    file = f"read_parquet({quote_path(location.path)})"
    if "columns" in location.options:
        chosen = ", ".join(quote_name(name) for name in location.options["columns"])
        file = f"(SELECT {chosen} FROM {file})"
    kinds = session.table(f"DESCRIBE SELECT * FROM {file}")["column_type"].to_pylist()
    floats = [kind in {"FLOAT", "DOUBLE"} for kind in kinds]
    if any(floats):
        # A Parquet file tells its least and greatest number, in which NaN has no place: DuckDB would conclude from
        # them that there is none, and not look.
        session.run("SET disabled_optimizers = 'statistics_propagation'")
    return _typed(file, floats)


def _batches(session: Session, source: Source) -> str:
    reader = source.batches()
    schema = pa.schema([field.with_name(f"r{i}") for i, field in enumerate(reader.schema)])

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for batch in reader:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
        except MedveilError as error:
            session.refused = error
            raise

    renamed = batches()
    view = session.register(pa.RecordBatchReader.from_batches(schema, renamed))
    return _typed(view, [pa.types.is_floating(field.type) for field in schema])


def _typed(relation: str, floats: list[bool]) -> str:
    """Typed columns by their position; what is not a number in a column of floats is missing."""
    columns = ", ".join(
        f"CASE WHEN isnan(r{i}) THEN NULL ELSE r{i} END AS c{i}" if is_float else f"r{i} AS c{i}"
        for i, is_float in enumerate(floats)
    )
    return f"(SELECT {columns} FROM {relation} AS typed({', '.join(f'r{i}' for i in range(len(floats)))}))"


def quote_text(text: str) -> str:
    """A text as an SQL literal.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """The name of a column as SQL.

    >>> quote_name('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_path(path: Path) -> str:
    """A file as an SQL literal that names this file alone, whatever stands for others in its name.

    >>> quote_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"([*?\[])", r"[\1]", str(path)))
