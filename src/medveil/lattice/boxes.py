"""Search of a space with too many nodes to list: branch and bound over boxes of nodes.

A box holds every node between its lowest and its highest one. If the highest node fails, where failures rule out what
is more specific, the box is gone; and what the highest node must suppress every node of the box must. So one check
of the highest node and the column counts of the lowest give a bound for the whole box. The box of least bound is cut in
two, again and again, until no box can beat the best node found, or time is up.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from medveil.lattice.checker import Checker, Evaluation
from medveil.lattice.incumbent import Incumbent, StoppingRule
from medveil.lattice.loss import Loss
from medveil.lattice.projections import Pairs
from medveil.lattice.space import Levels, Space


@dataclass(frozen=True)
class _Box:
    """All nodes from `low` to `high`; `certain` records are suppressed by all, which adds at least `excess`."""

    low: Levels
    high: Levels
    certain: int
    excess: float

    def bound(self, loss: Loss) -> float:
        base = float(loss.bound(np.array(self.low, dtype=np.int8)[:, None])[0])
        return max(loss.bound_between(self.low, self.high, self.certain), base + self.excess)


class BoxSearch:
    """One search; `bound` is proved for every node that is not decided yet."""

    def __init__(
        self, evaluator: Checker, space: Space, loss: Loss, allowed: int, incumbent: Incumbent, watch: StoppingRule
    ) -> None:
        self._evaluator = evaluator
        self._space = space
        self._loss = loss
        self._allowed = allowed
        self._incumbent = incumbent
        self._watch = watch
        self._prunes = evaluator.prunes(allowed)
        self._seen: dict[Levels, Evaluation] = {}
        self._numbers = itertools.count()
        self._queue: list[tuple[float, int, _Box]] = []

    def run(self) -> float | None:
        """Leave the best node in the incumbent; the proved bound where time ran out, else None."""
        with ThreadPoolExecutor(self._evaluator.workers) as executor:
            self._pairs = Pairs(self._evaluator, executor.map)
            self._evaluator.focus(self._space.bottom)
            self._push(self._space.bottom, self._check(self._space.top))
            if self._queue:
                self._improve()
            while self._queue and self._queue[0][0] <= self._incumbent.cut:
                if self._watch.expired(0.0):
                    return self._queue[0][0]
                cuts = [
                    self._cut(heapq.heappop(self._queue)[2])
                    for _ in range(min(self._evaluator.workers, len(self._queue)))
                ]
                highs = [lower.high for lower, _ in cuts]
                for (lower, upper), evaluation in zip(cuts, executor.map(self._check, highs), strict=True):
                    self._queue_box(upper)
                    self._push(lower.low, evaluation)
                    self._offer(evaluation)
        return None

    def _check(self, levels: Levels) -> Evaluation:
        """Check a node once; where pairs already rule it out, not at all."""
        known = self._seen.get(levels)
        if known is not None:
            return known
        certain = self._pairs.certain_at(levels)
        if certain > self._allowed:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        return self._evaluator.evaluate(levels, self._allowed)

    def _offer(self, evaluation: Evaluation) -> None:
        if evaluation.levels not in self._seen:
            self._seen[evaluation.levels] = evaluation
            self._incumbent.offer(evaluation)

    def _push(self, low: Levels, high: Evaluation) -> None:
        """Queue what a checked highest node leaves of its box."""
        self._offer(high)
        fails = high.certain > self._allowed or (self._prunes and not high.feasible)
        if fails or low == high.levels:
            return
        excess = self._loss.excess(high.sure) if high.certain_hidden else 0.0
        self._queue_box(_Box(low, high.levels, high.certain, excess))

    def _queue_box(self, box: _Box) -> None:
        if box.low != box.high or box.high not in self._seen:
            bound = box.bound(self._loss)
            if bound <= self._incumbent.cut:
                heapq.heappush(self._queue, (bound, next(self._numbers), box))

    def _cut(self, box: _Box) -> tuple[_Box, _Box]:
        """Two boxes, cut where the quasi-identifier that spans most loss has its middle level.

        The upper one keeps the highest node, and with it what is known of it.
        """
        low, high = np.array(box.low, dtype=np.int8), np.array(box.high, dtype=np.int8)
        raised = np.repeat(low[:, None], len(low), axis=1)
        np.fill_diagonal(raised, high)
        spans = self._loss.bound(raised)
        spans[low == high] = -1.0
        position = int(np.argmax(spans))
        middle = (box.low[position] + box.high[position]) // 2
        lower_high = (*box.high[:position], middle, *box.high[position + 1 :])
        upper_low = (*box.low[:position], middle + 1, *box.low[position + 1 :])
        return (
            _Box(box.low, lower_high, box.certain, 0.0),
            _Box(upper_low, box.high, box.certain, box.excess),
        )

    def _improve(self) -> None:
        """Go down from the best node while that helps, or trade a level of one quasi-identifier for another's."""
        if self._incumbent.rank is None:
            return
        better = True
        while better:
            better = False
            best = self._incumbent.rank
            for levels in self._neighbours(best[2]):
                if self._watch.expired(0.0):
                    return
                self._offer(self._check(levels))
                if self._incumbent.rank != best:
                    better = True
                    break

    def _neighbours(self, levels: Levels) -> Iterator[Levels]:
        """Nodes one level down, or one down and one up, that may beat the best: those of least bound first."""
        found = set(self._space.below(levels))
        for lower in list(found):
            found.update(self._space.above(lower))
        nodes = sorted(found - self._seen.keys())
        if nodes:
            bounds = self._loss.bound(np.array(nodes, dtype=np.int8).T)
            for number in np.argsort(bounds, kind="stable"):
                if bounds[number] <= self._incumbent.cut:
                    yield nodes[number]
