"""Search of a space whose nodes can be listed: always check a most general undecided node that may beat the best.

A failure decides every more specific node as well, where the requirements allow that. A success improves the best and,
through what it had to suppress, the bound of every more specific node.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.evaluate import Evaluation, Evaluator
from medveil.lattice.incumbent import Incumbent, Watch
from medveil.lattice.loss import Loss
from medveil.lattice.projections import Pairs
from medveil.lattice.space import Levels, Space, at_most, meet

WORKERS = 2
"""Nodes checked at a time; fixed, so that every run checks the same nodes."""


class _Undecided:
    """The nodes that may still be the best one, with their bounds."""

    def __init__(self, space: Space, loss: Loss, certain: NDArray[np.int64] | None, allowed: int) -> None:
        self.total = space.size
        self._loss = loss
        self._dropped = 0
        self.nodes = space.every_node()
        self.base = loss.bound(self.nodes)
        self.bounds = self.base.copy() if certain is None else loss.bound_hiding(self.nodes, certain)
        self.open = np.ones(self.total, dtype=np.bool_) if certain is None else certain <= allowed
        self._compress()

    def __len__(self) -> int:
        return self.nodes.shape[1]

    def _compress(self) -> None:
        self.nodes = np.ascontiguousarray(self.nodes[:, self.open])
        self.base, self.bounds = self.base[self.open], self.bounds[self.open]
        self.height = self.nodes.sum(axis=0, dtype=np.int32)
        self.open = np.ones(len(self.base), dtype=np.bool_)

    def cut(self, limit: float) -> None:
        """Give up what cannot beat the best."""
        self.open &= self.bounds <= limit
        if np.count_nonzero(self.open) < 0.8 * len(self.open):
            self._compress()

    def least_bound(self) -> float:
        return float(self.bounds[self.open].min())

    def pick(self, number: int) -> list[Levels]:
        """Most general undecided nodes, none below another: first one above the node of least bound, then others."""
        chosen: list[Levels] = []
        free = self.open.copy()
        while len(chosen) < number and free.any():
            candidates = np.flatnonzero(free)
            lowest = candidates[np.argmin(self.bounds[candidates])]
            above = np.ones(len(candidates), dtype=np.bool_)
            for row in self.nodes:
                above &= row[candidates] >= row[lowest]
            candidates = candidates[above]
            heights = self.height[candidates]
            candidates = candidates[heights == heights.max()]
            levels = tuple(int(level) for level in self.nodes[:, candidates[np.argmin(self.bounds[candidates])]])
            chosen.append(levels)
            free &= ~at_most(self.nodes, levels)
        return chosen

    def settle(self, evaluation: Evaluation, *, prunes: bool, allowed: int) -> None:
        """Learn from one checked node."""
        below = at_most(self.nodes, evaluation.levels)
        if evaluation.certain > allowed or (prunes and not evaluation.feasible):
            self.open &= ~below
            return
        self.open[below & (self.height == sum(evaluation.levels))] = False
        if evaluation.certain:
            members = np.flatnonzero(below)
            known = np.full(len(members), evaluation.certain, dtype=np.int64)
            better = self._loss.bound_hiding(self.nodes[:, members], known)
            if evaluation.certain_hidden:
                np.maximum(better, self.base[members] + self._loss.excess(evaluation.sure), out=better)
            self.bounds[members] = np.maximum(self.bounds[members], better)


def search_frontier(
    evaluator: Evaluator, space: Space, loss: Loss, allowed: int, incumbent: Incumbent, watch: Watch
) -> float | None:
    """Leave the best node in `incumbent`; the proved bound where time ran out, else None."""
    prunes = evaluator.prunes(allowed)
    with ThreadPoolExecutor(WORKERS) as executor:
        pairs = Pairs(evaluator, executor)
        undecided = _Undecided(space, loss, pairs.certain() if pairs.small else None, allowed)
        while True:
            undecided.cut(incumbent.cut)
            if not undecided.open.any():
                return None
            if watch.expired(1.0 - np.count_nonzero(undecided.open) / space.size):
                return undecided.least_bound()
            evaluator.focus(meet(undecided.nodes[:, undecided.open]))
            chosen = undecided.pick(WORKERS)
            for evaluation in executor.map(lambda levels: evaluator.evaluate(levels, allowed), chosen):
                incumbent.offer(evaluation)
                undecided.settle(evaluation, prunes=prunes, allowed=allowed)
