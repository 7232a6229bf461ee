"""MS(k, theta)-bounding: k people a class, and no sensitive value surer than its own bound."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.errors import PolicyError
from medveil.privacy.classes import Classes
from medveil.privacy.keeping import most_below
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import Rule, ceilings
from medveil.privacy.sensitive import SensitiveModel, highest_by_class
from medveil.privacy.worst import SLACK, at_most, highest, lowest, or_empty

Bound = Annotated[float, Field(gt=0, le=1)]


class MSBounding(SensitiveModel):
    """Every class has at least k people, and of them at most a share theta(s) has the sensitive value s.

        |E| >= k   and   n(E, s) / |E| <= theta(s)   for every class E and every value s

    |E|: the people in the class; n(E, s): those who have s, in any of their records. theta(s) is the bound given for s,
    or `theta` where none is: rare events get lower bounds than common ones. With a subject column one person may have
    many records and many values, which is what the model was made for.

    Lin, Yang and Wang 2016, Privacy preserving data anonymization of spontaneous ADE reporting system dataset.
    """

    name: ClassVar[str] = "ms-bounding"
    leaves_open: ClassVar[str] = (
        "Up to its bound, each sensitive value may be believed of the people of a group, and somebody may be more "
        "likely than others to have it."
    )

    k: Annotated[int, Field(ge=1, description="The least number of people who share every published combination.")]
    theta: Annotated[Bound, Field(description="The largest share of a class with one same value.")] = 1.0
    values: Annotated[
        dict[str, Bound], Field(description="Bounds of single values, such as {HIV: 0.1}, instead of theta.")
    ] = {}  # noqa: RUF012 - pydantic copies it

    @property
    def monotone(self) -> bool:
        """The share in a merged class lies between the shares in its parts."""
        return True

    @property
    def absorbing(self) -> bool:
        """Only where every share is allowed."""
        return self.theta == 1.0 and all(bound == 1.0 for bound in self.values.values())

    @property
    def least_class_size(self) -> int:
        return self.k

    def summary(self) -> str:
        return f"MS({self.k},{self.theta:g}{'*' if self.values else ''})-bounding{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        within = at_most(self._excess(classes, reference), 1.0)
        return or_empty(within & (classes.sizes >= self.k), classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """The ceiling of a value's share is its own bound."""
        return most_below(self.histogram(classes), classes, self._bounds(reference), self.k)

    def rule(self, reference: Reference) -> Rule:
        bounds = self._bounds(reference)
        return ceilings(self.about(), bounds, SLACK * bounds, self.k)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        return {"k": lowest(classes.sizes, classes), "of_bound": highest(self._excess(classes, reference), classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"k": self.k, "of_bound": 1.0}

    def _excess(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        """The largest share of each class's people with one value, over the bound of that value."""
        histogram = self.histogram(classes)
        shares = histogram.counts / classes.sizes[histogram.classes]
        return highest_by_class(histogram, shares / self._bounds(reference)[histogram.values])

    def _bounds(self, reference: Reference) -> NDArray[np.float64]:
        """The bound of each value."""
        known = reference.domains[self.about()].values
        if not set(self.values) <= set(known):
            raise PolicyError(
                f"A value that the privacy model names does not occur in column '{self.about()}'.",
                "Write it exactly as in the data.",
            )
        return np.array([self.values.get(value, self.theta) if value is not None else self.theta for value in known])
