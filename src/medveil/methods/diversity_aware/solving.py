"""Solvers behind a door that can be shut: small jobs here, large ones in a process that can be ended."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from medveil.errors import MedveilError
from medveil.methods.diversity_aware import worker
from medveil.methods.diversity_aware.worker import Arrays, Infeasible
from medveil.run import Run, Stage

_SMALL = 400_000
"""Arcs of a flow that is solved here, in well under a second; nothing can be stopped meanwhile."""

_POLL = 0.1
"""Seconds between two looks at whether the run was stopped."""


class Solvers:
    """Solves flows and mixed-integer programs; the process for large ones is started when it is first needed."""

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

    def flow(self, run: Run, doing: str, **job: Any) -> Arrays:
        return self._solve("flow", run, doing, len(job["tail"]) <= _SMALL, job)

    def milp(self, run: Run, doing: str, **job: Any) -> Arrays:
        return self._solve("milp", run, doing, small=False, job=job)

    def _solve(self, solver: str, run: Run, doing: str, small: bool, job: dict[str, Any]) -> Arrays:
        run.step(Stage.SEARCH, None, doing)
        _need(solver)
        try:
            answer = worker.SOLVERS[solver](**job) if small else self._elsewhere(solver, job, run, doing)
        except Infeasible:
            answer = {}
        if not answer:
            raise MedveilError("A solver found no solution where there is one.", "Please report it.")
        return answer

    def _elsewhere(self, solver: str, job: Arrays, run: Run, doing: str) -> Arrays:
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
                worker.send(stdin, {"solver": np.array(solver), **job})
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
                "The solver ended before it had a solution.", "Is there memory enough? Set a smaller 'whole_up_to'."
            )
        return answers[0]


def _need(solver: str) -> None:
    """Refuse early, and in plain words, where the solvers are not installed."""
    load: Callable[[], object] = _load_ortools if solver == "flow" else _load_scipy
    try:
        load()
    except ImportError:
        raise MedveilError(
            "The method 'diversity-aware' needs solvers that are not installed.", "pip install 'medveil[optimization]'"
        ) from None


def _load_ortools() -> object:
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - an extra

    return min_cost_flow


def _load_scipy() -> object:
    import scipy.optimize  # noqa: PLC0415 - an extra

    return scipy.optimize
