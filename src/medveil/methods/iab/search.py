"""Best-first search over generalized tables, in three orders: the paper's own, and the two it is compared with."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic

from medveil.methods.iab.recoding import Measured, Moves, State, TableRecoding

Key = tuple[int, ...]
CHECKED = 64
"""Progress is told once in so many tables."""
DIVE_SHARE, DIVE_SECONDS = 0.25, 1.0
"""What a search that found nothing in time may add to end with something: a share of its limit, a second at least."""


@dataclass
class Node(Generic[State]):
    """One generated table: its place in the search tree, and when it was expanded, counted from 1 (0: never)."""

    number: int
    parent: int | None
    position: int | None
    steps: int
    state: State
    measured: Measured
    expanded: int = 0

    @property
    def safe(self) -> bool:
        return self.measured.violating == 0


@dataclass(frozen=True)
class Order:
    """How a search goes on: which table is expanded next, and when it ends.

    key: the open table with the least key is expanded. moves: the steps that are taken; with all of them, safe tables
    are expanded too, and nothing is cut. first: the search ends with the expansion that finds a safe table.
    """

    key: Callable[[Node[Any]], Key]
    moves: Moves = Moves.VIOLATING
    first: bool = False

    @property
    def every(self) -> bool:
        return self.moves is Moves.EVERY


MOST_ROWS = Order(
    lambda node: (-node.measured.rows, node.measured.violating, node.steps, node.number), moves=Moves.NEEDED
)
FEWEST_VIOLATIONS = Order(
    lambda node: (node.measured.violating, -node.measured.rows, node.steps, node.number), first=True
)
EVERYTHING = Order(lambda node: (node.steps, node.number), moves=Moves.EVERY)


@dataclass(frozen=True)
class Searched(Generic[State]):
    """The search tree; the best table, None where none is safe; how many tables were generated, the root not counted,
    and expanded; and whether the search came to its end.
    """

    nodes: list[Node[State]]
    best: Node[State] | None
    generated: int
    expanded: int
    finished: bool


def search(
    recoding: TableRecoding[State], order: Order, *, time_limit: float, tell: Callable[[int], None]
) -> Searched[State]:
    """The safe table with most rows, of several the first found.

    Generalizing never adds rows. So a safe table is not expanded, and one with no more rows than the best safe table
    is cut: what comes of it cannot be better. After the time limit the best table so far is taken; where there is
    none yet, a dive takes the first safe table on its way up, and the dive's tree is the one that is kept.
    """
    deadline = time.monotonic() + time_limit
    found = _Search(recoding, order, deadline, tell).run()
    if found.finished or found.best is not None:
        return found
    second = _Search(recoding, FEWEST_VIOLATIONS, deadline + max(DIVE_SHARE * time_limit, DIVE_SECONDS), tell).dive()
    return replace(
        second,
        generated=found.generated + second.generated,
        expanded=found.expanded + second.expanded,
        finished=False,
    )


class _Search(Generic[State]):
    def __init__(
        self, recoding: TableRecoding[State], order: Order, deadline: float, tell: Callable[[int], None]
    ) -> None:
        self._recoding = recoding
        self._order = order
        self._deadline = deadline
        self._tell = tell
        self._nodes: list[Node[State]] = []
        self._seen: set[State] = set()
        self._open: list[tuple[Key, Node[State]]] = []
        self._best: Node[State] | None = None
        self._expanded = 0

    def run(self) -> Searched[State]:
        self._generate(self._recoding.root(), None, None)
        finished = True
        while self._open and finished:
            _, node = heapq.heappop(self._open)
            if self._cut(node):
                continue
            finished = self._expand(node)
            if self._order.first and self._best is not None:
                break
        return self._searched(finished=finished)

    def dive(self) -> Searched[State]:
        """From the root always on with the best of the tables that one step makes, up to one that is safe.

        Every step goes up, so that this ends soon; where even that is too late, the most general table is taken.
        """
        node = self._generate(self._recoding.root(), None, None)
        while self._best is None:
            before = len(self._nodes)
            in_time = self._expand(node)
            if self._best is not None or not in_time or len(self._nodes) == before:
                break
            node = min(self._nodes[before:], key=self._order.key)
        summit = self._recoding.summit()
        if self._best is None and summit not in self._seen:
            self._generate(summit, node, None)
        return self._searched(finished=False)

    def _searched(self, *, finished: bool) -> Searched[State]:
        return Searched(self._nodes, self._best, len(self._nodes) - 1, self._expanded, finished)

    def _cut(self, node: Node[State]) -> bool:
        best = self._best
        return not self._order.every and best is not None and node.measured.rows <= best.measured.rows

    def _expand(self, node: Node[State]) -> bool:
        """Generate what one step makes of a table; False where time ran out."""
        if time.monotonic() >= self._deadline:
            return False
        self._expanded += 1
        node.expanded = self._expanded
        for position, state in self._recoding.steps(node.state, node.measured, self._order.moves):
            if time.monotonic() >= self._deadline:
                return False
            if state not in self._seen:
                self._generate(state, node, position)
        return True

    def _generate(self, state: State, parent: Node[State] | None, position: int | None) -> Node[State]:
        self._seen.add(state)
        node = Node(
            number=len(self._nodes),
            parent=None if parent is None else parent.number,
            position=position,
            steps=0 if parent is None else parent.steps + 1,
            state=state,
            measured=self._recoding.measure(state),
        )
        self._nodes.append(node)
        if len(self._nodes) % CHECKED == 1:
            self._tell(len(self._nodes))
        if node.safe and (self._best is None or node.measured.rows > self._best.measured.rows):
            self._best = node
        if not node.safe or self._order.every:
            heapq.heappush(self._open, (self._order.key(node), node))
        return node
