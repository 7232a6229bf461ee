"""The same optimum as the best-first search, most general first."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.errors import PolicyError
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.projections import Pairs
from medveil.lattice.search import MOST_LISTED
from medveil.lattice.space import Levels, Space, at_most, meet
from medveil.methods.iab.by_level import ByLevel
from medveil.methods.iab.table import FullTable

SLACK = 1e-9


@dataclass(frozen=True)
class FastSearched:
    """The safe table with most rows, None where there is none; tables checked, rows counted, and whether no open
    table can be better.
    """

    levels: Levels | None
    rows: int
    checked: int
    counted: int
    finished: bool


class _Open:
    """The nodes that may still be best, with the most rows that each can have."""

    def __init__(self, space: Space, table: FullTable, most: int, possible: NDArray[np.bool_] | None) -> None:
        self.nodes = space.every_node()
        self.height = self.nodes.sum(axis=0, dtype=np.int32)
        logs = np.full(space.size, np.log(table.rest_size))
        for position, hierarchy in enumerate(table.hierarchies):
            codes = table.cells.codes[position]
            groups = [np.log(len(np.unique(level.groups[codes]))) for level in hierarchy.levels]
            logs += np.array(groups)[self.nodes[position]]
        self.most = np.exp(np.minimum(logs, np.log(most)))
        self.open = np.ones(space.size, dtype=np.bool_) if possible is None else possible

    def cut(self, rows: int) -> NDArray[np.intp]:
        """Give up what cannot have more rows; what is left."""
        self.open &= self.most * (1.0 + SLACK) >= rows + 1
        return np.flatnonzero(self.open)

    def chain(self, left: NDArray[np.intp]) -> list[Levels]:
        """From a most general open node down to the open node that may have most rows, one level at a time."""
        lowest = left[np.lexsort((self.height[left], -self.most[left]))[0]]
        low = self.nodes[:, lowest]
        above = left[(self.nodes[:, left] >= low[:, None]).all(axis=0)]
        highest = above[np.lexsort((-self.most[above], -self.height[above]))[0]]
        levels = self.nodes[:, highest].copy()
        chain = [tuple(int(level) for level in levels)]
        for position, level in enumerate(low):
            while levels[position] > level:
                levels[position] -= 1
                chain.append(tuple(int(at) for at in levels))
        return chain

    def failed(self, levels: Levels) -> None:
        self.open &= ~at_most(self.nodes, levels)

    def succeeded(self, levels: Levels) -> None:
        """Nothing above has more rows."""
        above = self.nodes[0] >= levels[0]
        for row, level in zip(self.nodes[1:], levels[1:], strict=True):
            above &= row >= level
        self.open &= ~above


def search_fast(table: FullTable, *, time_limit: float, tell: Callable[[float], None]) -> FastSearched:
    """The node with most rows, for requirements that survive merging.

    Always take a chain from a most general open node down to the one that may have most rows. If its most general node
    violates a requirement, so does everything below it; one check decides them all. Otherwise halve the chain until its
    most specific safe node is known: what lies below it violates, what lies above has no more rows. A node has no more
    rows than there are combinations of its groups; pairs of attributes rule out most nodes before any check.
    """
    deadline = time.monotonic() + time_limit
    recoding = ByLevel(table)
    names = table.cells.quasi
    space = Space.of(table.hierarchies, table.bottom, recoding.summit(), names)
    if space.size > MOST_LISTED:
        raise PolicyError(
            f"The levels of the shields have {space.size:,} combinations, more than can be listed.",
            "Hold columns between 'min_level' and 'max_level', or use the method optimal.",
        )
    evaluator = Evaluator(table.cells, space, table.requirements, reference=table.reference)
    with ThreadPoolExecutor(2) as executor:
        pairs = Pairs(evaluator, executor.map)
    opened = _Open(space, table, recoding.rows(space.bottom), pairs.certain() == 0 if pairs.small else None)
    best, rows, checked, counted = None, 0, 0, 1
    while len(left := opened.cut(rows)):
        tell(1.0 - len(left) / space.size)
        if best is not None and time.monotonic() >= deadline:
            break
        evaluator.focus(meet(opened.nodes[:, left]))
        chain = opened.chain(left)
        # `safe` is the last node of the chain known to be safe, `unsafe` the first known not to be.
        safe, unsafe, at = -1, len(chain), 0
        while safe + 1 < unsafe:
            checked += 1
            if evaluator.evaluate(chain[at], 0).feasible:
                safe = at
            else:
                unsafe = at
                opened.failed(chain[at])
            at = (safe + unsafe) // 2
        if safe >= 0:
            counted += 1
            found = recoding.rows(chain[safe])
            if found > rows:
                best, rows = chain[safe], found
            opened.succeeded(chain[safe])
    return FastSearched(best, rows, checked, counted, finished=not len(left))
