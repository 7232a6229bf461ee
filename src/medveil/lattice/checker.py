"""What a search asks of whoever checks its nodes: cells in memory, or an engine that counts where records are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.sizes import SizeCounter
from medveil.lattice.space import Levels, Space
from medveil.privacy.model import Requirement


@dataclass(frozen=True)
class Evaluation:
    """One checked node.

    `suppressed`: the records that must be left out. `feasible`: that they are no more than allowed, and some are kept.
    `certain`: how many records every more specific node suppresses at least, see `PrivacyModel.most_kept`;
    `certain_hidden`: for each quasi-identifier, in which groups at the node's level they are, or some of them.
    Only for a feasible node: `hidden`, for each quasi-identifier the suppressed records by group; `squares` and
    `classes` of what is kept (0 where the loss does not read them).
    `short`: that the check ended early, once the node was known to fail or not to be worth more; the numbers are then
    lower bounds, and of the rest `certain_hidden` at most is filled in.
    """

    levels: Levels
    suppressed: int
    feasible: bool
    certain: int
    short: bool = False
    hidden: tuple[NDArray[np.int64], ...] = ()
    certain_hidden: tuple[NDArray[np.int64], ...] = ()
    squares: int = 0
    classes: int = 0

    @property
    def sure(self) -> Evaluation:
        """The same node as if only those of the certain records were suppressed whose groups are known."""
        return replace(self, suppressed=int(self.certain_hidden[0].sum()), hidden=self.certain_hidden)


class Checker(Protocol):
    """Checks nodes of a space against a set of requirements."""

    @property
    def space(self) -> Space: ...
    @property
    def records(self) -> int: ...
    @property
    def requirements(self) -> Sequence[Requirement]: ...
    @property
    def columns(self) -> Sequence[NDArray[np.int64]]:
        """For each quasi-identifier, the records of each leaf."""

    @property
    def counts_classes(self) -> bool:
        """Whether evaluations hold `squares` and `classes`."""

    @property
    def sizes(self) -> SizeCounter | None:
        """What counts too small classes on cells in memory, for which chunks may be prepared; None where cells are not
        here.
        """

    @property
    def workers(self) -> int:
        """How many nodes are checked at a time."""

    @property
    def asks_worth(self) -> bool:
        """Whether a check may end earlier if it is told from how many suppressed records on a node is worth nothing."""

    def prunes(self, allowed: int) -> bool:
        """Whether a node that fails rules out every more specific one."""

    def focus(self, levels: Levels) -> None:
        """Make ready for many checks of nodes above this one."""

    def cross(self, first: int, low: int, second: int, other: int) -> NDArray[np.int64]:
        """The records of every pair of groups of two quasi-identifiers at these levels."""

    def reached(self, levels: Levels) -> list[tuple[str, dict[str, float]]]:
        """What each model reaches at a node where nothing is suppressed."""

    def evaluate(
        self, levels: Levels, allowed: int, *, worth: float = math.inf, telling: float = math.inf
    ) -> Evaluation:
        """Check one node where at most `allowed` records may be suppressed.

        With more than `worth` suppressed the caller has no use for the node itself, and with more than `telling` none
        for the exact number.
        """
