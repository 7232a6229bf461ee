"""Search of a space whose nodes can be listed: always check a most general undecided node that may beat the best.

A failure decides every more specific node as well, where the requirements allow that. A success improves the best and,
through what it had to suppress, the bound of every more specific node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.lattice import kernels
from medveil.lattice.checker import Checker, Evaluation
from medveil.lattice.incumbent import Incumbent, StoppingRule
from medveil.lattice.loss import Loss
from medveil.lattice.projections import Pairs
from medveil.lattice.space import Levels, Space, at_most, meet

PATIENCE = 8
"""Checks without improvement after which all that is left is taken to be proof."""

READ_IN_VAIN = 4.0
"""Chunks are made once failures have cost as much as reading the whole table so many times."""

MANY, FEW = 64, 8
"""So many undecided nodes that are alike are worth a table of their own, so few chunks of one."""

ANY = (math.inf, math.inf)
"""Any number of suppressed records is worth knowing exactly."""

FOCUSED = 0.95
"""Cells are merged for what all undecided nodes have in common once so few are left of those of the last time."""

CHUNK_ENTROPY = 5.0
"""Nats: enough chunks for failures to show early."""


class Undecided:
    """The nodes that may still be the best one, with their bounds."""

    def __init__(self, space: Space, loss: Loss, certain: NDArray[np.int64] | None, allowed: int) -> None:
        self._loss = loss
        self.nodes = space.every_node()
        self.base = loss.bound(self.nodes)
        self.added = loss.least_added(self.nodes)
        self.bounds = self.base.copy() if certain is None else loss.bound_hiding(self.nodes, certain)
        self.open = np.ones(space.size, dtype=np.bool_) if certain is None else certain <= allowed
        self._compress()

    def _compress(self) -> None:
        self.nodes = np.ascontiguousarray(self.nodes[:, self.open])
        self.base, self.bounds = self.base[self.open], self.bounds[self.open]
        self.added = None if self.added is None else self.added[self.open]
        self.height = self.nodes.sum(axis=0, dtype=np.int32)
        self.open = np.ones(len(self.base), dtype=np.bool_)

    def cut(self, limit: float) -> int:
        """Give up what cannot beat the best; how many are left."""
        self.open &= self.bounds <= limit
        left = int(np.count_nonzero(self.open))
        if left < 0.8 * len(self.open):
            self._compress()
        return left

    def meet(self, positions: Sequence[int] = (), levels: Levels | None = None) -> tuple[int, Levels]:
        """How many of the nodes agree with these levels at some positions, and the most general node below them."""
        like = np.zeros(len(self.nodes), dtype=np.int8) if levels is None else np.array(levels, dtype=np.int8)
        least = np.full(len(self.nodes), 127, dtype=np.int8)
        number = kernels.meet_alike(self.nodes, np.array(positions, dtype=np.int64), like, self.open, least)
        return int(number), tuple(least.tolist())

    def least_bound(self) -> float:
        return float(self.bounds[self.open].min())

    def put_in_order(self, order: Sequence[int]) -> None:
        """Put the nodes in the lexicographic order of these quasi-identifiers."""
        sorting = np.lexsort(self.nodes[list(reversed(order))])
        self.open = self.open[sorting]
        self.nodes = np.ascontiguousarray(self.nodes[:, sorting])
        self.base, self.bounds, self.height = self.base[sorting], self.bounds[sorting], self.height[sorting]
        self.added = None if self.added is None else self.added[sorting]

    def last(self, number: int) -> list[Levels]:
        """The last of the nodes, and others before them that are not below one another.

        In a lexicographic order the last is a most general one. When all that is left is proof, the order does not
        change how many checks that takes, but neighbours in this one are served well by the same chunks of cells.
        """
        chosen: list[Levels] = []
        free = self.open
        while len(chosen) < number:
            last = len(free) - 1 - int(free[::-1].argmax())
            if not free[last]:
                break
            chosen.append(tuple(self.nodes[:, last].tolist()))
            if len(chosen) < number:
                free = free & ~at_most(self.nodes, chosen[-1])
        return chosen

    def promising(self, number: int) -> list[Levels]:
        """Most general nodes above the node of least bound, then above the next that they leave undecided."""
        chosen: list[Levels] = []
        free = self.open
        while len(chosen) < number:
            best = int(np.where(free, self.bounds, np.inf).argmin())
            if not free[best]:
                break
            above = np.flatnonzero((self.nodes >= self.nodes[:, best : best + 1]).all(axis=0) & free)
            heights = self.height[above]
            highest = above[heights == heights.max()]
            chosen.append(tuple(self.nodes[:, highest[self.bounds[highest].argmin()]].tolist()))
            if len(chosen) < number:
                free = free & ~at_most(self.nodes, chosen[-1])
        return chosen

    def rooms(self, levels: Levels, limit: float) -> tuple[float, float]:
        """With how many suppressed records the node, and with how many any undecided one below, is worth nothing."""
        if self.added is None:
            return ANY
        at = np.array(levels, dtype=np.int8)
        return kernels.most_added(self.nodes, at, self.added, self.base, limit, self.open)

    def settle(self, evaluation: Evaluation, *, prunes: bool, allowed: int) -> None:
        """Learn from one checked node."""
        fails = evaluation.certain > allowed or (prunes and not evaluation.feasible and not evaluation.short)
        least = self._loss.excess(evaluation.sure) if evaluation.certain_hidden and not fails else 0.0
        at = np.array(evaluation.levels, dtype=np.int8)
        certain = evaluation.certain
        added = self.added
        if added is None:
            # What is added for one record depends on how many there are, so it is added once.
            added, certain = self._added(evaluation) if certain and not fails else np.zeros(len(self.base)), 1
        kernels.learn(self.nodes, at, fails, certain, added, least, self.base, self.bounds, self.open)

    def _added(self, evaluation: Evaluation) -> NDArray[np.float64]:
        """What so many suppressed records add to the bound of each node below the one that suppresses them."""
        added = np.zeros(len(self.base))
        below = np.flatnonzero(at_most(self.nodes, evaluation.levels))
        certain = np.full(len(below), evaluation.certain, dtype=np.int64)
        added[below] = self._loss.bound_hiding(self.nodes.take(below, axis=1), certain) - self.base[below]
        return added


class Chunking:
    """Keeps tables, and cells in chunks, that suit the nodes to be checked next.

    Nodes are alike if they agree in the quasi-identifiers of most entropy. Putting cells in order costs as much as a
    few whole checks, and pays where nodes fail: so it is done, and done again, after failures have cost that much.
    """

    def __init__(self, evaluator: Checker) -> None:
        self._sizes = evaluator.sizes
        self._focus = evaluator.focus
        self._entropies = _entropies(evaluator)
        self._heights = tuple(hierarchy.height for hierarchy in evaluator.space.hierarchies)
        self.order = sorted(range(len(self._heights)), key=lambda position: -self._entropies[position][0])
        """Quasi-identifiers by falling entropy."""
        self._alike: tuple[Levels, list[int]] = ((), [])

    def prepare(self, levels: Levels, undecided: Undecided) -> None:
        """Have a small table, and chunks of cells, for this node and for those like it, where that is worth it."""
        sizes = self._sizes
        if sizes is None:
            return
        agreeing = self._agreeing(levels, undecided)
        if sizes.read_in_vain(levels) >= READ_IN_VAIN:
            alike = undecided.nodes.compress(undecided.open, axis=1)
            for position in agreeing:
                alike = alike.compress(alike[position] == levels[position], axis=1)
            high, served = self._join(levels, alike)
            if served >= FEW and high != self._heights and not sizes.has_chunks(high):
                sizes.chunk(meet(alike), high)

    def _agreeing(self, levels: Levels, undecided: Undecided) -> list[int]:
        """The quasi-identifiers of most entropy in which many nodes agree with this one, for which cells are ready."""
        decisive = tuple(levels[position] for position in self.order[:2])
        if self._alike[0] != decisive:
            agreeing: list[int] = []
            for position in self.order[:2]:
                number, lowest = undecided.meet([*agreeing, position], levels)
                if number < MANY:
                    break
                agreeing.append(position)
                self._focus(lowest)
            self._alike = (decisive, agreeing)
        return self._alike[1]

    def _join(self, levels: Levels, nodes: NDArray[np.int8]) -> tuple[Levels, int]:
        """A node above this one that makes many chunks and lies above many of the others, and above how many.

        Starting from the top, one quasi-identifier after the other is lowered: the one, and to the level, for which
        entropy times the number of nodes that still lie below is largest.
        """
        high = list(self._heights)
        total = 0.0
        while total < CHUNK_ENTROPY:
            best = (0.0, 0, 0)
            for position, (level, entropies) in enumerate(zip(levels, self._entropies, strict=True)):
                if high[position] < len(entropies) - 1:
                    continue
                below = np.bincount(nodes[position], minlength=len(entropies)).cumsum()
                for candidate in range(level, len(entropies) - 1):
                    gain = min(float(entropies[candidate]), 2.0) * int(below[candidate])
                    best = max(best, (gain, position, candidate))
            gain, position, candidate = best
            if gain == 0.0:
                break
            served = nodes[:, nodes[position] <= candidate]
            if total > 0.0 and served.shape[1] < 0.5 * nodes.shape[1]:
                break
            high[position], nodes = candidate, served
            total += float(self._entropies[position][candidate])
        return tuple(high), nodes.shape[1]


def _entropies(evaluator: Checker) -> list[NDArray[np.float64]]:
    """For each quasi-identifier and level, the entropy of the records' groups, in nats."""
    found = []
    for hierarchy, column in zip(evaluator.space.hierarchies, evaluator.columns, strict=True):
        shares = [np.bincount(level.groups, column) / evaluator.records for level in hierarchy.levels]
        found.append(np.array([-float((s[s > 0] * np.log(s[s > 0])).sum()) for s in shares]))
    return found


def search_frontier(
    evaluator: Checker, space: Space, loss: Loss, allowed: int, incumbent: Incumbent, watch: StoppingRule
) -> float | None:
    """Leave the best node in `incumbent`; the proved bound where time ran out, else None."""
    prunes = evaluator.prunes(allowed)
    chunking = Chunking(evaluator)

    def check(levels: Levels, worth: float, telling: float) -> Evaluation:
        return evaluator.evaluate(levels, allowed, worth=worth, telling=telling)

    with ExitStack() as stack:
        workers = evaluator.workers
        run: Callable[..., Iterable[Any]] = map
        if workers > 1:
            run = stack.enter_context(ThreadPoolExecutor(workers)).map
        pairs = Pairs(evaluator, run)
        undecided = Undecided(space, loss, pairs.certain() if pairs.small else None, allowed)
        focused, proving = space.size + 1.0, False
        while left := undecided.cut(incumbent.cut):
            if watch.expired(1.0 - left / space.size):
                return undecided.least_bound()
            if left < FOCUSED * focused:
                focused = left
                evaluator.focus(undecided.meet()[1])
            if incumbent.since_better < PATIENCE:
                chosen = undecided.promising(workers)
            else:
                if not proving:
                    proving = True
                    undecided.put_in_order(chunking.order)
                chosen = undecided.last(workers)
                chunking.prepare(chosen[0], undecided)
            rooms = [undecided.rooms(levels, incumbent.cut) if evaluator.asks_worth else ANY for levels in chosen]
            for evaluation in run(check, chosen, *zip(*rooms, strict=True)):
                incumbent.offer(evaluation)
                undecided.settle(evaluation, prunes=prunes, allowed=allowed)
    return None
