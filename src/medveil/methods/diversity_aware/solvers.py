"""Mixed-integer programs, which cannot be stopped from outside while they run: in a process that can be ended."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from medveil.errors import MedveilError
from medveil.methods.diversity_aware import worker
from medveil.methods.diversity_aware.worker import Arrays
from medveil.run import Run, Stage

_POLL = 0.1
"""Seconds between two looks at whether the run was stopped."""


class Solvers:
    """Solves mixed-integer programs in a process that can be ended, which is started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def milp(self, run: Run, doing: str, **job: Any) -> Arrays:
        run.step(Stage.SEARCH, None, doing)
        _need_scipy()
        answer = self._elsewhere(job, run, doing)
        if not answer:
            raise MedveilError("A solver found no solution where there is one.", "Please report it.")
        return answer

    def _elsewhere(self, job: Arrays, run: Run, doing: str) -> Arrays:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a file of our own
                [sys.executable, "-P", str(Path(worker.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        process, answers = self._process, []
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def talk() -> None:
            try:
                worker.send(stdin, job)
                answers.append(worker.receive(stdout))
            except (OSError, ValueError):
                answers.append(None)

        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL)
                run.step(Stage.SEARCH, None, doing)
        except BaseException:
            self.close()
            raise
        if not answers or answers[0] is None:
            self.close()
            raise MedveilError(
                "The solver ended before it had a solution.",
                "Is there enough memory? Leave 'solver' out: the flow finds the same optimum.",
            )
        return answers[0]


def _need_scipy() -> None:
    """Refuse early, and in plain words, where the solver is not installed."""
    try:
        _load_scipy()
    except ImportError:
        raise MedveilError(
            "'solver: milp' needs a solver that is not installed.", "pip install 'medveil[optimization]'"
        ) from None


def _load_scipy() -> object:
    import scipy.optimize  # noqa: PLC0415 - an extra

    return scipy.optimize
