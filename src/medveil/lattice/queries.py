"""Checks of nodes where the records are: cells stay with the engine, and each check is one question to it.

It takes models that ask for people and distinct values alone. A class that holds such a model still does whatever
is added to it, so what a node suppresses every more specific node suppresses as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.engine.classes import Asked, CodedTable
from medveil.errors import PolicyError
from medveil.lattice.checker import Evaluation
from medveil.lattice.space import Levels, Space
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.model import Reference, Requirement

CAN_BE_ASKED = "ask for k-anonymity, distinct l-diversity or p-sensitive k-anonymity on all quasi-identifiers"
"""What queries decide."""


def why_not_by_query(requirements: Sequence[Requirement], width: int) -> str | None:
    """Why requirements cannot be checked by queries; None where they can. `width`: how many quasi-identifiers."""
    for requirement in requirements:
        if requirement.model.distinct_needs is None:
            return f"{requirement.model.name} looks at how often each value occurs, which no query tells in short"
        if requirement.shield != tuple(range(width)):
            return f"{requirement.model.name} is asked of some quasi-identifiers only"
    return None


class QueryChecker:
    """Checks nodes by asking an engine; `columns` are the records of each leaf, `sensitive` the coded attributes."""

    sizes = None
    workers = 1
    asks_worth = False
    counts_classes = True

    def __init__(
        self,
        table: CodedTable,
        space: Space,
        requirements: Sequence[Requirement],
        columns: Sequence[NDArray[np.int64]],
        sensitive: Sequence[str] = (),
    ) -> None:
        reason = why_not_by_query(requirements, len(space))
        if reason is not None:
            remedy = f"{CAN_BE_ASKED.capitalize()}."
            raise PolicyError(f"Classes cannot be counted where the records are: {reason}.", remedy)
        if not requirements:
            raise PolicyError("There is no privacy model to satisfy.", "Name at least one under 'privacy:'.")
        self.space = space
        self.requirements = tuple(requirements)
        self.columns = tuple(columns)
        self.records = int(columns[0].sum())
        self.queries = 0
        self._table = table
        self._sensitive = tuple(sensitive)
        people, distinct = 1, dict[int, int]()
        for requirement in requirements:
            people = max(people, requirement.model.least_class_size or 1)
            for name, number in (requirement.model.distinct_needs or {}).items():
                place = self._sensitive.index(name)
                distinct[place] = max(distinct.get(place, 1), number)
        self.asked = Asked(people, distinct)

    def prunes(self, allowed: int) -> bool:  # noqa: ARG002 - whatever is allowed, what fails rules out what is below
        return True

    def focus(self, levels: Levels) -> None:
        """Nothing is made ready: the engine looks at all of its codes."""

    def cross(self, first: int, low: int, second: int, other: int) -> NDArray[np.int64]:
        levels = [self.space.hierarchies[at].levels[level] for at, level in ((first, low), (second, other))]
        found = self._table.cross(first, levels[0].groups, second, levels[1].groups)
        return np.pad(found, [(0, len(at.labels) - size) for at, size in zip(levels, found.shape, strict=True)])

    def reached(self, levels: Levels) -> list[tuple[str, dict[str, float]]]:
        """The models are asked about a class of the fewest people and the fewest values that any class has."""
        people, values = self._table.least(self._groups(levels), sorted(self.asked.distinct))
        histograms = {
            self._sensitive[place]: Histogram(
                np.array([0, number]), np.arange(number, dtype=np.int32), np.ones(number, dtype=np.int64)
            )
            for place, number in values.items()
        }
        size = np.array([people])
        worst = Classes(size, size, histograms)
        return [(r.model.name, r.model.achieved(worst, Reference({}, {}))) for r in self.requirements]

    def evaluate(
        self,
        levels: Levels,
        allowed: int,
        *,
        worth: float = math.inf,  # noqa: ARG002 - a question costs the same whatever the answer is worth
        telling: float = math.inf,  # noqa: ARG002
    ) -> Evaluation:
        self.queries += 1
        most = min(allowed, self.records - 1)
        found = self._table.check(self._groups(levels), self.asked, most)
        if found.failing > most:
            return Evaluation(levels, found.failing, feasible=False, certain=found.failing, short=True)
        widths = [len(h.levels[level].labels) for h, level in zip(self.space.hierarchies, levels, strict=True)]
        hidden = tuple(np.pad(h, (0, width - len(h))) for h, width in zip(found.hidden, widths, strict=True))
        return Evaluation(
            levels,
            found.failing,
            feasible=True,
            certain=found.failing,
            hidden=hidden,
            certain_hidden=hidden,
            squares=found.squares,
            classes=found.classes,
        )

    def _groups(self, levels: Levels) -> list[NDArray[np.int32]]:
        return [h.levels[level].groups for h, level in zip(self.space.hierarchies, levels, strict=True)]
