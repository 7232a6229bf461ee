"""beta-likeness: what an attacker gains about any sensitive value is bounded relative to what was known before."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.privacy.classes import Classes
from medveil.privacy.keeping import most_below
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import Rule, ceilings
from medveil.privacy.sensitive import SensitiveModel, highest_by_class
from medveil.privacy.worst import SLACK, at_most, highest, or_empty


class BetaLikeness(SensitiveModel):
    """The share of no sensitive value in a class exceeds that in the whole input by more than beta, relatively.

        basic:     (q_s - p_s) / p_s <= beta                  for every class and value s with q_s > p_s
        enhanced:  (q_s - p_s) / p_s <= min(beta, -log p_s)

    p_s: the share of value s in the input; q_s: its share in the class; log: the natural logarithm. Enhanced bounds
    frequent values more tightly, so that no value becomes certain. Values less frequent than in the input are free.

    Cao and Karras 2012, Publishing microdata with a robust privacy guarantee.
    """

    name: ClassVar[str] = "beta-likeness"
    leaves_open: ClassVar[str] = (
        "beta-likeness bounds how much more likely a sensitive value becomes in a group. It may become much less "
        "likely, so that somebody can be known not to have it, unless values are asked for both ways."
    )
    monotone: ClassVar[bool] = True  # each share has a bound of its own, and a merged share lies between its parts
    absorbing: ClassVar[bool] = False
    basis: ClassVar[str] = "files and source"
    compares_with_input: ClassVar[bool] = True

    beta: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="The largest relative gain of a value's share.")
    ]
    variant: Annotated[
        Literal["basic", "enhanced"],
        Field(description="Whether the bound of a frequent value is lowered to minus the logarithm of its share."),
    ] = "enhanced"

    def summary(self) -> str:
        return f"{self.variant} {self.beta:g}-likeness{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        return or_empty(at_most(self._gains(classes, reference), self.beta), classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """The ceiling of a value's share is p_s (1 + min(beta, -log p_s)), without the logarithm for basic."""
        whole = reference.shares(self.about())
        return most_below(self.histogram(classes), classes, whole * (1.0 + self._most_gained(whole)))

    def rule(self, reference: Reference) -> Rule:
        whole = reference.shares(self.about())
        gains = self._most_gained(whole)
        return ceilings(self.about(), whole * (1.0 + gains), whole * SLACK * np.maximum(1.0, gains))

    def _most_gained(self, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest relative gain of each value."""
        gains = np.full(len(whole), self.beta)
        if self.variant == "enhanced":
            gains = np.minimum(gains, -np.log(whole, out=np.zeros(len(whole)), where=whole > 0))
        return gains

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        """The least beta with which every class holds; infinite where a class exceeds -log p, so that none does."""
        return {"beta": highest(self._gains(classes, reference), classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"variant": self.variant, "beta": self.beta}

    def _gains(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        """The largest relative gain in each class; infinite where it exceeds what enhanced allows whatever beta is."""
        histogram = self.histogram(classes)
        of_input = reference.shares(self.about())[histogram.values]
        known = of_input > 0
        ratio = np.divide(histogram.shares, of_input, out=np.full(len(of_input), math.inf), where=known)
        gain = np.maximum(ratio - 1.0, 0.0)
        if self.variant == "enhanced":
            bound = -np.log(of_input, out=np.zeros(len(of_input)), where=known)
            gain = np.where(at_most(gain, bound), gain, math.inf)
        return highest_by_class(histogram, gain)
