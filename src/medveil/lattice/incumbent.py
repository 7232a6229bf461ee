"""What a search carries along: the best node so far, and when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from medveil.errors import CancelledError
from medveil.lattice.checker import Evaluation
from medveil.lattice.loss import Loss
from medveil.lattice.space import Levels

Progress = Callable[[float], None]
"""Told the share of nodes that are decided, from 0 to 1."""

SLACK = 1e-10
"""Bounds are rounded sums: a node is given up only if its bound is this much, relatively, above the best loss."""


class Incumbent:
    """The best node so far, in a fixed order of preference: loss, suppressed records, levels."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self.rank: tuple[float, int, Levels] | None = None
        self.checks = 0
        self.since_better = 0
        self.least_suppressed: int | None = None

    def offer(self, evaluation: Evaluation) -> None:
        self.checks += 1
        self.since_better += 1
        if evaluation.feasible:
            rank = (self._loss.value(evaluation), evaluation.suppressed, evaluation.levels)
            if self.rank is None or rank < self.rank:
                self.rank = rank
                self.since_better = 0
        elif not evaluation.short and (self.least_suppressed is None or evaluation.suppressed < self.least_suppressed):
            self.least_suppressed = evaluation.suppressed

    @property
    def cut(self) -> float:
        """A node with a bound above this is not worth a check."""
        return math.inf if self.rank is None else self.rank[0] * (1.0 + SLACK)


class StoppingRule:
    """When to stop: at a deadline quietly, on cancel with an error. Also where progress goes."""

    def __init__(
        self, time_limit: float | None, progress: Progress | None, cancelled: Callable[[], bool] | None
    ) -> None:
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._progress = progress
        self._cancelled = cancelled

    def expired(self, share: float) -> bool:
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("The search was stopped.")
        if self._progress is not None:
            self._progress(share)
        return self._deadline is not None and time.monotonic() >= self._deadline
