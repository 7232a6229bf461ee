"""l-diversity: every class holds at least l well-represented sensitive values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.model import Reference, Verdict, in_figures
from medveil.privacy.rules import Rule
from medveil.privacy.sensitive import SensitiveModel, highest_by_class, sum_by_class
from medveil.privacy.worst import SLACK, highest, lowest, or_empty


class LDiversity(SensitiveModel):
    """Every class holds at least l well-represented values of the sensitive attribute.

        distinct:   |{s : n(E, s) > 0}| >= l
        entropy:    -sum_s p(E, s) log p(E, s) >= log l
        recursive:  r_1 < c (r_l + r_(l+1) + ... + r_m)

    n(E, s): the count of value s in class E; p(E, s) = n(E, s) / sum_s n(E, s); r_i: the i-th largest of the m
    counts n(E, s). Counts are of people where a subject is declared. With several values a person, distinct values
    alone do not hide one: state k-anonymity beside it.

    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, l-diversity: privacy beyond k-anonymity.
    """

    name: ClassVar[str] = "l-diversity"
    leaves_open: ClassVar[str] = (
        "l-diversity makes sure that a group has several sensitive values. It does not keep one of them from "
        "being much more likely in a group than elsewhere, nor values from being alike in meaning."
    )

    variant: Annotated[
        Literal["distinct", "entropy", "recursive"],
        Field(description="What counts as well represented: distinct values, their entropy, or recursive (c,l)."),
    ] = "distinct"
    l: Annotated[  # noqa: E741 - the literature's name
        Annotated[int, Field(ge=1)] | Annotated[float, Field(ge=1, allow_inf_nan=False)],
        Field(description="The least diversity of a class; a whole number, except for entropy."),
    ]
    c: Annotated[
        float | None,
        Field(
            gt=0, allow_inf_nan=False, description="For recursive alone: how much the top value may outweigh the tail."
        ),
    ] = None

    @model_validator(mode="after")
    def _parameters_fit_variant(self) -> Self:
        if self.variant == "recursive" and self.c is None:
            raise ValueError("recursive l-diversity needs 'c', such as c: 3")
        if self.variant != "recursive" and self.c is not None:
            raise ValueError(f"'c' belongs to recursive l-diversity, not to {self.variant}")
        if self.variant != "entropy" and self.l != int(self.l):
            raise ValueError(f"'l' of {self.variant} l-diversity is a whole number")
        return self

    @property
    def monotone(self) -> bool:
        """All three: values only join; entropy is concave; the top counts of a sum are at most the sums of the tops."""
        return True

    @property
    def absorbing(self) -> bool:
        """Distinct values do not go away; the other two suffer from more of the most frequent one."""
        return self.variant == "distinct"

    @property
    def distinct_needs(self) -> Mapping[str, int] | None:
        return {self.about(): int(self.l)} if self.variant == "distinct" else None

    def in_words(self, achieved: Mapping[str, Any]) -> str | None:
        l = achieved.get("l")  # noqa: E741 - the literature's name
        if l is None:
            return None
        if l < 2:
            return f"In some group '{self.attribute}' hardly varies: knowing somebody's group may tell it."
        if self.variant != "distinct":
            return (
                f"Every such group has at least {in_figures(l)} values of '{self.attribute}', counted by "
                f"{self.variant} l-diversity."
            )
        return (
            f"Within every such group '{self.attribute}' takes at least {in_figures(l)} different values, so knowing "
            "somebody's group does not tell it for certain."
        )

    def summary(self) -> str:
        parameters = f"({self.c:g},{self.l:g})" if self.variant == "recursive" else f"{self.l:g}"
        return f"{self.variant} {parameters}-diversity{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        histogram = self.histogram(classes)
        if self.variant == "distinct":
            verdict = np.diff(histogram.offsets) >= self.l
        elif self.variant == "entropy":
            verdict = entropies(histogram) >= math.log(self.l) - SLACK
        else:
            verdict = top_to_tail(histogram, int(self.l)) < (self.c or 0.0)
        return or_empty(verdict, classes)

    def rule(self, reference: Reference) -> Rule | None:  # noqa: ARG002
        return Rule(distinct=int(self.l), attribute=self.about()) if self.variant == "distinct" else None

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        histogram = self.histogram(classes)
        if self.variant == "distinct":
            return {"l": lowest(np.diff(histogram.offsets), classes)}
        if self.variant == "entropy":
            return {"l": lowest(np.exp(entropies(histogram)), classes)}
        return {"l": float(self.l), "c": highest(top_to_tail(histogram, int(self.l)), classes)}

    @property
    def required(self) -> dict[str, Any]:
        named: dict[str, Any] = {"variant": self.variant, "l": self.l}
        return named if self.c is None else {**named, "c": self.c}


def entropies(histogram: Histogram) -> NDArray[np.float64]:
    """The entropy of each class's values, -sum_s p log p, in nats."""
    share = histogram.shares
    return sum_by_class(histogram, -share * np.log(share))


def top_to_tail(histogram: Histogram, l: int) -> NDArray[np.float64]:  # noqa: E741 - the literature's name
    """r_1 / (r_l + ... + r_m) of each class: what c must exceed; infinite for a class of fewer than l values."""
    classes = histogram.classes
    descending = histogram.counts[np.lexsort((-histogram.counts, classes))]
    rank = np.arange(len(descending)) - histogram.offsets[classes]
    tail = sum_by_class(histogram, np.where(rank >= l - 1, descending, 0))
    top = highest_by_class(histogram, histogram.counts)
    return np.divide(top, tail, out=np.full(len(tail), math.inf), where=tail > 0)
