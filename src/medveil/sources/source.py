"""What a source is: columns with names, and records that an engine reads where they are or takes as Arrow batches.

A source says where its records are as data (`Location`); how an engine asks for them is the engine's own matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from medveil.errors import InputError, did_you_mean
from medveil.workspace import Workspace

MISSING = frozenset({""})
SPACES = " \t\r\n\u00a0"
"""What is taken off both ends of every text."""


@dataclass(frozen=True)
class Location:
    """Where an engine may read a source by itself: `format` is `csv` or `parquet`, or what a plug-in agrees with its
    engine on; `options` say how, such as the delimiter.
    """

    format: str
    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source(ABC):
    """A table to read. `missing` are the texts that stand for a missing value; the empty text always does.

    The order of the records is part of a source: a record's number, from 0, is its line.
    """

    names: tuple[str, ...]
    missing: frozenset[str]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What somebody should know of how it is read, in sentences without a value."""
        return ()

    @property
    def identity(self) -> str | None:
        """What tells this data set from others, also when its records change; None where nothing does."""
        return None

    @property
    def path(self) -> Path | None:
        """The file that was named, where it is one."""
        return None

    @property
    def location(self) -> Location | None:
        """Where an engine may read the records by itself; None where it must take the batches."""
        return None

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """The types of its columns by name, where it has types: a file of texts has none."""
        return {}

    @property
    def doubt(self) -> InputError | None:
        """What speaks against its names being names; None where nothing does. Whoever opens an engine asks, but not
        where the policy alone decides: a refusal would tell what the data hold.
        """
        return None

    def instead_of(self, name: str) -> str:
        """What to do where this is not among its names."""
        hint = did_you_mean(name, self.names)
        return hint if hint.startswith("Did") else "Does its first line hold the column names?"

    @abstractmethod
    def batches(self) -> pa.RecordBatchReader:
        """All records in order, a column for each name, typed or as raw texts."""

    def position(self, name: str) -> int:
        """The place of a column. The names of others are not told: a file without a header has a record there."""
        if name in self.names:
            return self.names.index(name)
        if self.doubt is not None:
            raise self.doubt
        raise InputError(f"The data have no column '{name}'.", self.instead_of(name))


class SourceSpec(BaseModel, ABC):
    """A kind of source and how it is read, as the policy gives it under `data:`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """The word under `type:`."""
    formats: ClassVar[frozenset[str]] = frozenset()
    """The formats of files, by their names in `formats`, that a plain path is read by this kind for."""
    elsewhere: ClassVar[bool] = False
    """Whether its records are where only an engine of its own reads them; forms do not offer it."""

    missing: Annotated[tuple[str, ...], Field(description="Texts that mean a missing value, such as '?'.")] = ()

    @property
    def file(self) -> str | None:
        """The path of the file that the data are in, as it is written; None where they are in none."""
        return None

    @abstractmethod
    def open(self, workspace: Workspace) -> Source:
        """The source; `workspace` says where paths start."""

    def open_declared(self, workspace: Workspace) -> Source:
        """The same where nothing may be found out from the data: how they are read is what the policy says."""
        return self.open(workspace)


_NAME_THEM = (
    "Name every column: in the data, or under 'columns:' of 'data:' (with 'header: true' they replace the first line)."
)


def check_names(names: Collection[str], where: str) -> tuple[str, ...]:
    """Column names must be there and differ. They are told by their places: a file without a header has a record
    where the names should be.
    """
    unnamed = [str(i + 1) for i, name in enumerate(names) if not name.strip()]
    if unnamed:
        raise InputError(f"{where} has columns without a name (column {', '.join(unnamed)}).", _NAME_THEM)
    places: dict[str, list[str]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(str(i + 1))
    twice = [" and ".join(numbers) for numbers in places.values() if len(numbers) > 1]
    if twice:
        raise InputError(
            f"{where} has several columns with the same name (columns {'; '.join(twice)}).",
            _NAME_THEM,
        )
    return tuple(names)
