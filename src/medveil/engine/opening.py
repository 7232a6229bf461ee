"""The engine that is used where none is handed in."""

from __future__ import annotations

from collections.abc import Sequence

from medveil.engine.interface import Engine, Limits
from medveil.table.source import Source


def open_engine(
    source: Source, columns: Sequence[str], limits: Limits | None = None, *, may_be_empty: bool = False
) -> Engine:
    """DuckDB, in this process."""
    from medveil.engine.duckdb import DuckDBEngine  # noqa: PLC0415 - DuckDB is loaded where rows are

    return DuckDBEngine(source, columns, limits, may_be_empty=may_be_empty)
