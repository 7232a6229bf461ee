"""What an auditor is told and what it answers. It trusts no method.

This package shares no code with privacy, cells, lattice or methods: each check counts again, in SQL, from the files.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from medveil.auditor.evidence import Evidence

ROUNDING = 1e-9
"""What rounding may add to a figure; no check forgives more."""
LARGEST = 1e15
"""No number of a claim is larger; up to here floats tell integers apart."""


@dataclass(frozen=True)
class Finding:
    """What a check found: the figure reached and whether the claim holds; `holds` is None where it cannot be checked
    here, and `note` says what is missing.
    """

    achieved: Mapping[str, Any] | None
    holds: bool | None
    note: str = ""
    by_proof: bool = False
    """Whether nothing can be counted and nothing was found against a claim that rests on a proof."""
    checked: bool = True
    """Whether medveil has a check for such a claim."""
    from_source: bool = False
    """Whether the source was looked at."""
    in_records: Mapping[str, Any] | None = None
    """What records reach where people cannot be counted."""


class CannotTell(Exception):  # noqa: N818 - it is an answer, not an error
    """A claim cannot be checked here; the text says what is missing."""


class NotOurs(CannotTell):
    """A claim rests on something that is not medveil's, and that no code of the auditor knows."""


class Refuted(Exception):  # noqa: N818 - it is an answer, not an error
    """A claim fails whatever its figures are; the text says why."""


class Check(ABC):
    """How one kind of claim is proved again."""

    name: ClassVar[str]
    terms: ClassVar[frozenset[str]]
    """What such a claim may require: one that requires anything else is not checked in full, and fails."""
    bounded_by_records: ClassVar[bool] = False
    """Whether a claim about people fails where it fails of records, who are at least as many."""
    about_records: ClassVar[bool] = True
    """Whether the claim is about the published records, so that a release without any satisfies nothing."""

    files: ClassVar[frozenset[str]] = frozenset()
    """The files beside the release that it looks at."""

    @abstractmethod
    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        """Count again and compare with what the claim requires; may raise CannotTell or Refuted."""


class Terms:
    """What a claim requires and the parameters it names, read without trusting the manifest to be well made."""

    def __init__(self, claim: Mapping[str, Any]) -> None:
        required, parameters = claim["required"], claim["parameters"]
        for key in required.keys() & parameters.keys():
            if required[key] != parameters[key]:
                raise Refuted(f"the claim's parameters contradict what it requires: '{key}'")
        self._given = {**parameters, **required}

    def number(self, key: str) -> float:
        value = self._given.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise Refuted(f"the claim gives no number '{key}'")
        return value

    def positive(self, key: str) -> float:
        value = self.number(key)
        if value < 1:
            raise Refuted(f"the claim's '{key}' is below 1")
        return value

    def word(self, key: str) -> str:
        value = self.optional_word(key)
        if value is None:
            raise Refuted(f"the claim gives no '{key}'")
        return value

    def optional_word(self, key: str) -> str | None:
        value = self._given.get(key)
        if value is not None and not isinstance(value, str):
            raise Refuted(f"the claim's '{key}' is not a text")
        return value

    def optional_words(self, key: str) -> tuple[str, ...] | None:
        value = self._given.get(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise Refuted(f"the claim's '{key}' is not a list of texts")
        return tuple(value)


def figure(value: float) -> float | None:
    """A figure as it is reported: None where it is infinite, which JSON cannot say; rounding is cut off.

    >>> figure(0.1 + 0.2), figure(5), figure(math.inf)
    (0.3, 5, None)
    """
    if isinstance(value, int):
        return value
    return round(float(value), 12) if math.isfinite(value) else None
