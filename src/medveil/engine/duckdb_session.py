"""A DuckDB in the process, as the engine talks to it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from medveil.engine.interface import Limits
from medveil.errors import CancelledError, MedveilError, too_little_memory
from medveil.working_folder import WorkingFolder, memory_limit


class Session:
    """A connection, and a folder of its own for what outgrows memory."""

    def __init__(self, limits: Limits) -> None:
        config: dict[str, Any] = {} if limits.memory is None else {"memory_limit": memory_limit(limits.memory)}
        self._spill = limits.spill
        if self._spill is not None:
            self._spill.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._working = WorkingFolder(self._spill)
        self.folder = self._working.path
        config |= {
            "temp_directory": str(self.folder),
            "autoinstall_known_extensions": "false",
            # What a query took goes back to the machine when it ends: searches and measures need it next.
            "allocator_flush_threshold": "1MB",
            "allocator_bulk_deallocation_flush_threshold": "1MB",
        }
        if limits.threads is not None:
            config["threads"] = limits.threads
        try:
            self.connection = duckdb.connect(config=config)
        except BaseException:
            # A run may be stopped here too, which leaves nothing behind.
            self._working.close()
            raise
        self.refused: MedveilError | None = None
        """What a source said while its records were read: DuckDB raises an error of its own in the place of it."""

    def close(self) -> None:
        self.connection.close()
        self._working.close()
        if self._spill is not None and self._spill.is_dir() and not any(self._spill.iterdir()):
            self._spill.rmdir()

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """What runs inside may be interrupted from another thread, and may need more memory than there is."""
        try:
            yield
        except duckdb.InterruptException:
            raise CancelledError("The run was stopped.", "Nothing was written.") from None
        except duckdb.OutOfMemoryException:
            raise too_little_memory("Counting", self._allowed()) from None

    def _allowed(self) -> str:
        (allowed,) = self.connection.execute("SELECT current_setting('memory_limit')").fetchall()[0]
        return str(allowed)

    def run(self, statement: str) -> None:
        with self.stoppable():
            self.connection.execute(statement).fetchall()

    def row(self, query: str) -> tuple[Any, ...]:
        """The one row of an answer."""
        with self.stoppable():
            (row,) = self.connection.execute(query).fetchall()
        return tuple(row)

    def table(self, query: str) -> pa.Table:
        with self.stoppable():
            return self.connection.sql(query).to_arrow_table()

    def register(self, table: pa.Table) -> str:
        """A view on an Arrow table under a name that nothing else has."""
        view = f"view_{uuid.uuid4().hex}"
        self.connection.register(view, table)
        return view

    @contextmanager
    def registered(self, table: pa.Table) -> Iterator[str]:
        """The same for as long as it is needed."""
        view = self.register(table)
        try:
            yield view
        finally:
            self.connection.unregister(view)


class MemorySession(Session):
    """A connection that writes nothing to disk, for what fits into memory."""

    def __init__(self) -> None:
        # Little is computed: starting threads would take longer.
        config: dict[str, Any] = {"temp_directory": "", "autoinstall_known_extensions": "false", "threads": 1}
        self.connection = duckdb.connect(config=config)
        self.refused = None

    def close(self) -> None:
        self.connection.close()
