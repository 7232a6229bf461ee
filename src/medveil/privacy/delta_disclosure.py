"""delta-disclosure: no sensitive value is much more or much less likely in a class than in the whole input."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.privacy.classes import Classes
from medveil.privacy.keeping import ROUNDING, most_below
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import BEYOND, FLOOR_BEYOND, FLOOR_WITHIN, WITHIN, Rule, ceilings
from medveil.privacy.sensitive import SensitiveModel, highest_by_class
from medveil.privacy.worst import SLACK, highest, or_empty


class DeltaDisclosure(SensitiveModel):
    """The share of every sensitive value in a class is within a factor e^delta of its share in the whole input.

        |log(p(E, s) / p(T, s))| < delta   for every class E and every value s

    p(E, s): the share of s in class E; p(T, s): its share in the input T; log: the natural logarithm (some tools take
    that of base 2). A value which a class lacks has log 0 and breaks the model, as its absence tells something too;
    `absent: ignore`, as some tools have it, looks only at the values that a class holds.

    Brickell and Shmatikov 2008, The cost of privacy: destruction of data-mining utility in anonymized data publishing.
    """

    name: ClassVar[str] = "delta-disclosure"
    leaves_open: ClassVar[str] = (
        "delta-disclosure bounds by which factor belief in a sensitive value may grow or fall in a group. A value "
        "that is common in the data can still be believed of anybody."
    )
    basis: ClassVar[str] = "files and source"
    compares_with_input: ClassVar[bool] = True

    delta: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="The bound that the logarithm must stay below.")
    ]
    absent: Annotated[
        Literal["refuse", "ignore"],
        Field(description="Whether a class that lacks a value of the input breaks the model."),
    ] = "refuse"

    @property
    def monotone(self) -> bool:
        """A merged share lies between its parts; but one that was absent, and ignored, may come in too small."""
        return self.absent == "refuse"

    @property
    def absorbing(self) -> bool:
        return False

    def summary(self) -> str:
        return f"{self.delta:g}-disclosure{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        return or_empty(self._logarithms(classes, reference) < self.delta, classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """The ceiling of a value's share is e^delta p(T, s), whether or not absent values are ignored.

        Where they are refused, each value of the input also has more than e^-delta p(T, s) of the m records that
        stay, of at most n(E, s): so m < n(E, s) e^delta / p(T, s), and nothing stays where one is absent.
        """
        histogram = self.histogram(classes)
        whole = reference.shares(self.about())
        factor = math.exp(self.delta)
        most = most_below(histogram, classes, whole * factor)
        if self.absent == "refuse":
            of_input = whole[histogram.values]
            enough = np.divide(histogram.counts * factor, of_input, out=np.zeros(len(of_input)), where=of_input > 0)
            scarcest = -highest_by_class(histogram, -enough)
            most = np.minimum(most, (scarcest * (1.0 + ROUNDING)).astype(np.int64))
            most[np.diff(histogram.offsets) < np.count_nonzero(whole)] = 0
        return most

    def rule(self, reference: Reference) -> Rule:
        whole = reference.shares(self.about())
        factor = math.exp(self.delta)
        # Just at a bound only the logarithm itself tells, whose rounding grows with it.
        near = SLACK * max(1.0, self.delta)
        rule = ceilings(self.about(), whole * factor)
        rule.limits[WITHIN] *= 1.0 - near
        rule.limits[BEYOND] *= 1.0 + near
        rule.limits[FLOOR_WITHIN] = whole / factor * (1.0 + near)
        rule.limits[FLOOR_BEYOND] = whole / factor * (1.0 - near)
        refused = self.absent == "refuse"
        return replace(rule, complete=refused, distinct=np.count_nonzero(whole) if refused else 0)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        return {"delta": highest(self._logarithms(classes, reference), classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"delta": self.delta, "absent": self.absent}

    def _logarithms(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        """The largest |log(p(E, s) / p(T, s))| of each class."""
        histogram = self.histogram(classes)
        whole = reference.shares(self.about())
        of_input = whole[histogram.values]
        ratio = np.divide(histogram.shares, of_input, out=np.full(len(of_input), math.inf), where=of_input > 0)
        largest = highest_by_class(histogram, np.abs(np.log(ratio)))
        if self.absent == "refuse":
            largest[np.diff(histogram.offsets) < np.count_nonzero(whole)] = math.inf
        return largest
