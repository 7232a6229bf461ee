"""The node of the lattice, under the ceiling, whose release costs least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.lattice.space import Levels, Space, at_most
from medveil.methods.h_ceiling.objective import Objective, bounds
from medveil.methods.h_ceiling.partition import ROUNDING, ClassPartition, at_node
from medveil.methods.h_ceiling.people import PopulatedPlaces

Step = Callable[[float | None], None]
Ceiling = Literal["record", "mean"]


@outer
def _worst(codes: NDArray[np.int32], losses: NDArray[np.float64], starts: NDArray[np.int64]) -> float:
    """The largest sum over the rows of `codes` of the loss of each code."""
    worst = 0.0
    for i in range(codes.shape[1]):
        total = 0.0
        for j in range(codes.shape[0]):
            total += losses[starts[j] + codes[j, i]]
        worst = max(worst, total)
    return worst


class Degrees:
    """How strongly the nodes of a space generalize people.

        D(r) = mean over quasi-identifiers of (U - L) / (U_max - L_max)    for numbers
                                              (|M| - 1) / (|M_max| - 1)    for categories

    U, L: the ends of the published interval; |M|: the leaves below the published group; with index max: of the whole
    domain. Over whole numbers both are (leaves covered - 1) / (leaves - 1). A node keeps the ceiling h if D(r) <= h
    for everybody (`record`; Lee, Kim, Kim and Chung 2017, definition 1) or on average over people (`mean`); more
    general nodes have no smaller degrees.
    """

    def __init__(self, space: Space, crowd: PopulatedPlaces) -> None:
        self.space = space
        self.crowd = crowd
        sizes = [len(hierarchy.levels[0].groups) for hierarchy in space.hierarchies]
        self._codes = np.ascontiguousarray(crowd.codes, dtype=np.int32)
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    def worst(self, levels: Levels) -> float:
        """The degree of the worst record at a node."""
        losses = np.concatenate([h.losses[level] for h, level in zip(self.space.hierarchies, levels, strict=True)])
        return _worst(self._codes, losses, self._starts) / len(self.space)

    def means(self, nodes: NDArray[np.int8]) -> NDArray[np.float64]:
        """The mean degree over people at each node, one a column."""
        total = np.zeros(nodes.shape[1])
        for hierarchy, codes, levels in zip(self.space.hierarchies, self._codes, nodes, strict=True):
            weights = self.crowd.people / self.crowd.count
            total += np.array([float((loss[codes] * weights).sum()) for loss in hierarchy.losses])[levels]
        return total / len(self.space)

    def of(self, levels: Levels, ceiling: Ceiling) -> float:
        if ceiling == "record":
            return self.worst(levels)
        return float(self.means(np.array([levels], dtype=np.int8).T)[0])

    @cached_property
    def _most(self) -> list[NDArray[np.float64]]:
        """For each quasi-identifier and level, the largest loss of a value that occurs."""
        present = [np.unique(codes) for codes in self._codes]
        return [
            np.array([float(loss[leaves].max()) for loss in hierarchy.losses])
            for hierarchy, leaves in zip(self.space.hierarchies, present, strict=True)
        ]

    def within(self, nodes: NDArray[np.int8], h: float, ceiling: Ceiling) -> NDArray[np.bool_]:
        """Which nodes (one a column, with everything below them) keep the ceiling.

        A node whose columns' worst values could meet in one record keeps it for sure; the others are looked at from
        the most specific upwards, and one that does not keep it rules out everything above.
        """
        if ceiling == "mean":
            return np.asarray(self.means(nodes) <= h + ROUNDING)
        sure = bounds(self._most, nodes) / len(self.space) <= h + ROUNDING
        undecided = ~sure
        kept = sure.copy()
        for number in np.argsort(nodes.sum(axis=0, dtype=np.int64), kind="stable"):
            if not undecided[number]:
                continue
            levels = tuple(int(level) for level in nodes[:, number])
            if self.worst(levels) <= h + ROUNDING:
                kept[number] = True
                undecided[number] = False
            else:
                undecided &= ~np.all(nodes >= nodes[:, number : number + 1], axis=0)
        return kept


Plan = TypeVar("Plan")


@dataclass(frozen=True)
class Filled(Generic[Plan]):
    """A partition with the plan that fills it: what it costs, and its counterfeits."""

    partition: ClassPartition
    plan: Plan
    cost: float
    counterfeits: int

    @property
    def key(self) -> tuple[float, int]:
        """The least cost first, at equal cost the fewest counterfeits."""
        return round(self.cost, 12), self.counterfeits


@dataclass(frozen=True)
class BestNode(Generic[Plan]):
    """The best node; how many keep the ceiling, and how many were looked at and filled."""

    levels: Levels
    filled: Filled[Plan]
    nodes: int
    counted: int
    planned: int


Lack = Callable[[ClassPartition], int]
"""How many counterfeits a partition takes at least; no more specific one takes fewer."""
Fill = Callable[[ClassPartition, int], Filled[Plan] | None]
"""The plan for a partition with at most so many counterfeits, or None."""


class NodeSearch(Generic[Plan]):
    """Nodes of one space, with what they cost.

    A node costs at least the sum over quasi-identifiers of a number that depends on the level alone, and the price of
    the counterfeits that a more general node lacks already. After a first way straight down, the most general node
    that may still beat the best is looked at next: what it lacks raises the bound of everything below it, and rules
    it out where that is more than allowed.
    """

    def __init__(
        self, crowd: PopulatedPlaces, space: Space, objective: Objective, lack: Lack, fill: Fill[Plan]
    ) -> None:
        self.crowd = crowd
        self.space = space
        self.price = objective.price / crowd.count
        self.lack = lack
        self.fill = fill
        self.degrees = Degrees(space, crowd)
        self.by_level = objective.by_level(crowd)

    def nodes(self, h: float, ceiling: Ceiling) -> NDArray[np.int8]:
        """The nodes that keep a ceiling, one a column."""
        every = self.space.every_node()
        return every if h >= 1.0 else every[:, self.degrees.within(every, h, ceiling)]

    def best(self, h: float, ceiling: Ceiling, allowed: int, step: Step) -> BestNode[Plan] | None:
        """The node under the ceiling that costs least, or None where none can be filled."""
        nodes = self.nodes(h, ceiling)
        if not nodes.shape[1]:
            return None
        sweep = _Sweep(self, nodes, allowed, step)
        by_height = np.lexsort((sweep.floor, -nodes.sum(axis=0, dtype=np.int64)))
        sweep.descend(int(by_height[0]))
        for number in by_height.tolist():
            sweep.look(number)
        if sweep.best is None:
            return None
        levels, filled = sweep.best
        return BestNode(levels, filled, nodes.shape[1], sweep.counted, sweep.planned)

    def least_degree(self, ceiling: Ceiling, allowed: int, step: Step) -> float | None:
        """The least h under which some node can be filled with so many counterfeits."""
        nodes = self.space.every_node()
        degrees = np.array([self.degrees.of(tuple(int(level) for level in node), ceiling) for node in nodes.T])
        open_nodes = np.ones(nodes.shape[1], dtype=np.bool_)
        for done, number in enumerate(np.argsort(degrees, kind="stable")):
            if not open_nodes[number]:
                continue
            step(done / nodes.shape[1])
            levels = tuple(int(level) for level in nodes[:, number])
            partition = at_node(self.crowd, levels)
            if self.lack(partition) > allowed:
                open_nodes &= ~at_most(nodes, levels)
            elif self.fill(partition, allowed) is not None:
                return float(degrees[number])
        return None

    def fewest_counterfeits(self, h: float, ceiling: Ceiling, most: int, step: Step) -> int | None:
        """The fewest counterfeits with which some node under the ceiling can be filled.

        More general nodes lack fewer people: the most general ones are looked at first, and those that lack more than
        the fewest so far are passed over with everything below them.
        """
        nodes = self.nodes(h, ceiling)
        open_nodes = np.ones(nodes.shape[1], dtype=np.bool_)
        fewest: int | None = None
        for done, number in enumerate(np.argsort(-nodes.sum(axis=0, dtype=np.int64), kind="stable")):
            if not open_nodes[number]:
                continue
            step(done / nodes.shape[1])
            levels = tuple(int(level) for level in nodes[:, number])
            partition = at_node(self.crowd, levels)
            if fewest is not None and self.lack(partition) >= fewest:
                open_nodes &= ~at_most(nodes, levels)
                continue
            filled = self.fill(partition, fewest - 1 if fewest is not None else most)
            if filled is not None:
                fewest = filled.counterfeits
        return fewest


class _Sweep(Generic[Plan]):
    """One search for the best node: which nodes are open, and the `floor` that none of them can cost less than."""

    def __init__(self, search: NodeSearch[Plan], nodes: NDArray[np.int8], allowed: int, step: Step) -> None:
        self.search = search
        self.nodes = nodes
        self.allowed = allowed
        self.step = step
        self.least = bounds(search.by_level, nodes)
        self.floor = self.least.copy()
        self.open = np.ones(nodes.shape[1], dtype=np.bool_)
        self.best: tuple[Levels, Filled[Plan]] | None = None
        self.counted = self.planned = 0
        self._number = {search.space.id_of(node): i for i, node in enumerate(nodes.T.tolist())}

    def look(self, number: int) -> float | None:
        """Fill a node if it may be better than the best; what it costs, None where it is not filled."""
        if not self.open[number] or self._too_dear(number):
            return None
        self.open[number] = False
        self.step(self.counted / len(self.open))
        levels = tuple(int(level) for level in self.nodes[:, number])
        partition = at_node(self.search.crowd, levels)
        lack = self.search.lack(partition)
        self.counted += 1
        below = at_most(self.nodes, levels)
        if lack > self.allowed:
            self.open &= ~below
            return None
        self.floor[below] = np.maximum(self.floor[below], self.least[below] + self.search.price * lack)
        if self._too_dear(number):
            return None
        self.planned += 1
        filled = self.search.fill(partition, self.allowed)
        if filled is None:
            return None
        if self.best is None or filled.key < self.best[1].key:
            self.best = levels, filled
        return filled.cost

    def _too_dear(self, number: int) -> bool:
        return self.best is not None and bool(self.floor[number] > self.best[1].cost + ROUNDING)

    def descend(self, number: int) -> None:
        """From a node downwards, always to the neighbour that costs least: a good node to measure others by."""
        cost = self.look(number)
        while True:
            levels = tuple(int(level) for level in self.nodes[:, number])
            below = [self._number.get(self.search.space.id_of(node)) for node in self.search.space.below(levels)]
            costs = [(found, node) for node in below if node is not None and (found := self.look(node)) is not None]
            if not costs or (cost is not None and min(costs)[0] >= cost):
                return
            cost, number = min(costs)
