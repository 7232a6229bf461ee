"""The engine that is used where none is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from medveil.engine.interface import Engine, Interrupting, Limits
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
    from medveil.engine.duckdb import DuckDBEngine  # noqa: PLC0415 - DuckDB is loaded where rows are

    return DuckDBEngine(source, columns, limits, may_be_empty=may_be_empty, interrupting=interrupting)
