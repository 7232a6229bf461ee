"""A process that is asked in lines of JSON and can be ended at any moment. The other end is `medveil.worker`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from medveil.errors import CancelledError
from medveil.system import end_group, own_group

GRACE = 1.0
"""Seconds that a process has to clean up behind itself when it is told to end."""
WORKER = "medveil.worker"


class Child:
    """A started process, and why it ended."""

    def __init__(self, folder: Path | None = None, arguments: Sequence[str] = ()) -> None:
        self.late: float | None = None
        self._ending = threading.Lock()
        self.process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", WORKER, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            **own_group(),
        )

    def ask(self, task: str) -> Iterator[dict[str, Any]]:
        """Send the task; its answers, line by line. The input stays open: when it closes, the process ends."""
        self.send(task)
        yield from self.lines()

    def send(self, task: str) -> None:
        assert self.process.stdin is not None
        # A process that is gone already answers nothing, and why is found out later.
        with suppress(BrokenPipeError, ValueError):
            self.process.stdin.write(task + "\n")
            self.process.stdin.flush()

    def lines(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            yield json.loads(text)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Tell it to end; end it, with whatever it has started itself, where it does not."""
        with self._ending:
            with suppress(OSError, ValueError):
                assert self.process.stdin is not None
                self.process.stdin.write("end\n")
                self.process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
            end_group(self.process.pid)
            self.process.wait()

    def expire(self, seconds: float) -> None:
        self.late = seconds
        self.end()

    def is_late(self, error: Mapping[str, Any]) -> bool:
        """Whether an error that it told is that it was ended when its time was over."""
        return self.late is not None and error["kind"] == CancelledError.__name__

    def close(self) -> None:
        """End it, and read no more of it."""
        self.end()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def why(self) -> str:
        if self.late is not None:
            return f"it was stopped after {self.late:,.0f} seconds"
        return f"its process ended with code {self.process.wait()}, perhaps for lack of memory"
