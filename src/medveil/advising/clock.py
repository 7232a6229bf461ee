"""When trials must end."""

from __future__ import annotations

import time

BUSY = 3.0
"""How many times as long as its own work a trial may take where others keep the machine busy."""


class Clock:
    """Counts the seconds that this thread works, so that a busy machine gives the same advice; and, since somebody
    waits for it, no more than `BUSY` times as many by the clock on the wall.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._worked = self._began = 0.0
        self.start()

    def start(self) -> None:
        """Begin anew."""
        self._worked, self._began = time.thread_time(), time.monotonic()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        worked, passed = time.thread_time() - self._worked, time.monotonic() - self._began
        return min(self._seconds - worked, BUSY * self._seconds - passed)

    @property
    def over(self) -> bool:
        return self.left <= 0
