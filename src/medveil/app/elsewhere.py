"""A use case in a process of its own: started, listened to and ended here. The other end is `medveil.worker`.

Its time and memory are its own, it can be ended at any moment, and it ends by itself when this process does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medveil import errors
from medveil.app.plain import to_json
from medveil.errors import MedveilError
from medveil.processes import Child
from medveil.run import Event, Run, Stage


@dataclass(frozen=True)
class Progressed:
    """An event in another process, with the seconds since its start and the most memory held so far, in bytes."""

    event: Event
    seconds: float
    memory: int


@dataclass(frozen=True)
class Answer:
    """What a process answered: what the use case returned, or why it did not; `error` where it said so itself.

    program: the memory that was taken before the use case began.
    """

    result: Any = None
    reason: str | None = None
    error: MedveilError | None = None
    program: int = 0


def run_elsewhere(
    use_case: str,
    arguments: Mapping[str, Any],
    *,
    run: Run,
    listen: Callable[[Progressed], None] = lambda _: None,
    folder: Path | None = None,
    owned: Path | None = None,
    seconds: float | None = None,
) -> Answer:
    """Call a use case by its name in another process, and wait.

    folder: where relative paths start. owned: a folder of this run, for files of passage too; the process removes it
    where this one is gone. seconds: how long it may take.
    """
    task = {
        "use_case": use_case,
        "arguments": dict(arguments),
        "limits": asdict(run.limits),
        "root": run.workspace.root,
        "also": run.workspace.also,
        "connections": dict(run.workspace.connections.addresses),
        "owned": None if owned is None else owned.resolve(),
    }
    program = 0
    with _started(folder or Path(), seconds) as child, run.interrupting(child.end):
        for line in child.ask(to_json(task, indent=None)):
            match line:
                case {"started": memory}:
                    program = int(memory)
                case {"event": told}:
                    event = Event(Stage(told["stage"]), told["share"], told["detail"])
                    listen(Progressed(event, told["seconds"], told["memory"]))
                case {"error": told} if not child.is_late(told):
                    run.check()
                    kind = getattr(errors, told["kind"], MedveilError)
                    error = kind(told["problem"], told["remedy"])
                    return Answer(reason=str(error), error=error, program=program)
                case {"result": result}:
                    return Answer(result, program=program)
    run.check()
    return Answer(reason=child.why(), program=program)


@contextmanager
def _started(folder: Path, seconds: float | None) -> Iterator[Child]:
    """A process that is ended with this block, or after so many seconds."""
    child = Child(folder)
    timer = None if seconds is None else threading.Timer(seconds, child.expire, [seconds])
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield child
    finally:
        try:
            _close(child, timer)
        except BaseException:
            # A run may be stopped while it cleans up, but only once.
            _close(child, timer)
            raise


def _close(child: Child, timer: threading.Timer | None) -> None:
    if timer is not None:
        timer.cancel()
    child.close()
