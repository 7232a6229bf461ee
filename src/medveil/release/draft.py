"""What a method hands over: a table, what it promises, and what goes with it. Verification makes it a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.engine import Publication
from medveil.release.claim import Basis, Counting
from medveil.release.status import Status
from medveil.table.changes import ChangedColumn
from medveil.table.schema import Kind, Role


@dataclass(frozen=True)
class Promise:
    """A claim to be: a model by name, on which columns, what it requires, and on what its proof will rest.

    `parameters` are all that a checker needs to know of the model.
    """

    model: str
    summary: str
    required: Mapping[str, Any]
    basis: Basis
    parameters: Mapping[str, Any] = field(default_factory=dict)
    attribute: str | None = None
    on: tuple[str, ...] | None = None
    counting: Counting | None = None


@dataclass(frozen=True)
class PublishedAttribute:
    """A published column as recipients may know it.

    made: by the method, so that the source does not have it.
    form: what is published instead of its values, such as `ids` or `means`; None where it is values or groups.
    written: how the source writes its dates or numbers, where the policy declares it.
    change: how it was made of a column of the source, where it was.
    """

    name: str
    role: Role
    kind: Kind
    hierarchy: Mapping[str, Any] | None = None
    level: int | None = None
    made: bool = False
    form: str | None = None
    written: str | None = None
    change: ChangedColumn | None = None


@dataclass(frozen=True)
class Draft:
    """What a method made, before anything is proved.

    published: the table that recipients get.
    promises: what it claims; each is proved again from what was written.
    attributes: the published columns.
    method: name, parameters and what the method reports of itself (only what recipients may know).
    rows: numbers of records that may be told (`input`, `suppressed`, `counterfeit`); empty under differential privacy.
    companions: tables published beside the release, such as a catalog, by file name.
    internal: what only the steward may see, by file name without ending (written as JSON), or Arrow tables; pictures
        as text under a name that ends in `.svg`.
    status: what the release is fit for.
    links: writes what became of each record of the source, for checks that need it (people counted by subject).
    """

    published: Publication
    promises: Sequence[Promise]
    attributes: Sequence[PublishedAttribute]
    method: Mapping[str, Any]
    rows: Mapping[str, int]
    companions: Mapping[str, pa.Table] = field(default_factory=dict)
    internal: Mapping[str, Any] = field(default_factory=dict)
    links: Callable[[Path], None] | None = None
    status: Status = Status.FOR_PUBLICATION
