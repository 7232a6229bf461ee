"""The people on whom an attack is tried: drawn from the original, with what an attacker knows of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes
from medveil.evaluation.comparison import Comparison, PublishedHistogram
from medveil.evaluation.matching import match, matching_classes
from medveil.risk.nearest import nearest_classes


@dataclass(frozen=True)
class Targets:
    """People, one record of each: `cells[i]` is the cell of that record."""

    comparison: Comparison
    cells: Codes

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """What the attacker knows: the quasi-identifiers of each target."""
        return np.ascontiguousarray(self.comparison.problem.cells.codes[:, self.cells])

    @cached_property
    def classes(self) -> tuple[Codes, Codes]:
        """The published classes that may hold each target, as offsets and classes.

        Where numbers are published that are nobody's value, such as means, the attacker takes the nearest ones.
        """
        if self.comparison.approximate:
            return nearest_classes(self.comparison, self.codes)
        return matching_classes(self.comparison, self.codes)

    @cached_property
    def candidates(self) -> Codes:
        """How many published people may be each target."""
        offsets, classes = self.classes
        running = np.concatenate([[0], np.cumsum(self.comparison.sizes[classes])])
        return np.asarray(running[offsets[1:]] - running[offsets[:-1]])

    @cached_property
    def published(self) -> NDArray[np.bool_]:
        """Whether the release has a record that can be the target's own, sensitive values included; where nearest
        records are taken for the target's, some are.
        """
        comparison = self.comparison
        if comparison.approximate:
            return self.candidates > 0
        cells = comparison.problem.cells
        known = [cells.sensitive[name][self.cells] for name in comparison.sensitive_coverage]
        coverage = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
        codes = np.array([*self.codes, *known], dtype=np.int32).reshape(len(coverage), -1)
        offsets, _ = match(codes, comparison.tuples.labels, coverage)
        return np.asarray(np.diff(offsets) > 0)

    def values(self, name: str) -> NDArray[np.int64]:
        """The sensitive value of each target, which the attacker wants to know."""
        return self.comparison.problem.cells.sensitive[name][self.cells].astype(np.int64)

    def beliefs(self, histogram: PublishedHistogram) -> PublishedHistogram:
        """What the attacker believes: for each *target*, the weight of each sensitive value among the candidates."""
        offsets, classes = self.classes
        number = len(self.comparison.classes)
        starts = np.searchsorted(histogram.classes, np.arange(number + 1))
        target = np.repeat(np.arange(len(self)), np.diff(offsets))
        lengths = (starts[1:] - starts[:-1])[classes]
        begin = np.repeat(starts[classes] - np.concatenate([[0], np.cumsum(lengths)])[:-1], lengths)
        entries = begin + np.arange(int(lengths.sum()))
        values = int(histogram.values.max(initial=0)) + 1
        keys = np.repeat(target, lengths) * values + histogram.values[entries]
        used, place = np.unique(keys, return_inverse=True)
        weights = np.bincount(place.reshape(-1), histogram.weights[entries], minlength=len(used)).astype(np.float64)
        return PublishedHistogram(used // values, used % values, weights)


def draw_targets(comparison: Comparison, random: np.random.Generator, number: int | None = None) -> Targets:
    """So many people (all of them where there are fewer), each with one of their records at random."""
    number = comparison.settings.targets if number is None else number
    cells = comparison.problem.cells
    if cells.subjects is None:
        ends = np.cumsum(cells.counts)
        total = int(ends[-1]) if len(ends) else 0
        chosen = np.arange(total) if total <= number else random.choice(total, number, replace=False, shuffle=False)
        return Targets(comparison, np.searchsorted(ends, np.sort(chosen), side="right"))
    people = cells.subjects.count
    chosen = np.arange(people) if people <= number else random.choice(people, number, replace=False)
    wanted = np.zeros(people, dtype=np.bool_)
    wanted[chosen] = True
    cell = np.repeat(np.arange(len(cells.subjects.offsets) - 1), np.diff(cells.subjects.offsets))
    place = random.permutation(np.flatnonzero(wanted[cells.subjects.codes]))
    _, first = np.unique(cells.subjects.codes[place], return_index=True)
    return Targets(comparison, cell[place[first]])


@dataclass(frozen=True)
class AttackerGuess:
    """What the attacker would say of each target: the likeliest value (-1: no candidate), how sure, and how many values
    are possible; `truth` is the weight share of the target's own value.
    """

    value: Codes
    share: NDArray[np.float64]
    possible: Codes
    truth: NDArray[np.float64]


def guess(beliefs: PublishedHistogram, truths: Codes) -> AttackerGuess:
    """From weights of values to one guess for each target; of equally likely values the first."""
    number = len(truths)
    starts = np.searchsorted(beliefs.classes, np.arange(number + 1))
    totals = np.bincount(beliefs.classes, beliefs.weights, minlength=number)
    # Sorted by target, then by weight from high to low: the first of each target is its likeliest value.
    order = np.lexsort((beliefs.values, -beliefs.weights, beliefs.classes))
    known = np.diff(starts) > 0
    best = order[starts[:-1][known]]
    value, share, truth = np.full(number, -1, dtype=np.int64), np.zeros(number), np.zeros(number)
    value[known] = beliefs.values[best]
    share[known] = beliefs.weights[best] / totals[known]
    own = beliefs.values == truths[beliefs.classes]
    truth[beliefs.classes[own]] = beliefs.weights[own] / totals[beliefs.classes[own]]
    return AttackerGuess(value, share, np.diff(starts), truth)
