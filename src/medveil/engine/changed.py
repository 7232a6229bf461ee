"""A table that was changed before it was counted."""

from __future__ import annotations

from dataclasses import dataclass

from medveil.sources.source import Source
from medveil.table.changes import ChangedTable
from medveil.table.pseudonyms import ReleaseKey


@dataclass(frozen=True)
class Changed:
    """What it was made of: the texts of its source, how, and by which key."""

    original: Source
    table: ChangedTable
    key: ReleaseKey
