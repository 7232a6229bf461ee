"""The cheapest assignment to given centers: a min-cost flow on few arcs, to which arcs are added until it is proved.

Record -> (value, cluster) -> cluster: each record takes one of its arcs, a pair of a value and a cluster passes on as
many as its cap allows, and what a cluster has beyond the smallest size goes on to the rest.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.flows import Arcs, WholePrices, cheapest_flow
from medveil.methods.diversity_aware.points import Points, all_distances, cost, distances, pair_distances
from medveil.methods.diversity_aware.prices import Prices, look_around
from medveil.methods.diversity_aware.solvers import Solvers
from medveil.run import Run

_BITS, _FEWER_BITS = 40, 32
"""Distances are rounded to multiples of 2^-40 of the largest possible one; of 2^-32, which is faster, where what is
sought need not be the optimum itself.
"""

_FIRST = 16
"""Arcs of each record to begin with where nothing is known of prices."""

_FIRST_AT_PRICES = 6
"""Arcs of each record to begin with where prices say which are likely."""

_MORE = 16
"""Arcs that a record may get at a time."""


@dataclass(frozen=True)
class Assignment:
    """A cluster for each record.

    cost: the sum of the distances to the given centers.
    bound: no assignment to these centers that keeps the caps costs less.
    prices: what proves it.
    """

    cluster: NDArray[np.int32]
    cost: float
    bound: float
    prices: Prices
    flows: int = 1

    @property
    def gap(self) -> float:
        return max(self.cost - self.bound, 0.0)


def unit_of(points: Points, bits: int = _BITS) -> float:
    """What distances are rounded to: the greatest possible one over 2^bits. So n records err by n units at most."""
    spans = np.ptp(points.numbers, axis=0) if len(points) else np.zeros(0)
    widest = float(spans.sum() + points.scales.sum())
    return max(widest, 1e-300) / 2.0**bits


def assign(
    points: Points,
    values: NDArray[np.int32],
    centers: Points,
    caps: Caps,
    start: NDArray[np.int32],
    run: Run,
    *,
    prices: Prices | None = None,
    enough: float = 0.0,
    doing: str = "Assigning",
) -> Assignment:
    """The assignment of least cost that keeps the caps, for the given centers.

    `start` is any assignment that keeps them, so that the few arcs of each record always allow one; `prices`, such as
    those of nearby centers, choose the first arcs. After each flow all clusters are looked at for arcs of negative
    reduced cost; where there is none, the assignment is optimal. It ends earlier where the cost is within the share
    `enough` of the bound.
    """
    unit = unit_of(points, _FEWER_BITS if enough else _BITS)
    nothing = np.full(len(points), np.inf)
    seed = prices or Prices.zero(caps)
    first = min(_FIRST if prices is None else _FIRST_AT_PRICES, caps.clusters)
    offers = look_around(points, values, centers, seed, start, nothing, first, run, doing)
    arcs = _join(offers.records, offers.clusters, np.arange(len(points), dtype=np.int32), start, caps.clusters)
    levels = WholePrices(
        np.rint(seed.of_value / unit).astype(np.int64), np.rint(seed.of_cluster / unit).astype(np.int64)
    )
    cluster = start
    best: Assignment | None = None
    for number in itertools.count(1):
        lengths = pair_distances(points, centers, *arcs)
        starts = np.searchsorted(arcs[0], np.arange(len(points) + 1)).astype(np.int64)
        given = Arcs(starts, arcs[1], np.rint(lengths / unit).astype(np.int64))
        cluster, levels = cheapest_flow(given, values, caps, cluster, levels, run, doing)
        found = Prices(levels.of_value * unit, levels.of_cluster * unit)
        lengths = distances(points, centers, cluster)
        pays = lengths + found.of_value[values, cluster]
        offers = look_around(points, values, centers, found, cluster, pays - 2 * unit, _MORE, run, doing)
        bound = max(float(offers.least.sum()) - found.paid(caps, len(points)), 0.0)  # no distance is below 0
        here = Assignment(cluster, float(lengths.sum()), bound, found, number)
        best = here if best is None else replace(here, bound=max(best.bound, bound))
        if not len(offers.records) or best.gap <= enough * best.cost:
            break
        arcs = _join(*arcs, offers.records, offers.clusters, caps.clusters)
    assert best is not None
    return best


def _join(
    records: NDArray[np.int32],
    clusters: NDArray[np.int32],
    more_records: NDArray[np.int32],
    more_clusters: NDArray[np.int32],
    number: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Arcs of both, each once, by record."""
    keys = np.concatenate([records, more_records]).astype(np.int64) * number
    keys += np.concatenate([clusters, more_clusters])
    keys = np.unique(keys)
    return (keys // number).astype(np.int32), (keys % number).astype(np.int32)


def assign_by_milp(
    points: Points,
    values: NDArray[np.int32],
    centers: Points,
    caps: Caps,
    solvers: Solvers,
    run: Run,
    doing: str,
) -> Assignment:
    """The same by the paper's mixed-integer program: for small problems, and to compare with."""
    answer = solvers.milp(
        run,
        doing,
        distances=all_distances(points, centers),
        values=values,
        lower=caps.lower,
        upper=caps.upper,
        sizes=np.array([caps.smallest, caps.largest]),
    )
    cluster = answer["cluster"]
    total = cost(points, centers, cluster)
    return Assignment(cluster, total, total, Prices.zero(caps))
