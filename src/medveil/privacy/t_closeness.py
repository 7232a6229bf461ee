"""t-closeness: in no class does the sensitive attribute look far from how it looks in the whole input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.codes.compiling import outer
from medveil.errors import PolicyError
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.keeping import Covering, most_covered, running, side_by_side
from medveil.privacy.model import Reference, Verdict, in_figures
from medveil.privacy.rules import Rule, within_distance
from medveil.privacy.sensitive import SensitiveModel, sum_by_class
from medveil.privacy.worst import SLACK, at_most, highest, or_empty
from medveil.table.schema import Kind


class TCloseness(SensitiveModel):
    """The distance between the attribute's distribution in a class and that in the whole input is at most t.

        D(P, Q) <= t   for every class

        equal:         D = 1/2 sum_i |p_i - q_i|
        variational:   D = sum_i |p_i - q_i|
        ordered:       D = 1/(m - 1) sum_(i < m) |sum_(j <= i) (p_j - q_j)|
        hierarchical:  D = 1/H sum_(h < H) 1/2 sum_g |P_h(g) - Q_h(g)|

    P, Q: the distributions over the m values in the class and in the input, p_i and q_i their shares; P_h(g): the
    share of group g at level h of the attribute's hierarchy, which has levels 0 (values) to H (root). All but
    `variational` are earth mover's distances: between any two values the ground distance is 1 (equal), their
    difference of rank over m - 1 (ordered), or the level at which they meet over H (hierarchical, where the sum over
    nodes of the paper is the sum over edges above). Ordered is for numbers and dates; a missing value ranks last.

    Every class is compared, and with all of the input, what is suppressed included: hence the claim rests on the
    files and the source.

    Li, Li and Venkatasubramanian 2007, t-closeness: privacy beyond k-anonymity and l-diversity.
    """

    name: ClassVar[str] = "t-closeness"
    leaves_open: ClassVar[str] = (
        "t-closeness bounds how far the values of a group are from those of everybody. What is true of everybody "
        "in the data, such as a common illness, can still be believed of each of them."
    )
    monotone: ClassVar[bool] = True  # each distance is convex in P, and a merged class is a mixture
    absorbing: ClassVar[bool] = False
    basis: ClassVar[str] = "files and source"
    compares_with_input: ClassVar[bool] = True

    t: Annotated[float, Field(ge=0, le=2, description="The largest distance; at most 1, or 2 for variational.")]
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical", "variational"],
        Field(description="How far apart two values are; variational is the plain sum of absolute differences."),
    ] = "equal"

    @model_validator(mode="after")
    def _threshold_fits_distance(self) -> Self:
        if self.t > 1 and self.distance != "variational":
            raise ValueError(f"the {self.distance} distance is at most 1, so a 't' above 1 requires nothing")
        return self

    def in_words(self, achieved: Mapping[str, Any]) -> str | None:
        if achieved.get("t") is None:
            return None
        return (
            f"In no group is '{self.attribute}' spread further from the whole table than a distance of "
            f"{in_figures(achieved['t'])}; at 0 a group would tell nothing about it."
        )

    def summary(self) -> str:
        kind = "" if self.distance == "equal" else f" ({self.distance})"
        return f"{self.t:g}-closeness{self._of_attribute}{kind}"

    def enough_spread_evenly(self, values: int) -> int | None:
        """Where classes differ by one in size and in the count of every value, (values + 2) / (2 size) bounds the
        distance: a count is off its share by less than one, and its size by less than one more.
        """
        return math.ceil((values + 2) / (2 * self.t))

    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        return or_empty(at_most(self.distances(classes, reference), self.t), classes)

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:
        """What stays of a class is a mixture of parts within t, so it is within t: every distance is convex in P.

        As 1 - |x - y| = min(x, y) + min(1 - x, 1 - y) for shares x and y, and shares sum to 1, D <= t says

            equal:         sum_i min(p_i, q_i) >= 1 - t
            ordered:       sum_(i < m) min(F_P(i), F_Q(i)) + min(1 - F_P(i), 1 - F_Q(i)) >= (1 - t) (m - 1)
            hierarchical:  sum_(h < H) sum_g min(P_h(g), Q_h(g)) >= (1 - t) H

        F: the running sums of shares. For all three `most_covered` knows how many records can stay.
        """
        covered, terms = self._coverings(self.histogram(classes), reference)
        t = self.t / 2.0 if self.distance == "variational" else self.t
        return most_covered(covered, (1.0 - t) * terms, classes.records)

    def rule(self, reference: Reference) -> Rule | None:
        """For the plain distances, which are a sum over values; the verdict is `at_most` of the same sum."""
        if self.distance not in {"equal", "variational"}:
            return None
        half = 2.0 if self.distance == "variational" else 1.0
        beyond = (self.t + SLACK * max(1.0, self.t)) / half
        return within_distance(self.about(), reference.shares(self.about()), self.t / half, beyond)

    def _coverings(self, histogram: Histogram, reference: Reference) -> tuple[Covering, int]:
        """What the records that stay must cover of the input's shares, and how many times all of them."""
        attribute = self.about()
        whole = reference.shares(attribute)
        if self.distance == "ordered":
            return running(histogram, whole), len(whole) - 1
        if self.distance == "hierarchical":
            levels = reference.hierarchies[attribute].levels[:-1]
            joined = [coarsened(histogram, whole, level.groups) for level in levels]
            return side_by_side([Covering(h.offsets, h.counts, w[h.values]) for h, w in joined]), len(levels)
        return Covering(histogram.offsets, histogram.counts, whole[histogram.values]), 1

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        return {"t": highest(self.distances(classes, reference), classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"distance": self.distance, "t": self.t}

    def distances(self, classes: Classes, reference: Reference) -> NDArray[np.float64]:
        """The distance of each class from the input."""
        histogram = self.histogram(classes)
        attribute = self.about()
        whole = reference.shares(attribute)
        if self.distance == "ordered":
            if reference.domains[attribute].kind not in {Kind.NUMBER, Kind.DATE}:
                raise PolicyError(
                    f"The ordered distance of t-closeness needs numbers or dates, which '{attribute}' does not hold.",
                    f"Use 'distance: equal' or 'hierarchical', or declare the type of '{attribute}'.",
                )
            return ordered(histogram, whole)
        if self.distance == "hierarchical":
            if attribute not in reference.hierarchies:
                raise PolicyError(
                    f"The hierarchical distance of t-closeness needs a hierarchy, which '{attribute}' does not have.",
                    f"Give '{attribute}' a hierarchy, or use 'distance: equal'.",
                )
            levels = reference.hierarchies[attribute].levels[:-1]
            by_level = [equal(*coarsened(histogram, whole, level.groups)) for level in levels]
            return np.asarray(np.mean(by_level, axis=0), dtype=np.float64)
        return equal(histogram, whole) * (2.0 if self.distance == "variational" else 1.0)


def equal(histogram: Histogram, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/2 sum_i |p_i - q_i|, as the sum of what p has above q: needs only the values that a class holds."""
    found = np.zeros(len(histogram.offsets) - 1)
    _above(histogram.offsets, histogram.values, histogram.counts, whole, found)
    return found


@outer
def _above(
    offsets: NDArray[np.int64],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
    whole: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Add sum_i max(p_i - q_i, 0) of each class."""
    for number in range(len(found)):
        total = 0
        for i in range(offsets[number], offsets[number + 1]):
            total += counts[i]
        for i in range(offsets[number], offsets[number + 1]):
            found[number] += max(counts[i] / total - whole[values[i]], 0.0)


def ordered(histogram: Histogram, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/(m - 1) sum_(i < m) |F_P(i) - F_Q(i)|, with F the running sums.

    Between two neighbouring values of a class F_P is constant and F_Q, which all classes share, ascends: the sum over
    such a stretch [a, b) is split where F_Q passes F_P and read off a running sum of F_Q.
    """
    size = len(whole)
    of_input = np.cumsum(whole)
    area = np.concatenate(([0.0], np.cumsum(of_input)))
    filled = np.flatnonzero(np.diff(histogram.offsets))
    first, last = histogram.offsets[filled], histogram.offsets[filled + 1] - 1

    counted = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(histogram.counts)))
    classes = histogram.classes
    of_class = (counted[1:] - counted[histogram.offsets[classes]]) / histogram.totals[classes]
    begin = histogram.values.astype(np.int64)
    end = np.roll(begin, -1)
    end[last] = size
    split = np.clip(np.searchsorted(of_input, of_class), begin, end)
    stretches = of_class * (2 * split - begin - end) + area[begin] + area[end] - 2 * area[split]

    moved = sum_by_class(histogram, stretches)
    moved[filled] += area[begin[first]]  # below its first value a class has nothing and the input all of F_Q
    return np.maximum(moved, 0.0) / max(size - 1, 1)  # the m-th term is 1 - 1


def coarsened(
    histogram: Histogram, whole: NDArray[np.float64], groups: NDArray[np.int32]
) -> tuple[Histogram, NDArray[np.float64]]:
    """The histogram and the input's shares with values joined into groups."""
    number_of_groups = int(groups.max()) + 1
    keys = histogram.classes * number_of_groups + groups[histogram.values]
    found, inverse = np.unique(keys, return_inverse=True)
    counts = np.bincount(inverse, histogram.counts, minlength=len(found)).astype(np.int64)
    bounds = np.arange(len(histogram.offsets)) * number_of_groups
    joined = Histogram(np.searchsorted(found, bounds), (found % number_of_groups).astype(np.int32), counts)
    return joined, np.bincount(groups, whole).astype(np.float64)
