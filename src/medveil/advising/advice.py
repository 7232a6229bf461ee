"""What a steward is told of a release that is of little use: why, what costs most, and what one change would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from medveil.guessing.starter_policy import flow, quote

HIDDEN = 0.01
"""A column that keeps less of its detail is hidden: as good as everything in it is `*`."""


@dataclass(frozen=True)
class KeptDetail:
    """What a release gives, or would give.

        detail = mean over columns of (1 - LM),  LM = mean over records of (leaves covered - 1) / (leaves - 1)

    The columns are the quasi-identifiers of the policy as it is: one that a change leaves out keeps nothing, and so
    does a suppressed record, so that outcomes of different policies can be compared.

    columns: the detail that each of them keeps. groups: classes of records that look alike, `smallest` the least
    number of people in one. suppressed: records that are left out. complete: False where the search had to end early,
    so that there may be better.
    """

    columns: Mapping[str, float]
    groups: int
    smallest: int
    suppressed: int
    complete: bool = True

    @property
    def detail(self) -> float:
        return sum(self.columns.values()) / len(self.columns)

    @property
    def hidden(self) -> tuple[str, ...]:
        return tuple(name for name, kept in self.columns.items() if kept < HIDDEN)

    def to_dict(self) -> dict[str, Any]:
        return {
            "detail": self.detail,
            "columns": dict(self.columns),
            "hidden": list(self.hidden),
            "groups": self.groups,
            "smallest": self.smallest,
            "suppressed": self.suppressed,
            "complete": self.complete,
        }


class ChangeKind(StrEnum):
    """What is changed of a policy."""

    SUPPRESSION = "suppression"
    METHOD = "method"
    COLUMN = "column"
    MAX_LEVEL = "max-level"
    WEIGHT = "weight"


@dataclass(frozen=True)
class Suggestion:
    """One change, and what it would give.

    change: a merge patch (RFC 7396) of the policy, see `medveil.app.advice.changed`. column: the quasi-identifier that
        it is about, if it is about one.
    """

    kind: ChangeKind
    words: str
    change: Mapping[str, Any]
    outcome: KeptDetail
    column: str | None = None

    @property
    def in_policy(self) -> str:
        """What to write in the policy."""
        if self.kind is ChangeKind.COLUMN:
            places = {"": self.change} if "attributes" in self.change else self.change["tables"]
            told = [
                f"take {', '.join(map(quote, given['attributes']))} out of '{table or 'attributes'}'"
                for table, given in places.items()
            ]
            return " and ".join(told)
        ((key, change),) = self.change.items()
        kept = {name: value for name, value in change.items() if value is not None}
        return f"{key}: {flow(kept)}"

    def gives(self, now: KeptDetail) -> str:
        """What would come of it, in words."""
        at_least = "" if self.outcome.complete else "at least "
        told = [f"{at_least}{percent(self.outcome.detail)} of the detail is kept instead of {percent(now.detail)}"]
        out = {self.column} if self.kind is ChangeKind.COLUMN else set()
        shown = [name for name in now.hidden if name not in {*self.outcome.hidden, *out}]
        lost = [name for name in self.outcome.hidden if name not in {*now.hidden, *out}]
        if shown:
            told.append(f"no longer hidden: {_listed(shown)}")
        if lost:
            told.append(f"hidden instead: {_listed(lost)}")
        if self.outcome.suppressed != now.suppressed:
            told.append(f"records suppressed: {self.outcome.suppressed:,} instead of {now.suppressed:,}")
        return "; ".join(told)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "words": self.words,
            "change": dict(self.change),
            "outcome": self.outcome.to_dict(),
            "column": self.column,
        }


@dataclass(frozen=True)
class Cost:
    """What a column or a privacy model costs: the detail that the other columns would keep without it, and keep now."""

    what: str
    now: float
    without: float

    @property
    def gained(self) -> float:
        return self.without - self.now

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "now": self.now, "without": self.without}


@dataclass(frozen=True)
class Advice:
    """Why a release is of little use, what it gives, what costs most, and what would help, the best first.

    untried: how many changes there was no time to try.
    """

    reasons: Sequence[str]
    now: KeptDetail
    costs: Sequence[Cost] = ()
    suggestions: Sequence[Suggestion] = ()
    untried: int = 0
    records: int = 0

    @property
    def remarks(self) -> list[str]:
        """What else is to be said, in sentences."""
        told = [
            (
                f"{percent(self.now.detail)} of the detail of the quasi-identifiers is kept: 100 % is all values, "
                "0 % is nothing but '*'."
            )
        ]
        if self.costs:
            most = self.costs[0]
            told.append(
                f"What costs most is {most.what}: without it the other columns would keep {percent(most.without)} "
                f"instead of {percent(most.now)}."
            )
        if not self.suggestions:
            told.append("None of the single changes that were tried would help.")
        if self.untried:
            told.append(f"There was no time to try {self.untried} other changes.")
        return told

    def to_dict(self) -> dict[str, Any]:
        return {
            "reasons": list(self.reasons),
            "now": self.now.to_dict(),
            "costs": [cost.to_dict() for cost in self.costs],
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
            "untried": self.untried,
            "records": self.records,
        }

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> Advice:
        """The advice that `to_dict` wrote."""
        return Advice(
            told["reasons"],
            _outcome(told["now"]),
            [Cost(**cost) for cost in told["costs"]],
            [
                Suggestion(ChangeKind(s["kind"]), s["words"], s["change"], _outcome(s["outcome"]), s.get("column"))
                for s in told["suggestions"]
            ],
            told["untried"],
            told["records"],
        )


def percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.01 or share == 0 else "under 1 %"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _outcome(told: Mapping[str, Any]) -> KeptDetail:
    derived = {"detail", "hidden"}
    return KeptDetail(**{key: value for key, value in told.items() if key not in derived})
