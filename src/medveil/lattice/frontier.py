"""Search of a space whose nodes can be listed: always check a most general undecided node that may beat the best.

A failure decides every more specific node as well, where the requirements allow that. A success improves the best and,
through what it had to suppress, the bound of every more specific node.

Once the best is not improved any more, what is left is proof, and the order in which most general nodes are checked
no longer matters for how many there are. Then nodes are taken group by group, a group being those that agree
in the levels of the widest quasi-identifiers, so that a small table serves each group.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.evaluate import Evaluation, Evaluator
from medveil.lattice.incumbent import Incumbent, Watch
from medveil.lattice.loss import Loss
from medveil.lattice.projections import Pairs
from medveil.lattice.space import Levels, Space, at_most, join, meet

WORKERS = 2
"""Nodes checked at a time; fixed, so that every run checks the same nodes."""

PATIENCE = 16
"""Checks without improvement after which nodes are taken in groups."""

LARGE_GROUP = 32
"""So many undecided nodes are worth a table of their own."""

SMALL_GROUP = 16
"""So many are worth putting the cells in order for them."""

DROP = 0.5
"""Nats of entropy by which a table must be coarser to be worth a try."""


class Undecided:
    """The nodes that may still be the best one, with their bounds."""

    def __init__(self, space: Space, loss: Loss, certain: NDArray[np.int64] | None, allowed: int) -> None:
        self._loss = loss
        self.nodes = space.every_node()
        self.base = loss.bound(self.nodes)
        self.bounds = self.base.copy() if certain is None else loss.bound_hiding(self.nodes, certain)
        self.open = np.ones(space.size, dtype=np.bool_) if certain is None else certain <= allowed
        self._compress()

    def _compress(self) -> None:
        self.nodes = np.ascontiguousarray(self.nodes[:, self.open])
        self.base, self.bounds = self.base[self.open], self.bounds[self.open]
        self.height = self.nodes.sum(axis=0, dtype=np.int32)
        self.open = np.ones(len(self.base), dtype=np.bool_)

    def cut(self, limit: float) -> int:
        """Give up what cannot beat the best; how many are left."""
        self.open &= self.bounds <= limit
        left = int(np.count_nonzero(self.open))
        if left < 0.8 * len(self.open):
            self._compress()
        return left

    def least_bound(self) -> float:
        return float(self.bounds[self.open].min())

    def most_general(self, members: NDArray[np.intp], number: int) -> list[Levels]:
        """The highest of these nodes, of those the one of least bound; then others that are not below it."""
        chosen: list[Levels] = []
        while len(chosen) < number and len(members):
            heights = self.height[members]
            highest = members[heights == heights.max()]
            levels = tuple(int(level) for level in self.nodes[:, highest[np.argmin(self.bounds[highest])]])
            chosen.append(levels)
            members = members[~at_most(self.nodes[:, members], levels)]
        return chosen

    def promising(self, number: int) -> list[Levels]:
        """Most general nodes above the node of least bound, then above the next that they leave undecided."""
        chosen: list[Levels] = []
        free = np.flatnonzero(self.open)
        while len(chosen) < number and len(free):
            lowest = self.nodes[:, free[np.argmin(self.bounds[free])]]
            nodes = self.nodes[:, free]
            above = nodes[0] >= lowest[0]
            for row, level in zip(nodes[1:], lowest[1:], strict=True):
                above &= row >= level
            chosen += self.most_general(free[above], 1)
            free = free[~at_most(nodes, chosen[-1])]
        return chosen

    def rooms(self, levels: Levels, limit: float) -> tuple[float, float]:
        """With how many suppressed records the node, and with how many any undecided one below, is worth nothing."""
        below = np.flatnonzero(at_most(self.nodes, levels) & self.open)
        rooms = self._loss.most_hidden(self.nodes[:, below], limit)
        own = rooms[self.height[below] == sum(levels)]
        return float(own.max(initial=-math.inf)), float(rooms.max(initial=-math.inf))

    def settle(self, evaluation: Evaluation, *, prunes: bool, allowed: int) -> None:
        """Learn from one checked node."""
        below = at_most(self.nodes, evaluation.levels)
        if evaluation.certain > allowed or (prunes and not evaluation.feasible and not evaluation.short):
            self.open &= ~below
            return
        members = np.flatnonzero(below)
        self.open[members[self.height[members] == sum(evaluation.levels)]] = False
        if evaluation.certain:
            nodes = self.nodes[:, members]
            better = self._loss.bound_hiding(nodes, np.full(len(members), evaluation.certain, dtype=np.int64))
            if evaluation.certain_hidden:
                np.maximum(better, self.base[members] + self._loss.excess(evaluation.sure), out=better)
            self.bounds[members] = np.maximum(self.bounds[members], better)


class Groups:
    """Undecided nodes by the levels of those quasi-identifiers that shrink a table most.

    A group is a path of fixed levels. It is left only when none of its nodes is undecided any more, so that the table
    made for it serves for as long as possible.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._entropies = _entropies(evaluator)
        self._path: list[tuple[int, int]] = []
        self._made_for: list[tuple[int, int]] = []

    def members(self, undecided: Undecided) -> NDArray[np.intp]:
        """The undecided nodes of the current group, or of the next where there are none."""
        while True:
            inside = undecided.open.copy()
            for position, level in self._path:
                inside &= undecided.nodes[position] == level
            members = np.flatnonzero(inside)
            if len(members):
                return self._narrow(undecided, members)
            self._path.pop()

    def _narrow(self, undecided: Undecided, members: NDArray[np.intp]) -> NDArray[np.intp]:
        """Fix the highest level of the quasi-identifier whose levels shrink the table most on average, and again."""
        while len(members) >= LARGE_GROUP:
            nodes = undecided.nodes[:, members]
            drops = [e[row.min()] - float(e[row].mean()) for e, row in zip(self._entropies, nodes, strict=True)]
            widest = int(np.argmax(drops))
            if drops[widest] < DROP:
                break
            level = int(nodes[widest].max())
            self._path.append((widest, level))
            members = members[nodes[widest] == level]
            if len(members) >= LARGE_GROUP:
                self._evaluator.focus(meet(undecided.nodes[:, members]))
        if self._path != self._made_for and len(members) >= SMALL_GROUP:
            self._made_for = list(self._path)
            nodes = undecided.nodes[:, members]
            self._evaluator.chunk(meet(nodes), join(nodes))
        return members


def _entropies(evaluator: Evaluator) -> list[NDArray[np.float64]]:
    """For each quasi-identifier and level, the entropy of the records' groups, in nats."""
    found = []
    for hierarchy, column in zip(evaluator.space.hierarchies, evaluator.columns, strict=True):
        shares = [np.bincount(level.groups, column) / evaluator.records for level in hierarchy.levels]
        found.append(np.array([-float((s[s > 0] * np.log(s[s > 0])).sum()) for s in shares]))
    return found


def search_frontier(
    evaluator: Evaluator, space: Space, loss: Loss, allowed: int, incumbent: Incumbent, watch: Watch
) -> float | None:
    """Leave the best node in `incumbent`; the proved bound where time ran out, else None."""
    prunes = evaluator.prunes(allowed)
    groups = Groups(evaluator)

    def check(levels: Levels, worth: float, telling: float) -> Evaluation:
        return evaluator.evaluate(levels, allowed, worth=worth, telling=telling)

    with ThreadPoolExecutor(WORKERS) as executor:
        pairs = Pairs(evaluator, executor)
        undecided = Undecided(space, loss, pairs.certain() if pairs.small else None, allowed)
        while left := undecided.cut(incumbent.cut):
            if watch.expired(1.0 - left / space.size):
                return undecided.least_bound()
            if incumbent.since_better < PATIENCE:
                evaluator.focus(meet(undecided.nodes[:, undecided.open]))
                chosen = undecided.promising(WORKERS)
            else:
                chosen = undecided.most_general(groups.members(undecided), WORKERS)
            rooms = [undecided.rooms(levels, incumbent.cut) for levels in chosen]
            for evaluation in executor.map(check, chosen, *zip(*rooms, strict=True)):
                incumbent.offer(evaluation)
                undecided.settle(evaluation, prunes=prunes, allowed=allowed)
    return None
