"""t-closeness, measured again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import levels
from medveil.auditor.histogram import AuditedHistogram, count, input_counts, input_shares
from medveil.table.schema import Kind

_BLOCK = 1 << 22
"""The most numbers of a dense block of classes by values."""


class TClosenessCheck(Check):
    """The largest distance between a class and the input.

        equal:         1/2 sum_i |p_i - q_i|
        variational:   sum_i |p_i - q_i|
        ordered:       1/(m - 1) sum_i |(p_1 - q_1) + ... + (p_i - q_i)|
        hierarchical:  mean over the levels below the root of 1/2 sum_g |P(g) - Q(g)|

    p_i, q_i: the share of the i-th of m values in the class and in the input; P(g), Q(g): that of a group of values.
    """

    name: ClassVar[str] = "t-closeness"
    terms: ClassVar[frozenset[str]] = frozenset({"distance", "t"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        t, distance = terms.number("t"), terms.word("distance")
        attribute = evidence.attribute(claim)
        histogram = count(evidence, evidence.shield(claim), attribute, whole=True)
        whole = input_shares(evidence, attribute, histogram.domain)
        worst = 0.0
        if distance in {"equal", "variational"}:
            halves = _halves(histogram, whole)
            worst = float(halves.max()) * (2.0 if distance == "variational" else 1.0)
        elif distance == "ordered":
            if evidence.kinds[attribute] not in {Kind.NUMBER, Kind.DATE}:
                raise Refuted(f"the values of '{attribute}' have no order")
            for block in _blocks(histogram):
                moved = np.abs(np.cumsum(block - whole, axis=1)).sum(axis=1) / max(len(whole) - 1, 1)
                worst = max(worst, float(moved.max()))
        elif distance == "hierarchical":
            if evidence.described(attribute).get("hierarchy") is None:
                raise CannotTell(f"needs the hierarchy of '{attribute}', which the manifest does not describe")
            records = input_counts(evidence, attribute, histogram.domain)
            joins = [_groups(labels) for labels in levels(evidence, attribute, histogram.domain, records)[:-1]]
            for block in _blocks(histogram):
                apart = [np.abs((block - whole) @ join).sum(axis=1) / 2 for join in joins]
                worst = max(worst, float(np.mean(apart, axis=0).max()))
        else:
            raise CannotTell(f"there is no check for the distance '{distance}'")
        return Finding({"t": figure(worst)}, worst <= t + ROUNDING)


def _halves(histogram: AuditedHistogram, whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/2 sum_i |p_i - q_i| of each class: what it lacks of the input is 1 minus the input's share of its values."""
    of_input = whole[histogram.codes]
    held = histogram.added(np.abs(histogram.shares - of_input))
    return (held + 1.0 - histogram.added(of_input)) / 2


def _blocks(histogram: AuditedHistogram) -> Iterator[NDArray[np.float64]]:
    """The shares of all values in each class, some classes at a time."""
    width = len(histogram.domain)
    height = max(_BLOCK // width, 1)
    for first in range(0, len(histogram.sizes), height):
        last = min(first + height, len(histogram.sizes))
        pairs = slice(histogram.starts[first], histogram.starts[last])
        block = np.zeros((last - first, width))
        block[histogram.classes[pairs] - first, histogram.codes[pairs]] = histogram.shares[pairs]
        yield block


def _groups(labels: tuple[str | None, ...]) -> NDArray[np.float64]:
    """Which value is in which group, as a matrix of zeros and ones."""
    groups = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    matrix = np.zeros((len(labels), len(groups)))
    matrix[np.arange(len(labels)), [groups[label] for label in labels]] = 1.0
    return matrix
