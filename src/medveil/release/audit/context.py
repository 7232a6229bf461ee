"""What an auditor sees: the written files, and the source where it is given. It trusts no method.

This package shares no code with privacy, cells, lattice or methods: each check counts again, in SQL, from the files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import duckdb

from medveil.release.manifest import INTERNAL, LINKS, Manifest
from medveil.table.source import Source, quote_name


@dataclass(frozen=True)
class Finding:
    """What a check found: the figure reached and whether the claim holds; `holds` is None where it cannot be checked
    here, and `note` says what is missing.
    """

    achieved: Mapping[str, Any] | None
    holds: bool | None
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """The written release as SQL.

    `release` is a view of the published rows as text, columns under their own names, without the rows of `*` that
    stand for suppressed records. `linked` (see `needs_links`) has a row for each kept source record: the published
    quasi-identifiers under their own names, and the source's own text of every column c under `source c`.
    """

    connection: duckdb.DuckDBPyConnection
    folder: Path
    manifest: Manifest
    source: Source | None

    def names(self, *roles: str) -> tuple[str, ...]:
        return tuple(a["name"] for a in self.manifest.attributes if a["role"] in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.names("quasi")

    def shield(self, claim: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns on which a claim is made."""
        return tuple(claim["on"]) if claim["on"] is not None else self.quasi

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def one(self, query: str) -> tuple[Any, ...]:
        return self.rows(query)[0]

    @cached_property
    def has_links(self) -> bool:
        return self.source is not None and (self.folder / INTERNAL / LINKS).is_file()


class Check(ABC):
    """How one kind of claim is proved again; found by the model's name."""

    name: ClassVar[str]

    @abstractmethod
    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        """Count again and compare with what the claim requires."""


def columns(names: Sequence[str], prefix: str = "") -> str:
    """A list of quoted columns; a constant where there are none, so that everything is one class."""
    return ", ".join(quote_name(prefix + name) for name in names) or "1"
