"""LKC-privacy: an attacker who knows L quasi-identifiers finds K people and no value with confidence above C."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.errors import PolicyError
from medveil.privacy.classes import Classes
from medveil.privacy.keeping import most_below
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import Rule, ceilings
from medveil.privacy.sensitive import SensitiveModel, coded, confidences
from medveil.privacy.worst import highest, lowest, or_empty

MOST_SHIELDS = 10_000
"""A search checks every shield at every node; beyond this it would not end."""


class LKCPrivacy(SensitiveModel):
    """Whatever L quasi-identifiers an attacker knows, K people share them, and no sensitive value is certain.

        |T[q]| >= K   and   n(T[q], s) / |T[q]| <= C
        for every combination q of values of at most L quasi-identifiers that occurs, and every watched value s

    T[q]: the people with q; n(T[q], s): those of them who have s. Watched are the `values`, or all where none are
    given. Weaker than k-anonymity on all quasi-identifiers at once, which asks too much where there are many.

    K on sets of L implies K on smaller ones. So does C where records are counted, as a share over a union lies between
    those over its parts; it does not where people are who may be in several parts, so every size up to L is a shield.

    Mohammed, Fung, Hung and Lee 2009, Anonymizing healthcare data: a case study on the blood transfusion service.
    """

    name: ClassVar[str] = "lkc-privacy"
    leaves_open: ClassVar[str] = (
        "LKC-privacy holds against an attacker who knows at most L quasi-identifiers of a person. Who knows more "
        "of them may find the person."
    )

    l: Annotated[  # noqa: E741 - the literature's name
        int, Field(ge=1, description="How many quasi-identifiers an attacker may know at most.")
    ]
    k: Annotated[int, Field(ge=1, description="The least number of people who share what the attacker knows.")]
    c: Annotated[float, Field(gt=0, le=1, description="The largest confidence in a sensitive value.")]
    values: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="The sensitive values whose confidence is limited (default: all)."),
    ] = None

    @property
    def monotone(self) -> bool:
        """The confidence in a merged class lies between those in its parts."""
        return True

    @property
    def absorbing(self) -> bool:
        """Only where any confidence is allowed."""
        return self.c == 1.0

    def shields(self, quasi: Sequence[str]) -> list[tuple[str, ...]]:
        """Every set of up to L quasi-identifiers; only those of L where nothing but K is asked."""
        known = tuple(self.on) if self.on is not None else tuple(quasi)
        most = min(self.l, len(known))
        sizes = range(most if self.absorbing else 1, most + 1)
        number = sum(math.comb(len(known), size) for size in sizes)
        if number > MOST_SHIELDS:
            raise PolicyError(
                f"LKC-privacy with l = {self.l} on {len(known)} quasi-identifiers is {number:,} sets to check.",
                f"Lower 'l', or name fewer quasi-identifiers under 'on:' (at most {MOST_SHIELDS:,} sets).",
            )
        return [shield for size in sizes for shield in itertools.combinations(known, size)]

    @property
    def least_class_size(self) -> int:
        return self.k

    def summary(self) -> str:
        return f"LKC-privacy with L={self.l}, K={self.k}, C={self.c:g}{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        within = self._confidences(classes, reference) <= self.c
        return or_empty(within & (classes.sizes >= self.k), classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """The ceiling of a watched value's share is C."""
        return most_below(self.histogram(classes), classes, self._ceilings(reference), self.k)

    def rule(self, reference: Reference) -> Rule:
        return ceilings(self.about(), self._ceilings(reference), least=self.k)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        confidence = highest(self._confidences(classes, reference), classes)
        return {"l": float(self.l), "k": lowest(classes.sizes, classes), "c": confidence}

    @property
    def required(self) -> dict[str, Any]:
        named: dict[str, Any] = {"l": self.l, "k": self.k, "c": self.c}
        return named if self.values is None else {**named, "values": list(self.values)}

    def _confidences(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        return confidences(self.histogram(classes), classes, self._watched(reference))

    def _ceilings(self, reference: Reference) -> NDArray[np.float64]:
        return np.where(self._watched(reference), self.c, 1.0)

    def _watched(self, reference: Reference) -> NDArray[np.bool_]:
        """Which codes of the attribute's domain are watched."""
        if self.values is None:
            return np.ones(len(reference.domains[self.about()].values), dtype=np.bool_)
        return coded(self.values, self.about(), reference)
