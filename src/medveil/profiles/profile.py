"""What a profile is: rules for columns, claims that the auditor proves again, and a checklist."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.schema import Kind, Role


@dataclass(frozen=True)
class ProfiledColumn:
    """A column that the policy publishes or counts, as a profile sees it.

    guess, counted: what it seems to be, and what was counted of it in the table that is published from.
    hierarchy, min_level: as the policy gives them; `steered` where it gives a least level at all.
    derived: how it was made of dates (`age_at`, `days_since`, `days_after`); None where it was not. counted_from: the
        column of dates that it was counted from.
    insist: the steward insists that it may be published.
    """

    name: str
    role: Role
    guess: Guess
    counted: ColumnProfile
    kind: Kind | None = None
    hierarchy: HierarchySpec | None = None
    min_level: int = 0
    steered: bool = False
    derived: str | None = None
    counted_from: str | None = None
    insist: bool = False


@dataclass(frozen=True)
class Ruling:
    """What a profile says of one column: what it fills in, why it refuses, or what a person must attest."""

    hierarchy: HierarchySpec | None = None
    min_level: int | None = None
    refused: str = ""
    attest: str = ""


@dataclass(frozen=True)
class ProfileTerms:
    """What else a profile looks at.

    kept_key: pseudonyms are made with the steward's own key. models: which models hold.
    people: the least number of people in a group that some model asks for, by all quasi-identifiers.
    guarded: the sensitive attributes that a model is about.
    """

    kept_key: bool = False
    models: Sequence[str] = ()
    people: int = 1
    guarded: Collection[str] = ()


class VouchedBy(StrEnum):
    """Who vouches for a point of a checklist."""

    PROGRAM = "checked by medveil"
    PERSON = "to be attested by a person"


@dataclass(frozen=True)
class ChecklistPoint:
    """A point of a checklist: the rule, in words, and who vouches for it."""

    rule: str
    sentence: str
    by: VouchedBy


@dataclass(frozen=True)
class ProfileOutcome:
    """What a profile made of a policy: what it fills in by column, and what is attested, by column."""

    filled: Mapping[str, Ruling] = field(default_factory=dict)
    attested: Mapping[str, str] = field(default_factory=dict)

    def hierarchy(self, column: ProfiledColumn) -> HierarchySpec | None:
        """The hierarchy of a column after everything is filled in."""
        filled = self.filled.get(column.name)
        return filled.hierarchy if filled is not None and filled.hierarchy is not None else column.hierarchy


class Profile(BaseModel, ABC):
    """A set of rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    title: ClassVar[str]
    """What it is, in a few words."""

    @property
    def secure_only(self) -> bool:
        """Whether a release under it is for a secure environment alone."""
        return False

    @abstractmethod
    def rule(self, column: ProfiledColumn) -> Ruling:
        """What holds for one column."""

    def refused(self, columns: Sequence[ProfiledColumn], terms: ProfileTerms) -> list[str]:  # noqa: ARG002
        """Why the policy as a whole is refused, in sentences that say what to do."""
        return []

    @abstractmethod
    def checklist(self, parameters: Mapping[str, Any]) -> list[ChecklistPoint]:
        """Every point of the rules, and who vouches for it; `parameters` are those of the profile's claim."""

    def parameters(self, columns: Sequence[ProfiledColumn], outcome: ProfileOutcome) -> dict[str, Any]:  # noqa: ARG002
        """What the profile's claim tells beside the columns that a person attests."""
        return {}
