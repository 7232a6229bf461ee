"""What a run has of the outside: random numbers, someone to tell, and a way to be stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from medveil.errors import CancelledError


def _silent(stage: str, share: float | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Run:
    """What a method needs of the outside: random numbers, someone to tell about progress, and a way to be stopped."""

    random: np.random.Generator = field(default_factory=np.random.default_rng)
    progress: Callable[[str, float | None], None] = _silent
    cancelled: Callable[[], bool] = lambda: False
    seeded: bool = False

    def step(self, stage: str, share: float | None = None) -> None:
        """Tell how far a stage is (None: unknown); stop here where the run was cancelled."""
        if self.cancelled():
            raise CancelledError("The run was stopped.", "Nothing was written.")
        self.progress(stage, share)
