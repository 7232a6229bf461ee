"""Where rows are scanned and counted."""

from medveil.engine.interface import Engine, EngineFactory, Limits, Publication, RowEngine, Snapshot, with_rows
from medveil.engine.opening import open_engine

__all__ = [
    "Engine",
    "EngineFactory",
    "Limits",
    "Publication",
    "RowEngine",
    "Snapshot",
    "open_engine",
    "with_rows",
]
