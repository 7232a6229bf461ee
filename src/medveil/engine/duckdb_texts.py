"""A small table as texts, in memory: what an engine would make of its values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import duckdb
import pyarrow as pa

from medveil.engine.duckdb_reading import relation, text
from medveil.engine.duckdb_session import MemorySession
from medveil.engine.interface import Interrupting
from medveil.errors import InputError
from medveil.sources.source import Source


def texts_in_memory(source: Source, columns: Sequence[str], interrupting: Interrupting) -> pa.Table:
    """The columns in order of the records, under their names."""
    with closing(MemorySession()) as session, interrupting(session.connection.interrupt):
        chosen = ", ".join(f"{text(source, name)} AS d{j}" for j, name in enumerate(columns))
        try:
            found = session.table(f"SELECT {chosen} FROM {relation(session, source)}")
        except duckdb.Error:
            raise InputError("The data cannot be read.", "Does the frame have plain columns only?") from None
    return found.rename_columns(list(columns))
