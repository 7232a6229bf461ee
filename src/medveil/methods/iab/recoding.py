"""What a generalized table is to a search: a state, what it measures, and the steps that lead on from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.iab.table import FullTable

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True)
class Measured:
    """Of one generalized table: its distinct rows, how many of them violate requirements, and which ones these are."""

    rows: int
    violating: int
    violated: tuple[int, ...]


class Moves(Enum):
    """Which steps are taken from a table."""

    EVERY = auto()
    """All there are."""
    VIOLATING = auto()
    """Those that change a violating row."""
    NEEDED = auto()
    """Those about one violated requirement and, by subtree, about one violating row: one of them must be taken."""


class TableRecoding(ABC, Generic[State]):
    """A way of generalizing: how far one step goes."""

    def __init__(self, table: FullTable) -> None:
        self.table = table
        self.shield = table.shield

    @abstractmethod
    def root(self) -> State:
        """The table as it is, but for the levels below which nothing may be published."""

    @abstractmethod
    def summit(self) -> State:
        """The table generalized as far as it may be."""

    @abstractmethod
    def measure(self, state: State) -> Measured: ...

    @abstractmethod
    def steps(self, state: State, measured: Measured, moves: Moves) -> Iterator[tuple[int, State]]:
        """The tables that one step of generalization makes, each with the position of the attribute."""

    @abstractmethod
    def labels(self, state: State, codes: NDArray[np.int32]) -> list[pa.Array]:
        """What is published in each quasi-identifier for cells of these leaf codes (one a column)."""

    def levels(self, state: State) -> tuple[int, ...] | None:  # noqa: ARG002 - only whole columns have one level
        """The level of each quasi-identifier, where it is the same for all its values."""
        return None

    def attributes(self, violated: Sequence[int], moves: Moves) -> list[int]:
        """The positions that a step may be about: those of the shields that are violated, or of the smallest of them.

        A release that keeps a violated requirement differs on its shield, so that no other step is needed first.
        """
        if moves is Moves.EVERY:
            return list(self.shield)
        if moves is Moves.NEEDED:
            shields = [self.table.requirements[index].shield for index in violated]
            smallest: tuple[int, ...] = min(shields, key=len, default=())
            return list(smallest)
        return sorted({p for index in violated for p in self.table.requirements[index].shield})


class Nodes:
    """The published labels of one attribute: `ids[level, leaf]` numbers the label of a leaf at a level.

    `levels[level, leaf]` is the highest level up to `top` at which the leaf still has that label, so that levels that
    look alike are the same.
    """

    def __init__(self, hierarchy: Hierarchy, top: int) -> None:
        number: dict[str | None, int] = {}
        self.top = top
        self.ids = np.stack(
            [
                np.array([number.setdefault(label, len(number)) for label in level.labels], dtype=np.int32)[
                    level.groups
                ]
                for level in hierarchy.levels
            ]
        )
        self.labels = tuple(number)
        self.levels = np.empty(self.ids.shape, dtype=np.int8)
        self.levels[top:] = np.arange(top, len(self.ids), dtype=np.int8)[:, None]
        for level in range(top - 1, -1, -1):
            same = self.ids[level] == self.ids[level + 1]
            self.levels[level] = np.where(same, self.levels[level + 1], np.int8(level))

    def settled(self, levels: NDArray[np.int8], leaves: NDArray[np.int32]) -> NDArray[np.int8]:
        """The same labels, at the highest level that has them."""
        return np.asarray(self.levels[levels, leaves], dtype=np.int8)
