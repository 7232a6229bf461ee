"""How many records a cluster holds, and how many of each sensitive value: in whole numbers and exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from medveil.errors import UnreachableError


@dataclass(frozen=True)
class Caps:
    """What every cluster must keep; every cluster must keep the same.

    clusters: how many there are, c.
    smallest, largest: the least and the most units of a cluster, floor(n / c) and ceil(n / c).
    lower, upper: the least and the most units of each value in a cluster.
    excess: by how many units all clusters together stay above the caps that were asked for.
    alpha: the least alpha that allows these caps, where a cap was asked for.

    c identical clusters can be filled from counts N_v exactly where every N_v / c lies between lower and upper and
    n / c between smallest and largest: that is a fractional solution of a flow problem, which then has a whole one.
    """

    clusters: int
    smallest: int
    largest: int
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    excess: int = 0
    alpha: Fraction | None = None

    def hold_for(self, counts: NDArray[np.int64], clusters: int | None = None) -> bool:
        """Whether so many units of each value can be spread over so many of the clusters."""
        c, n = self.clusters if clusters is None else clusters, int(counts.sum())
        fits = self.smallest * c <= n <= self.largest * c
        return bool(fits and np.all(self.lower * c <= counts) and np.all(counts <= self.upper * c))


def number_of_clusters(units: int, k: int) -> int:
    """As many clusters as there can be of at least k units each.

    >>> number_of_clusters(205, 10), number_of_clusters(19, 10)
    (20, 1)
    """
    if units < k:
        raise UnreachableError(
            f"No cluster can have {k:,} people or records: there are only {units:,}.", f"Ask for a k up to {units:,}."
        )
    return units // k


def even_caps(units: int, k: int, values: int = 1) -> Caps:
    """Sizes alone, without any cap on values."""
    clusters = number_of_clusters(units, k)
    smallest, largest = units // clusters, -(-units // clusters)
    free = np.full(values, largest, dtype=np.int64)
    return Caps(clusters, smallest, largest, np.zeros(values, dtype=np.int64), free)


def make_caps(
    counts: Sequence[int],
    k: int,
    alpha: Fraction | None,
    *,
    capped: Sequence[bool],
    both: bool = False,
    minimize_excess: bool = False,
) -> Caps:
    """The caps on each value, or an UnreachableError which names the least alpha that can be kept.

        upper_v = floor(alpha N_v / c)    or, where alpha is None, ceil(N_v / c), its own even share
        lower_v = floor(N_v / c)          with `both`, 0 otherwise

    N_v: the units with value v; c: the clusters. A cap below ceil(N_v / c) cannot be kept: some cluster has at least
    the even share. `minimize_excess` then takes ceil(N_v / c) for it, and holds every cluster to at least the cap, so
    that the excess is the least of all, N_v - c upper_v, and is spread evenly.
    """
    n = sum(counts)
    plain = even_caps(n, k, len(counts))
    c = plain.clusters
    lower, upper, excess = plain.lower.copy(), plain.upper.copy(), 0
    watched = [v for v, count in enumerate(counts) if capped[v] and count]
    for v in watched:
        share = Fraction(counts[v], c)
        least = -(-counts[v] // c)
        cap = least if alpha is None else int(alpha * share)  # both positive: int() is floor
        if both:
            lower[v] = counts[v] // c
        if cap < least:
            excess += counts[v] - c * cap
            lower[v] = max(int(lower[v]), cap)
        upper[v] = min(max(cap, least), plain.largest)
    needed = least_alpha([counts[v] for v in watched], c)
    if excess and not minimize_excess:
        raise UnreachableError(
            f"No {c:,} clusters keep the cap with alpha {_decimal(alpha)}: the least that can be kept is "
            f"{needed} ({_decimal(needed)}).",
            f"Set 'alpha: {needed}', leave alpha out so that each value gets the least cap it can have, "
            "or allow it with 'excess: minimize'.",
        )
    return Caps(c, plain.smallest, plain.largest, lower, upper, excess, needed)


def least_alpha(counts: Sequence[int], clusters: int) -> Fraction | None:
    """The least alpha that caps of floor(alpha N_v / c) can be kept with, max over v of c ceil(N_v / c) / N_v.

    Balanced clusters reach it: deal the records of one value after the other to the clusters in turn.

    >>> least_alpha([141, 59], 20)
    Fraction(160, 141)
    """
    return max((Fraction(clusters * -(-count // clusters), count) for count in counts), default=None)


def _decimal(number: Fraction | None) -> str:
    return "none" if number is None else f"{float(number):.6g}"


def merge_free(values: NDArray[np.int32], caps: Caps) -> tuple[NDArray[np.int32], Caps]:
    """The same caps with all values that no cap can bind put together as one: few values make small problems.

    A value is free where a cluster may hold all that there are of it, and need hold none.
    """
    counts = np.bincount(values, minlength=len(caps.upper))
    bound = np.flatnonzero((caps.lower > 0) | (caps.upper < np.minimum(counts, caps.largest)))
    code = np.full(len(caps.upper), len(bound), dtype=np.int32)
    code[bound] = np.arange(len(bound), dtype=np.int32)
    merged = Caps(
        caps.clusters,
        caps.smallest,
        caps.largest,
        np.append(caps.lower[bound], 0),
        np.append(caps.upper[bound], caps.largest),
        caps.excess,
        caps.alpha,
    )
    return code[values], merged
