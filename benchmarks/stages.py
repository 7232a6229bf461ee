"""The time that each stage of a run takes, from the events that it tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class StageTimes:
    """Given to a run as its `progress`. What goes on before the first event counts for the stage called `first`."""

    def __init__(self, first: str, name_of: Callable[[Any], str]) -> None:
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        self._name_of = name_of
        self._last = (first, time.perf_counter(), 0.0)

    def __call__(self, event: Any) -> None:
        if event.stage.value != "warn":
            self._begin(self._name_of(event.stage))

    def end(self) -> None:
        self._begin("end")

    def _begin(self, stage: str) -> None:
        name, since, worked = self._last
        now, processor = time.perf_counter(), time.process_time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - since
        self.processor[name] = self.processor.get(name, 0.0) + processor - worked
        self._last = (stage, now, processor)
