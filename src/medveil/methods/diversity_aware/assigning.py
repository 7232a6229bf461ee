"""The cheapest assignment to given centers: a min-cost flow on few arcs, to which arcs are added until it is proved.

Where a share of the cost may be left, an auction is held first, which mostly is all that is needed. Small flows are
solved here, large ones and mixed-integer programs in a process that can be ended.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from medveil.errors import MedveilError
from medveil.methods.diversity_aware import worker
from medveil.methods.diversity_aware.auction import Arcs, Auction
from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Points, all_distances, cost, distances, pair_distances
from medveil.methods.diversity_aware.prices import Potentials, Prices, find_potentials, look_around
from medveil.methods.diversity_aware.worker import Arrays, Infeasible
from medveil.run import Run, Stage

_SMALL = 400_000
"""Arcs of a flow that is solved here, in well under a second; nothing can be stopped meanwhile."""

_POLL = 0.1
"""Seconds between two looks at whether the run was stopped."""

_BITS, _FEWER_BITS = 40, 32
"""Distances are rounded to multiples of 2^-40 of the largest possible one; of 2^-32, which is faster, where what is
sought need not be the optimum itself.
"""

_FIRST = 8
"""Arcs of each record to begin with where nothing is known of prices."""

_FIRST_AT_PRICES = 6
"""Arcs of each record to begin with where prices say which are likely."""

_MORE = 8
"""Arcs that a record may get at a time."""

_FIRST_IN_AUCTION = 32
"""Arcs of each record to begin with in an auction: few of them are looked at for a bid, and missing ones cost much."""

_STEP, _NEXT_STEP, _NEXT_SMALL_STEP = 0.5, 0.2, 0.6
"""The first step of an auction as a share of the mean distance, and each as a share of the one before: bids are many
where steps are small, so that those below what may be left of the mean distance shrink slowly.
"""

_STEP_AT_PRICES = 0.02
"""The first step where prices are near."""

_WITHIN = 2.0
"""A step is made smaller where the bound is within this many steps of each record."""

_BIDS, _IDLE = 5_000, 4
"""The bids of each record in one auction, on average, at most; and auctions in turn that may bring nothing."""


class Solvers:
    """Solves flows and mixed-integer programs; the process for large ones is started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def flow(self, run: Run, doing: str, **job: Any) -> Arrays:
        return self._solve("flow", run, doing, len(job["tail"]) <= _SMALL, job)

    def milp(self, run: Run, doing: str, **job: Any) -> Arrays:
        return self._solve("milp", run, doing, small=False, job=job)

    def _solve(self, solver: str, run: Run, doing: str, small: bool, job: dict[str, Any]) -> Arrays:
        run.step(Stage.SEARCH, None, doing)
        _need(solver)
        try:
            answer = worker.SOLVERS[solver](**job) if small else self._elsewhere(solver, job, run, doing)
        except Infeasible:
            answer = {}
        if not answer:
            raise MedveilError("A solver found no solution where there is one.", "Please report it.")
        return answer

    def _elsewhere(self, solver: str, job: Arrays, run: Run, doing: str) -> Arrays:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a file of our own
                [sys.executable, "-P", str(Path(worker.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        process, answers = self._process, []
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def talk() -> None:
            try:
                worker.send(stdin, {"solver": np.array(solver), **job})
                answers.append(worker.receive(stdout))
            except (OSError, ValueError):
                answers.append(None)

        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL)
                run.step(Stage.SEARCH, None, doing)
        except BaseException:
            self.close()
            raise
        if not answers or answers[0] is None:
            self.close()
            raise MedveilError(
                "The solver ended before it had a solution.", "Is there enough memory? Set a smaller 'whole_up_to'."
            )
        return answers[0]


def _need(solver: str) -> None:
    """Refuse early, and in plain words, where the solvers are not installed."""
    load: Callable[[], object] = _load_ortools if solver == "flow" else _load_scipy
    try:
        load()
    except ImportError:
        raise MedveilError(
            "The method 'diversity-aware' needs solvers that are not installed.", "pip install 'medveil[optimization]'"
        ) from None


def _load_ortools() -> object:
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - an extra

    return min_cost_flow


def _load_scipy() -> object:
    import scipy.optimize  # noqa: PLC0415 - an extra

    return scipy.optimize


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
    solvers: Solvers,
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
    if enough and not caps.lower.any():
        near = assign_nearly(points, values, centers, caps, start, run, prices=prices, enough=enough, doing=doing)
        if near.gap <= enough * near.cost:
            return near
        start, prices = near.cluster, near.prices
    unit = unit_of(points, _FEWER_BITS if enough else _BITS)
    nothing = np.full(len(points), np.inf)
    seed = prices or Prices.zero(caps)
    first = min(_FIRST if prices is None else _FIRST_AT_PRICES, caps.clusters)
    offers = look_around(points, values, centers, seed, nothing, first, run, doing)
    arcs = _join(offers.records, offers.clusters, np.arange(len(points), dtype=np.int32), start, caps.clusters)
    known = Potentials(
        -np.rint(seed.of_value / unit).astype(np.int64), -np.rint(seed.of_cluster / unit).astype(np.int64)
    )
    best: Assignment | None = None
    for number in itertools.count(1):
        lengths = pair_distances(points, centers, *arcs)
        rounded = np.rint(lengths / unit).astype(np.int64)
        chosen = _flow(arcs, rounded, values, caps, solvers, run, doing)
        starts = np.searchsorted(arcs[0], np.arange(len(points) + 1)).astype(np.int64)
        known = find_potentials(starts, arcs[1], rounded, chosen, values, caps, known, run)
        found = Prices(-known.of_value * unit, -known.of_cluster * unit)
        cluster = arcs[1][chosen]
        pays = lengths[chosen] + found.of_value[values, cluster]
        offers = look_around(points, values, centers, found, pays - 2 * unit, _MORE, run, doing)
        bound = max(float(offers.least.sum()) - found.paid(caps, len(points)), 0.0)  # no distance is below 0
        here = Assignment(cluster, float(lengths[chosen].sum()), bound, found, number)
        best = here if best is None else replace(here, bound=max(best.bound, bound))
        if not len(offers.records) or best.gap <= enough * best.cost:
            break
        arcs = _join(*arcs, offers.records, offers.clusters, caps.clusters)
    assert best is not None
    return best


def assign_nearly(
    points: Points,
    values: NDArray[np.int32],
    centers: Points,
    caps: Caps,
    start: NDArray[np.int32],
    run: Run,
    *,
    prices: Prices | None,
    enough: float,
    doing: str,
) -> Assignment:
    """An assignment whose cost is within the share `enough` of the bound, or as near as an auction comes to it.

    Auctions are held on few arcs of each record, with smaller and smaller steps; after each one all clusters are
    looked at, for the bound and for arcs that are cheaper at its prices. Lower caps are not kept.
    """
    records = np.arange(len(points), dtype=np.int32)
    found = prices or Prices.zero(caps)
    first = min(_FIRST_IN_AUCTION, caps.clusters)
    offers = look_around(points, values, centers, found, np.full(len(points), np.inf), first, run, doing)
    arcs = _join(offers.records, offers.clusters, records, start, caps.clusters)
    auction = Auction(values, caps, start, found)
    begun = cost(points, centers, start)
    best = Assignment(start, begun, 0.0, found, 0)
    step = begun / len(points) * (_STEP if prices is None else _STEP_AT_PRICES)
    idle = 0
    while best.gap > enough * best.cost and idle < _IDLE:
        lengths = pair_distances(points, centers, *arcs)
        order = np.lexsort((lengths + found.of_value[values[arcs[0]], arcs[1]], arcs[0]))
        starts = np.searchsorted(arcs[0], np.arange(len(points) + 1)).astype(np.int64)
        sorted_arcs = Arcs(starts, arcs[1][order], lengths[order])
        if not auction.bid(sorted_arcs, step, _BIDS * len(points), run, doing):
            break
        found = auction.prices()
        lengths = distances(points, centers, auction.cluster)
        pays = lengths + found.of_value[values, auction.cluster]
        offers = look_around(points, values, centers, found, pays - 0.25 * step, _MORE, run, doing)
        bound = float(offers.least.sum()) - found.paid(caps, len(points))
        total = float(lengths.sum())
        before, bound_so_far = best.gap, max(best.bound, bound)
        if total <= best.cost:
            best = Assignment(auction.cluster.copy(), total, bound_so_far, found, 0)
        best = replace(best, bound=bound_so_far)
        idle = 0 if best.gap < 0.95 * before else idle + 1
        arcs = _join(*arcs, offers.records, offers.clusters, caps.clusters)
        if total - bound <= _WITHIN * step * len(points):
            small = enough * total / len(points)
            step = max(step * _NEXT_STEP, small) if step > small else step * _NEXT_SMALL_STEP
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


def _flow(
    arcs: tuple[NDArray[np.int32], NDArray[np.int32]],
    costs: NDArray[np.int64],
    values: NDArray[np.int32],
    caps: Caps,
    solvers: Solvers,
    run: Run,
    doing: str,
) -> NDArray[np.int64]:
    """The arc that each record takes in the cheapest flow.

    Record -> (value, cluster) -> cluster; what a cluster or a cap needs at least is the node's demand, what a cluster
    has beyond that goes on to the rest. A pair that its cap cannot bind needs no node.
    """
    records, clusters = arcs
    n, c = len(values), caps.clusters
    pair = values[records].astype(np.int64) * c + clusters
    wanted = np.bincount(pair, minlength=len(caps.upper) * c).reshape(len(caps.upper), c)
    bound = (wanted > caps.upper[:, None]) | (caps.lower > 0)[:, None]
    pairs = np.flatnonzero(bound.ravel())
    first_cluster = n + len(pairs)
    rest = first_cluster + c
    node = first_cluster + np.tile(np.arange(c), len(caps.upper))
    node[pairs] = n + np.arange(len(pairs))
    extra, room = n - caps.smallest * c, caps.largest - caps.smallest
    lower, upper = caps.lower[pairs // c], caps.upper[pairs // c]
    more = np.arange(c) if extra else np.arange(0)
    supply = np.concatenate(
        [
            np.ones(n, np.int64),
            -lower,
            np.full(c, -(caps.smallest - int(caps.lower.sum())), np.int64),
            np.array([-extra] if extra else [], dtype=np.int64),
        ]
    )
    answer = solvers.flow(
        run,
        doing,
        tail=np.concatenate([records, n + np.arange(len(pairs)), first_cluster + more]).astype(np.int32),
        head=np.concatenate([node[pair], first_cluster + pairs % c, np.full(len(more), rest)]).astype(np.int32),
        capacity=np.concatenate([np.ones(len(records)), upper - lower, np.full(len(more), room)]).astype(np.int64),
        cost=np.concatenate([costs, np.zeros(len(pairs) + len(more), np.int64)]),
        supply=supply,
    )
    return np.flatnonzero(answer["flow"][: len(records)])


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
