"""The node of the lattice, under the ceiling, whose release reconstructs the records best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.rank import fold, rank
from medveil.lattice.space import Levels, Space, at_most
from medveil.loss.reconstruction import errors_by_level
from medveil.methods.h_ceiling.degree import Degrees
from medveil.methods.h_ceiling.holdings import Codes, Holdings, Tuples, people_of
from medveil.methods.h_ceiling.plan import Plan, cost
from medveil.methods.h_ceiling.planner import Planner

Step = Callable[[float | None], None]


@dataclass(frozen=True)
class Found:
    """The best node, its plan and RCE; how many nodes keep the ceiling, and how many were counted and planned."""

    levels: Levels
    holdings: Holdings
    plan: Plan
    error: float
    degree: float
    nodes: int
    counted: int
    planned: int


class NodeSearch:
    """Nodes of one space, with what they cost.

    RCE of a node is at least the sum over quasi-identifiers of a number that depends on the level alone. A node where
    the classes lack more people than counterfeits are allowed rules out every more specific one. So the most general
    node that may still beat the best is counted next: where it fails everything below it goes, where it succeeds
    every node with a larger bound goes.
    """

    def __init__(self, cells: Cells, tuples: Tuples, space: Space, planner: Planner) -> None:
        self.cells = cells
        self.tuples = tuples
        self.space = space
        self.planner = planner
        self.degrees = Degrees(space, cells.codes)
        columns = [
            np.bincount(codes, cells.counts, minlength=len(hierarchy.levels[0].groups)).astype(np.int64)
            for codes, hierarchy in zip(cells.codes, space.hierarchies, strict=True)
        ]
        self._errors = errors_by_level(space.hierarchies, columns)
        self._bare = cells if cells.subjects is not None else _without_sensitive(cells, space)

    def nodes(self, h: float) -> NDArray[np.int8]:
        """The nodes that keep a ceiling, one a column."""
        every = self.space.every_node()
        return every if h >= 1.0 else every[:, self.degrees.within(every, h)]

    def bounds(self, nodes: NDArray[np.int8]) -> NDArray[np.float64]:
        """No release at a node has a smaller RCE."""
        total = np.zeros(nodes.shape[1])
        for by_level, levels in zip(self._errors, nodes, strict=True):
            total += by_level[levels]
        return total / (len(self.space) + len(self.cells.sensitive))

    def classes(self, cells: Cells, levels: Levels) -> tuple[Codes, NDArray[np.int64]]:
        """The class of each cell at a node, and a cell of each class."""
        lookups = [
            np.ascontiguousarray(h.levels[level].groups)
            for h, level in zip(self.space.hierarchies, levels, strict=True)
        ]
        radices = [len(h.levels[level].labels) for h, level in zip(self.space.hierarchies, levels, strict=True)]
        keys, key_space = fold(list(cells.codes), lookups, radices, len(cells))
        return rank(keys, key_space)

    def missing(self, levels: Levels) -> int:
        """How many people the classes of a node lack."""
        class_of_cell, first = self.classes(self._bare, levels)
        return self.planner.missing(people_of(self._bare, class_of_cell, len(first)))

    def holdings(self, levels: Levels) -> Holdings:
        """What the classes of a node hold."""
        class_of_cell, first = self.classes(self.cells, levels)
        chosen = [h.levels[level] for h, level in zip(self.space.hierarchies, levels, strict=True)]
        groups = np.stack([c.groups[codes[first]] for c, codes in zip(chosen, self.cells.codes, strict=True)])
        points = np.stack([c.covered[g] for c, g in zip(chosen, groups, strict=True)])
        return Holdings(self.cells, self.tuples, class_of_cell, groups.astype(np.int32), points)

    def best(self, h: float, allowed: int, random: np.random.Generator, step: Step) -> Found | None:
        """The node under the ceiling with the least RCE, or None where none can be filled."""
        nodes = self.nodes(h)
        if not nodes.shape[1]:
            return None
        bounds = self.bounds(nodes)
        heights = nodes.sum(axis=0, dtype=np.int64)
        open_nodes = np.ones(nodes.shape[1], dtype=np.bool_)
        best: Found | None = None
        counted = planned = 0
        while open_nodes.any():
            step(1.0 - float(np.count_nonzero(open_nodes)) / len(open_nodes))
            candidates = np.flatnonzero(open_nodes)
            number = int(candidates[np.lexsort((bounds[candidates], -heights[candidates]))[0]])
            open_nodes[number] = False
            levels = tuple(int(level) for level in nodes[:, number])
            counted += 1
            if self.missing(levels) > allowed:
                open_nodes &= ~at_most(nodes, levels)
                continue
            planned += 1
            holdings = self.holdings(levels)
            plan = self.planner.plan(holdings, allowed, random)
            if plan is None:
                continue
            error = float(bounds[number]) + cost(holdings, plan).error
            if best is None or error < best.error:
                best = Found(levels, holdings, plan, error, 0.0, nodes.shape[1], counted, planned)
                open_nodes &= bounds < error
        if best is None:
            return None
        degree = self.degrees.of(best.levels)
        return Found(best.levels, best.holdings, best.plan, best.error, degree, nodes.shape[1], counted, planned)

    def least_degree(self, allowed: int, random: np.random.Generator, step: Step) -> float | None:
        """The least h under which some node can be filled with so many counterfeits."""
        nodes = self.space.every_node()
        degrees = np.array([self.degrees.of(tuple(int(level) for level in node)) for node in nodes.T])
        open_nodes = np.ones(nodes.shape[1], dtype=np.bool_)
        for done, number in enumerate(np.argsort(degrees, kind="stable")):
            if not open_nodes[number]:
                continue
            step(done / nodes.shape[1])
            levels = tuple(int(level) for level in nodes[:, number])
            if self.missing(levels) > allowed:
                open_nodes &= ~at_most(nodes, levels)
            elif self.planner.plan(self.holdings(levels), allowed, random) is not None:
                return float(degrees[number])
        return None

    def fewest_counterfeits(self, h: float, random: np.random.Generator, step: Step) -> int | None:
        """The fewest counterfeits with which some node under the ceiling can be filled.

        More general nodes lack fewer people: the most general ones are looked at first, and those that lack more than
        the fewest so far are passed over with everything below them.
        """
        nodes = self.nodes(h)
        open_nodes = np.ones(nodes.shape[1], dtype=np.bool_)
        fewest: int | None = None
        for done, number in enumerate(np.argsort(-nodes.sum(axis=0, dtype=np.int64), kind="stable")):
            if not open_nodes[number]:
                continue
            step(done / nodes.shape[1])
            levels = tuple(int(level) for level in nodes[:, number])
            if fewest is not None and self.missing(levels) >= fewest:
                open_nodes &= ~at_most(nodes, levels)
                continue
            unlimited = fewest - 1 if fewest is not None else self.planner.k * len(self.cells) + self.cells.records
            plan = self.planner.plan(self.holdings(levels), unlimited, random)
            if plan is not None:
                fewest = plan.counterfeits
        return fewest


def _without_sensitive(cells: Cells, space: Space) -> Cells:
    """Distinct tuples of quasi-identifiers alone: sizes of classes need no more."""
    sizes = [len(h.levels[0].groups) for h in space.hierarchies]
    keys, key_space = fold(list(cells.codes), [np.arange(n, dtype=np.int32) for n in sizes], sizes, len(cells))
    ranks, first = rank(keys, key_space)
    counts = np.bincount(ranks, cells.counts, minlength=len(first)).astype(np.int64)
    return Cells(cells.quasi, np.ascontiguousarray(cells.codes[:, first]), counts, {}, cells.domains)
