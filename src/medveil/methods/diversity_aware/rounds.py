"""Assign, move the centers, assign again: whole, or in blocks of neighbours where there are too many records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from medveil.errors import UnreachableError
from medveil.methods.diversity_aware.assigning import Assignment, Solvers, assign, assign_by_milp, unit_of
from medveil.methods.diversity_aware.caps import Caps, even_caps, halve, merge_free, number_of_clusters
from medveil.methods.diversity_aware.points import Points, cost, medians
from medveil.methods.diversity_aware.prices import Prices
from medveil.run import Run, Stage

_BLOCK_RECORDS = 2_500
"""Records of a block, about."""

_BLOCK_CLUSTERS = 30
"""Clusters of a block, at least."""

_BLOCK_ROUNDS = 4
"""Rounds within a block, at most: what lies across its edges comes in the next pass."""

_PASSES = 2
"""How often all records are gone through in blocks, each time in others."""

_ENOUGH, _ENOUGH_IN_A_BLOCK = 1e-4, 1e-3
"""Many records are assigned until the cost is proved to be within this share of the least; those of a block, of which
nothing is claimed, until it is within more.
"""

_PAIRS = 20_000_000
"""Pairs of a capped value and a cluster whose prices fit into memory together."""

_STARTING_RECORDS, _STARTS, _STARTS_BY_MILP = 10_000, 200, 10
"""Where nobody says how many starts: records of all starts together, at most; and starts, at most."""

_FEWER_CLUSTERS_UP_TO, _PATIENCE = 2_000, 3
"""Records up to which fewer clusters are tried, and how many numbers of clusters in turn may cost more."""

_FEWER_STARTS = 4
"""Each of these numbers has so many times fewer starts."""

_NOISE = 1e-9
"""A cost that is lower by less than this share is the same, summed up in another order."""

_SAMPLES, _SAMPLE_RECORDS = 4, 20_000
"""The neighbourhoods in which the gap of blocks is measured, and the records of each."""


@dataclass(frozen=True)
class Effort:
    """How much is done: the most `rounds`, from so many `starts` (None: many where there are few records); above
    `blocks_above` records rounds are made in blocks of neighbours, from one start; up to `whole_up_to` records all are
    then assigned once more, as a whole. `by_milp`: whole, by the paper's program.
    """

    rounds: int = 50
    starts: int | None = None
    blocks_above: int = 10_000
    whole_up_to: int = 100_000
    by_milp: bool = False

    def starts_of(self, records: int) -> int:
        """How many starts: as many as little work allows, where it is left open."""
        if self.starts is not None:
            return self.starts
        return max(1, min(_STARTS_BY_MILP if self.by_milp else _STARTS, _STARTING_RECORDS // records))


@dataclass(frozen=True)
class Clustering:
    """Clusters, and what making them cost.

    cost: the sum of the distances to `centers`, those which the last assignment was made for.
    bound: no assignment to these centers that keeps the caps costs less; None where that was not proved.
    costs: after each assignment and each move of the centers; it never rises.
    measured_gap: where nothing is proved, the most that other assignments of some neighbourhoods can save, as a share.
    """

    cluster: NDArray[np.int32]
    centers: Points
    cost: float
    bound: float | None
    costs: tuple[float, ...] = ()
    measured_gap: float | None = None
    prices: Prices | None = field(default=None, repr=False)

    @property
    def gap(self) -> float | None:
        return None if self.bound is None else max(self.cost - self.bound, 0.0)


def cluster_points(
    points: Points, values: NDArray[np.int32], caps: Caps, effort: Effort, solvers: Solvers, run: Run
) -> Clustering:
    """Clusters that keep the caps at little cost; in which order the records come makes no difference."""
    order = np.lexsort((values, *points.categories.T, *points.numbers.T))
    found = _cluster_sorted(points.take(order), values[order], caps, effort, solvers, run)
    cluster = np.empty_like(found.cluster)
    cluster[order] = found.cluster
    return replace(found, cluster=cluster)


def cluster_at_least(
    points: Points,
    values: NDArray[np.int32],
    caps_of: Callable[[int], Caps],
    k: int,
    effort: Effort,
    solvers: Solvers,
    run: Run,
) -> tuple[Clustering, Caps]:
    """Clusters of k to 2k - 1 records, with the caps that they keep: as many clusters as there can be and, in tables
    of few records, fewer ones as long as that costs less. `caps_of`: the caps of so many clusters.
    """
    most = number_of_clusters(len(points), k)
    caps = caps_of(most)
    best = cluster_points(points, values, caps, effort, solvers, run), caps
    if len(points) > _FEWER_CLUSTERS_UP_TO:
        return best
    misses, clusters = 0, most - 1
    effort = replace(effort, starts=-(-effort.starts_of(len(points)) // _FEWER_STARTS))
    while misses < _PATIENCE and clusters >= max(1, -(-len(points) // (2 * k - 1))):
        try:
            caps = caps_of(clusters)
        except UnreachableError:  # so few clusters cannot keep the cap that was asked for
            break
        found = cluster_points(points, values, caps, effort, solvers, run)
        if found.cost < best[0].cost * (1 - _NOISE):
            best, misses = (found, caps), 0
        else:
            misses += 1
        clusters -= max(1, clusters // 50)
    return best


def _cluster_sorted(
    points: Points, values: NDArray[np.int32], caps: Caps, effort: Effort, solvers: Solvers, run: Run
) -> Clustering:
    if effort.by_milp or len(points) <= effort.blocks_above:
        return _best_of_starts(points, values, caps, effort, solvers, run)
    start = halve(points, values, caps, run)
    centers = medians(points, start, caps.clusters)
    found = in_blocks(points, values, caps, centers, start, effort.rounds, solvers, run)
    centers = medians(points, found.cluster, caps.clusters)
    pairs = len(merge_free(values, caps)[1].upper) * caps.clusters
    if len(points) <= effort.whole_up_to and pairs <= _PAIRS:
        whole = alternate(points, values, caps, centers, found.cluster, 1, solvers, run, enough=_ENOUGH)
        return replace(whole, costs=(*found.costs, *whole.costs))
    gap = measure_gap(points, values, caps, centers, found.cluster, solvers, run)
    moved = cost(points, centers, found.cluster)
    return replace(found, centers=centers, cost=moved, costs=(*found.costs, moved), measured_gap=gap)


def _best_of_starts(
    points: Points, values: NDArray[np.int32], caps: Caps, effort: Effort, solvers: Solvers, run: Run
) -> Clustering:
    """Rounds end where no single step gains anything, which may be far from the best: so begin in several places.

    First at the halves, then in turn at records taken at random and at halves of columns stretched at random.
    """
    best: Clustering | None = None
    for number in range(effort.starts_of(len(points))):
        start = halve(points if number == 0 else _weighed(points, run), values, caps, run)
        if number % 2:
            centers = points.take(run.random.choice(len(points), caps.clusters, replace=False))
        else:
            centers = medians(points, start, caps.clusters)
        found = alternate(points, values, caps, centers, start, effort.rounds, solvers, run, by_milp=effort.by_milp)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    return best


def _weighed(points: Points, run: Run) -> Points:
    """The points with columns stretched at random: halved elsewhere."""
    columns = points.numbers.shape[1]
    weights = run.random.uniform(0.5, 2.0, columns + len(points.scales))
    return Points(points.numbers * weights[:columns], points.categories, points.scales * weights[columns:])


def alternate(
    points: Points,
    values: NDArray[np.int32],
    caps: Caps,
    centers: Points,
    start: NDArray[np.int32],
    rounds: int,
    solvers: Solvers,
    run: Run,
    *,
    enough: float = 0.0,
    by_milp: bool = False,
) -> Clustering:
    """Assign to the given centers, move each center to the median of its records; again, until nothing is gained."""
    values, caps = merge_free(values, caps)
    costs = [cost(points, centers, start)]
    rounding = unit_of(points) * len(points)
    assigned: Assignment | None = None
    for number in range(1, max(rounds, 1) + 1):
        doing = f"Assigning, round {number}"
        prices = assigned.prices if assigned else None
        if by_milp:
            assigned = assign_by_milp(points, values, centers, caps, solvers, run, doing)
        else:
            assigned = assign(
                points, values, centers, caps, start, solvers, run, prices=prices, enough=enough, doing=doing
            )
        if assigned.cost > costs[-1]:  # by rounding: what there was is as good
            assigned = replace(assigned, cluster=start, cost=costs[-1])
        start = assigned.cluster
        costs.append(assigned.cost)
        if number == rounds:
            break
        moved = medians(points, start, caps.clusters)
        better = cost(points, moved, start)
        if better >= assigned.cost - rounding:
            break
        centers = moved
        costs.append(better)
    assert assigned is not None
    return Clustering(start, centers, assigned.cost, assigned.bound, tuple(costs), prices=assigned.prices)


def in_blocks(
    points: Points,
    values: NDArray[np.int32],
    caps: Caps,
    centers: Points,
    start: NDArray[np.int32],
    rounds: int,
    solvers: Solvers,
    run: Run,
) -> Clustering:
    """Rounds within blocks of neighbouring clusters, each block for itself; then in other blocks.

    The clusters of a block keep the caps, and so does whatever the block makes of their records.
    """
    silent = replace(run, listener=Run().listener)
    per_block = max(_BLOCK_CLUSTERS, _BLOCK_RECORDS // caps.smallest)
    cluster, costs = start.copy(), [cost(points, centers, start)]
    for number in range(_PASSES):
        total, done = 0.0, 0
        for block in _neighbourhoods(centers, cluster, per_block, run):
            run.step(Stage.SEARCH, done / caps.clusters, f"Assigning in blocks, pass {number + 1} of {_PASSES}")
            found = alternate(
                points.take(block.records),
                values[block.records],
                replace(caps, clusters=len(block.clusters)),
                centers.take(block.clusters),
                block.cluster,
                min(rounds, _BLOCK_ROUNDS),
                solvers,
                silent,
                enough=_ENOUGH_IN_A_BLOCK,
            )
            cluster[block.records] = block.clusters[found.cluster]
            total += found.cost
            done += len(block.clusters)
        centers = medians(points, cluster, caps.clusters)
        costs += [total, cost(points, centers, cluster)]
    return Clustering(cluster, centers, costs[-1], None, tuple(costs))


def measure_gap(
    points: Points,
    values: NDArray[np.int32],
    caps: Caps,
    centers: Points,
    cluster: NDArray[np.int32],
    solvers: Solvers,
    run: Run,
) -> float:
    """The most, as a share of the cost, that other assignments of some neighbourhoods, taken at random, can save."""
    per_sample = max(_BLOCK_CLUSTERS, _SAMPLE_RECORDS // caps.smallest)
    before = after = 0.0
    everywhere = list(_neighbourhoods(centers, cluster, per_sample, run))
    for number in run.random.permutation(len(everywhere))[:_SAMPLES]:
        block = everywhere[number]
        here, there = points.take(block.records), centers.take(block.clusters)
        doing = "Measuring the distance from the optimum"
        codes, smaller = merge_free(values[block.records], replace(caps, clusters=len(block.clusters)))
        found = assign(here, codes, there, smaller, block.cluster, solvers, run, enough=_ENOUGH, doing=doing)
        before += cost(here, there, block.cluster)
        after += found.bound
    return (before - after) / before if before else 0.0


@dataclass(frozen=True)
class _Neighbourhood:
    """Neighbouring clusters with all of their records, and the place of each record's cluster among them."""

    clusters: NDArray[np.int64]
    records: NDArray[np.int64]
    cluster: NDArray[np.int32]


def _neighbourhoods(centers: Points, cluster: NDArray[np.int32], size: int, run: Run) -> Iterator[_Neighbourhood]:
    """All clusters in blocks of neighbours, so many to each: centers are halved with columns weighed at random, so
    that the edges are elsewhere each time.
    """
    alone = np.zeros(len(centers), dtype=np.int32)
    place = halve(_weighed(centers, run), alone, even_caps(len(centers), 1), run)
    order = np.argsort(place)
    by_place = np.argsort(place[cluster], kind="stable")
    starts = np.searchsorted(place[cluster][by_place], np.arange(len(centers) + 1))
    for first in range(0, len(centers), size):
        last = min(first + size, len(centers))
        records = by_place[starts[first] : starts[last]]
        yield _Neighbourhood(order[first:last], records, (place[cluster[records]] - first).astype(np.int32))
