"""The door to files: DuckDB reads them in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from medveil.auditor import order
from medveil.auditor.published import ReleaseFiles, blank_lines, open_release
from medveil.auditor.reading import relation, text
from medveil.errors import too_little_memory
from medveil.release.manifest import Manifest
from medveil.sources.source import Source
from medveil.table.labels import ANYTHING
from medveil.working_folder import WorkingFolder, memory_limit


@dataclass(frozen=True)
class FileDoor:
    """See `Door`. Nothing is counted here: relations read the files row by row, and `n` is 1."""

    connection: duckdb.DuckDBPyConnection
    release: ReleaseFiles
    has_rows = True

    @property
    def names(self) -> tuple[str, ...]:
        return self.release.names

    def _column(self, name: str) -> str:
        return f"f{self.names.index(name)}"

    def published(self, names: Sequence[str], starred: Sequence[str] = ()) -> str:
        columns = "".join(f"{self._column(name)} AS f{i}, " for i, name in enumerate(names))
        if starred:
            all_starred = " AND ".join(f"{self._column(name)} = '{ANYTHING}'" for name in starred)
            columns += f"coalesce({all_starred}, false) AS starred, "
        return f"(SELECT {columns}1 AS n FROM {self.release.relation})"

    def originals(self, source: Source, names: Sequence[str]) -> str:
        columns = "".join(f"{text(source, name)} AS f{i}, " for i, name in enumerate(names))
        return f"(SELECT {columns}1 AS n FROM {relation(self.connection, source)})"

    def lines(self, source: Source, names: Sequence[str]) -> str:
        columns = ", ".join(f"{text(source, name)} AS f{i}" for i, name in enumerate(names))
        return f"(SELECT {columns or '0 AS nothing'} FROM {relation(self.connection, source)})"

    def descents(self, made: Sequence[str]) -> int:
        return order.descents(self.connection, self.release, made)

    def blank_lines(self) -> int:
        return blank_lines(self.release)


@contextmanager
def file_door(
    folder: Path,
    manifest: Manifest,
    interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]],
    memory: str | None = None,
) -> Iterator[FileDoor]:
    """A door to the files of a release directory."""
    with WorkingFolder() as working, proving(working.path, interrupting, memory) as connection:
        yield FileDoor(connection, open_release(manifest.published(folder)))


@contextmanager
def proving(
    spill: Path, interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]], memory: str | None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to prove in: what outgrows `memory` (most of the machine's where None) goes to a folder, and where
    that does not help either, a sentence says so.
    """
    config: dict[str, Any] = {
        "temp_directory": str(spill),
        "autoinstall_known_extensions": "false",
        "allocator_flush_threshold": "1MB",
        "allocator_bulk_deallocation_flush_threshold": "1MB",
    }
    if memory is not None:
        config["memory_limit"] = memory_limit(memory)
    with duckdb.connect(config=config) as connection, interrupting(connection.interrupt):
        (allowed,) = connection.execute("SELECT current_setting('memory_limit')").fetchall()[0]
        try:
            yield connection
        except duckdb.OutOfMemoryException:
            raise too_little_memory("The proof", str(allowed)) from None
