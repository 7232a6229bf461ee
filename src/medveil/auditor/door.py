"""The auditor's own door to the rows of a release and of its source; it shares no query with the engine that made it.

The auditor counts in a DuckDB of its own, in this process. A door gives it relations there: texts that may stand after
FROM. One that reaches rows elsewhere, such as on a cluster, groups and counts them where they are, with code of its
own, and puts what it counted into that DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import duckdb

from medveil.release.manifest import Manifest
from medveil.sources.source import Source


class Unreadable(Exception):  # noqa: N818 - it is a finding, not an error
    """The release cannot be read."""


class Door(Protocol):
    """What the auditor asks of rows. Columns of a relation are texts, f0, f1, ... in the order of the `names` that are
    asked for; `n` says how many rows a line of it stands for. The same may stand in several lines.
    """

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Where the auditor counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns, in their order in the files."""

    @property
    def has_rows(self) -> bool:
        """Whether `lines` can be asked for."""

    def published(self, names: Sequence[str], starred: Sequence[str] = ()) -> str:
        """The published rows of these columns; where `starred` names columns, a further column of that name says
        whether all of these are `*`. Raises `Unreadable`, here or when it is read, where the files are damaged.
        """

    def originals(self, source: Source, names: Sequence[str]) -> str:
        """The records of a source, texts without the spaces around them, NULL where missing. Raises duckdb.Error."""

    def lines(self, source: Source, names: Sequence[str]) -> str:
        """The same, every record for itself and in the order of the source, without `n`."""

    def descents(self, made: Sequence[str]) -> int:
        """How many published rows come after one that they should stand before, from one part to the next too.

        Rows are ordered column by column in the order of the file: texts by their bytes, missing values last. Columns
        that a method `made`, such as numbers of classes, may be ordered as numbers instead.
        """

    def blank_lines(self) -> int:
        """How many lines readers of CSV files skip."""


class OpensDoor(Protocol):
    """What opens a door to the rows of a release."""

    def __call__(
        self,
        folder: Path,
        manifest: Manifest,
        interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]],
    ) -> AbstractContextManager[Door]: ...
