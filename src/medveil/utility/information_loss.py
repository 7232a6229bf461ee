"""The information loss of IPA: NCP, EMD over cells and Rate, and their sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.evaluation.coverage import Coverage
from medveil.loss.earth_movers import earth_movers_distance
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.ncp import NormalizedCertaintyPenalty
from medveil.utility.rate import Rate

Codes = NDArray[np.int64]
Labels = NDArray[np.int32]


class InformationLoss(Measure):
    """What generalization, wrong shares and counterfeit records cost together.

        IL = NCP + EMD + Rate,  EMD = 1/2 sum over cells of |p - q|

    p, q: the shares of the cells (published quasi-identifiers with a sensitive value) in the original and in the
    release; a record of the original whose cell is not published counts among the rows of `*` with its value, because
    NCP alone is to charge for suppression. Only for releases that give every value of a column one label, or one for
    each sensitive value.

    Lee and Chung 2020, Differentially private release of medical microdata, equations 5 to 10.
    """

    name: ClassVar[str] = "information-loss"
    title: ClassVar[str] = "Information loss (NCP + EMD + Rate)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        if not len(comparison.tuples):
            return Skipped("nothing was published")
        if not comparison.problem.cells.records:
            return Skipped("the original holds no records")
        emd = cell_distance(comparison)
        if emd is None:
            return Skipped("values of a column have several labels each")
        parts = {"EMD": emd}
        for name, measure in (("NCP", NormalizedCertaintyPenalty()), ("Rate", Rate())):
            score = measure.compute(comparison)
            if isinstance(score, Skipped):
                return score
            parts[name] = score.value
        return Score(sum(parts.values()), parts=parts)


def cell_distance(comparison: Comparison) -> float | None:
    """EMD over the published cells; None where labels overlap."""
    columns = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
    cells, tuples = comparison.problem.cells, comparison.tuples
    sizes = [len(coverage.labels) + 1 for coverage in columns]
    own = _labels_of_cells(comparison, columns, sizes)
    if own is None:
        return None
    published, kept = _numbered(tuples.labels, own, sizes)
    number = int(max(published.max(initial=0), kept.max(initial=0))) + 1
    there = np.zeros(number, dtype=np.bool_)
    there[published] = True
    lost = ~there[kept]
    if lost.any():
        for position, coverage in enumerate(comparison.coverage.values()):
            own[position, lost] = _star(coverage)
        published, kept = _numbered(tuples.labels, own, sizes)
        number = int(max(published.max(initial=0), kept.max(initial=0))) + 1
    original = np.bincount(kept, cells.counts, minlength=number).astype(np.float64)
    rows = np.bincount(published, tuples.records, minlength=number).astype(np.float64)
    return earth_movers_distance(original, rows)


def _labels_of_cells(comparison: Comparison, columns: Sequence[Coverage], sizes: Sequence[int]) -> Labels | None:
    """The label that each cell of the original would be published as in each column, -1 where there is none; None where
    there are several. Labels of a dimension may differ by sensitive value, but must not overlap for one.
    """
    cells, dimensions = comparison.problem.cells, len(comparison.coverage)
    own = np.empty((len(columns), len(cells)), dtype=np.int32)
    codes = [*cells.codes, *cells.sensitive.values()]
    tuples = comparison.tuples.labels
    everything = np.array([tuples[position] == _star(columns[position]) for position in range(dimensions)])
    several = []
    for position, coverage in enumerate(columns):
        labels = _narrowest_label(coverage, np.ones(len(coverage.labels), dtype=np.bool_))
        # Where `*` stands beside other labels it is a level, not only what suppression leaves.
        level = position < dimensions and bool((everything[position] & ~everything.all(axis=0)).any())
        if labels is not None and not level:
            own[position] = labels[codes[position]]
        elif position < dimensions:
            several.append(position)
        else:
            return None
    if not several:
        return own
    published, kept = _numbered(tuples[dimensions:], own[dimensions:], list(sizes[dimensions:]))
    for members, inside in _together(published, kept):
        for position in several:
            present = np.zeros(len(columns[position].labels), dtype=np.bool_)
            present[tuples[position, members]] = True
            labels = _narrowest_label(columns[position], present)
            if labels is None:
                return None
            own[position, inside] = labels[codes[position][inside]]
    return own


def _together(published: Codes, kept: Codes) -> Iterator[tuple[Codes, Codes]]:
    """For each number among the cells of the original, the tuples and the cells that have it."""
    first, second = np.argsort(published, kind="stable"), np.argsort(kept, kind="stable")
    numbers = np.unique(kept)
    ends = [
        np.searchsorted(order, numbers, side)
        for order in (published[first], kept[second])
        for side in ("left", "right")
    ]
    for a, b, c, d in zip(*ends, strict=True):
        yield first[a:b], second[c:d]


def _numbered(published: Labels, own: Labels, sizes: list[int]) -> tuple[Codes, Codes]:
    """One number for each combination, the same in both tables; -1 stands for a label that is not published."""
    both = []
    for shown, mine, size in zip(published, own, sizes, strict=True):
        column = np.concatenate([shown, mine])
        column[column < 0] = size - 1
        both.append(column)
    _, numbers = combine(both, sizes, published.shape[1] + own.shape[1])
    return numbers[: published.shape[1]], numbers[published.shape[1] :]


def _star(coverage: Coverage) -> int:
    """The label that covers everything, -1 where none is published."""
    whole = np.flatnonzero(coverage.covered >= coverage.size)
    return int(whole[0]) if len(whole) else -1


def _narrowest_label(coverage: Coverage, present: NDArray[np.bool_]) -> Codes | None:
    """The label among those present that each leaf is published as, -1 where none is; None where several are. A label
    that covers everything counts where there is no other.
    """
    narrow = present & (coverage.covered < coverage.size)
    if not narrow.any():
        return np.full(len(coverage.domain), _star(coverage), dtype=np.int64)
    return coverage.label_among(narrow)
