"""How many records of a class can stay at most, however the class is divided and whichever parts are left out.

A search with suppression asks this of every class E of a node: a more specific node divides E, suppresses the parts
that fail, and publishes the union K of the others. Where a union of parts that satisfy a model satisfies it, K is one
set of records within E that does, and no larger than the largest such set, however E is divided. What is beyond that
every more specific node suppresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.privacy.classes import Classes, Histogram

ROUNDING = 1e-9
"""By how much a limit is widened: a bound must not be tighter than the verdict, which rounds too."""

STRETCHES = 64
"""Into so many stretches the ranks of an ordered attribute are joined at most."""


@dataclass(frozen=True)
class Covering:
    """Counts n_s of each class, between its offsets, and for each the ceiling c_s of its share of what stays."""

    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    ceilings: NDArray[np.float64]


def most_covered(
    covering: Covering, share: float, records: NDArray[np.int64], *, whole: bool = False
) -> NDArray[np.int64]:
    """The largest number m of records of each class, at most all of them, with

        sum_s min(n_s, c_s m) >= a m

    n_s, c_s: the counts and ceilings of the covering; a: the share. It bounds what can stay where the records K that
    stay, |K| = m, of which k_s <= n_s count for s, must satisfy

        sum_s min(k_s, c_s m) >= a m.

    With a = 1, where the k_s sum to m, that is k_s <= c_s m for all s: no value has more than its ceiling. The left
    side minus the right is concave in m and 0 at 0, so that the m which satisfy it are those up to a largest one.
    Newton's steps from above come down to it and never pass it, as a tangent of a concave function lies above it.
    `whole`: that a = 1 and every record counts for one s, so that k_s is at most floor(c_s m).
    """
    ceilings = covering.ceilings * (1.0 + ROUNDING)
    found = np.zeros(len(records), dtype=np.int64)
    _most_covered(covering.offsets, covering.counts, ceilings, share - ROUNDING, records, whole, found)
    return found


def most_below(
    histogram: Histogram, classes: Classes, ceilings: NDArray[np.float64], least: int = 1
) -> NDArray[np.int64]:
    """How many records of each class can stay at most where no value may have more than its share of those that stay.

    `ceilings[s]` is the largest share of value s; `least` the smallest class that may stay. The share of a value in
    a union lies between its shares in the parts, so that what stays of a class is within the ceilings as a whole.
    """
    covering = Covering(histogram.offsets, histogram.counts, ceilings[histogram.values])
    most = most_covered(covering, 1.0, classes.records, whole=True)
    return np.where(most >= least, most, 0)


def side_by_side(coverings: Sequence[Covering]) -> Covering:
    """The counts and ceilings of several coverings of the same classes, class by class."""
    classes = [np.repeat(np.arange(len(each.offsets) - 1), np.diff(each.offsets)) for each in coverings]
    order = np.argsort(np.concatenate(classes), kind="stable")
    return Covering(
        np.sum([each.offsets for each in coverings], axis=0),
        np.concatenate([each.counts for each in coverings])[order],
        np.concatenate([each.ceilings for each in coverings])[order],
    )


def running(histogram: Histogram, whole: NDArray[np.float64]) -> Covering:
    """For each rank below the last, the records up to it and those above it, with the input's shares as ceilings.

    Neighbouring ranks are joined into few stretches, where sum_i min(x_i, y_i) <= min(sum_i x_i, sum_i y_i).
    """
    last = len(whole) - 1
    edges = np.unique(np.linspace(0, last, min(last, STRETCHES) + 1).astype(np.int64))
    lengths = np.diff(edges)
    shape = (len(histogram.offsets) - 1, len(lengths))
    below = histogram.values < last
    values, counts = histogram.values[below].astype(np.int64), histogram.counts[below]
    stretch = np.searchsorted(edges, values, side="right") - 1
    place = histogram.classes[below] * shape[1] + stretch
    # A record counts for every rank from its own on: for some of its stretch, and for all of the stretches after it.
    own = np.bincount(place, counts * (edges[stretch + 1] - values), minlength=shape[0] * shape[1]).reshape(shape)
    held = np.bincount(place, counts, minlength=shape[0] * shape[1]).reshape(shape)
    up_to = own + (np.cumsum(held, axis=1) - held) * lengths
    above = histogram.totals[:, None] * lengths - up_to
    of_input = np.add.reduceat(np.cumsum(whole)[:last], edges[:-1]) if last else np.zeros(0)
    return Covering(
        np.arange(shape[0] + 1) * (2 * shape[1]),
        np.rint(np.concatenate((up_to, above), axis=1)).astype(np.int64).ravel(),
        np.tile(np.concatenate((of_input, lengths - of_input)), shape[0]),
    )


@outer
def _most_covered(
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    ceilings: NDArray[np.float64],
    share: float,
    records: NDArray[np.int64],
    whole: bool,
    found: NDArray[np.int64],
) -> None:
    for number in range(len(records)):
        found[number] = largest_part(
            counts, ceilings, offsets[number], offsets[number + 1], share, records[number], whole
        )


@inner
def largest_part(
    counts: NDArray[np.int64],
    ceilings: NDArray[np.float64],
    start: int | np.int64,
    end: int,
    share: float,
    records: int,
    whole: bool,
) -> int:
    """The m of `most_covered` for one class, whose counts are those from `start` to before `end`, with ceilings and
    share that are widened for rounding.

    `whole`: that no value may have more than its ceiling, so that of m records value s has at most floor(c_s m), and
    m is at most their sum over s. More than that sum is ruled out at once, as it does not fall where m grows.
    """
    most = float(records)
    while most > 0.0:
        scarce, ceiling = 0.0, 0.0
        for i in range(start, end):
            if counts[i] < ceilings[i] * most:
                scarce += counts[i]
            else:
                ceiling += ceilings[i]
        lower = scarce / (share - ceiling) if ceiling < share else most
        if lower >= most:
            break
        most = lower
    stays = min(records, int(most * (1.0 + ROUNDING) + ROUNDING))
    while whole and stays > 0:
        room = 0
        for i in range(start, end):
            room += min(counts[i], int(ceilings[i] * stays + ROUNDING))
        if room >= stays:
            break
        stays = room
    return stays
