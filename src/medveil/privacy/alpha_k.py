"""(alpha,k)-anonymity: k people a class, of whom at most a share alpha have one same sensitive value."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.privacy.classes import Classes
from medveil.privacy.keeping import most_below
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import Rule, ceilings
from medveil.privacy.sensitive import SensitiveModel, coded, confidences
from medveil.privacy.worst import highest, lowest, or_empty


class AlphaKAnonymity(SensitiveModel):
    """Every class has at least k people, and no sensitive value is that of more than a share alpha of them.

        |E| >= k   and   n(E, s) / |E| <= alpha   for every class E and every watched value s

    |E|: the people in the class (records where no subject is declared); n(E, s): those who have s. Watched is the
    one `value`, or every value where none is given.

    Wong, Li, Fu and Wang 2006, (alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    leaves_open: ClassVar[str] = (
        "Up to the share alpha, a sensitive value may be believed of the people of a group, and somebody may be "
        "more likely than others to have it."
    )

    alpha: Annotated[float, Field(gt=0, le=1, description="The largest share of a class with one same value.")]
    k: Annotated[int, Field(ge=1, description="The least number of people who share every published combination.")]
    value: Annotated[
        str | None,
        Field(description="The one sensitive value that is limited (default: all)."),
    ] = None

    @property
    def monotone(self) -> bool:
        """The share in a merged class lies between the shares in its parts."""
        return True

    @property
    def absorbing(self) -> bool:
        """Only where alpha allows any share: otherwise more people with one value exceed it."""
        return self.alpha == 1.0

    @property
    def least_class_size(self) -> int:
        return self.k

    def summary(self) -> str:
        return f"({self.alpha:g},{self.k})-anonymity{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        within = self._shares(classes, reference) <= self.alpha
        return or_empty(within & (classes.sizes >= self.k), classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """The ceiling of a watched value's share is alpha."""
        return most_below(self.histogram(classes), classes, self._ceilings(reference), self.k)

    def rule(self, reference: Reference) -> Rule:
        return ceilings(self.about(), self._ceilings(reference), least=self.k)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        return {"alpha": highest(self._shares(classes, reference), classes), "k": lowest(classes.sizes, classes)}

    @property
    def required(self) -> dict[str, Any]:
        named: dict[str, Any] = {"alpha": self.alpha, "k": self.k}
        return named if self.value is None else {**named, "value": self.value}

    def _shares(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        return confidences(self.histogram(classes), classes, self._watched(reference))

    def _ceilings(self, reference: Reference) -> NDArray[np.float64]:
        return np.where(self._watched(reference), self.alpha, 1.0)

    def _watched(self, reference: Reference) -> NDArray[np.bool_]:
        """Which codes of the attribute's domain are watched."""
        if self.value is None:
            return np.ones(len(reference.domains[self.about()].values), dtype=np.bool_)
        return coded((self.value,), self.about(), reference)
