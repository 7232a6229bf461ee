"""The engine that is used where none is handed in: DuckDB, in this process, loaded where rows are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import pyarrow as pa

from medveil.engine.interface import Engine, Interrupting, Limits
from medveil.engine.tables import TableFactory
from medveil.sources.source import Source


def open_engine(
    source: Source,
    columns: Sequence[str],
    limits: Limits | None = None,
    *,
    may_be_empty: bool = False,
    interrupting: Interrupting = nullcontext,
) -> Engine:
    """DuckDB, in this process."""
    from medveil.engine.duckdb import DuckDBEngine  # noqa: PLC0415

    return DuckDBEngine(source, columns, limits, may_be_empty=may_be_empty, interrupting=interrupting)


def own_tables() -> TableFactory:
    """What changes and links tables there."""
    from medveil.engine.duckdb import DuckDB  # noqa: PLC0415

    return DuckDB()


def as_texts(source: Source, columns: Sequence[str], interrupting: Interrupting = nullcontext) -> pa.Table:
    """Columns of a source that fits into memory, in order, as an engine reads them; nothing is written to disk."""
    from medveil.engine.duckdb_texts import texts_in_memory  # noqa: PLC0415

    return texts_in_memory(source, columns, interrupting)
