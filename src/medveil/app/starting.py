"""One run out of what a caller gives: a run as it is, or the parts of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from medveil.engine import Limits
from medveil.run import Listener, Run


def started(
    run: Run | None,
    *,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Run:
    """The run that was given, or a plain one, with what else was given."""
    run = run or Run()
    return replace(
        run,
        limits=limits or run.limits,
        listener=progress or run.listener,
        cancelled=cancelled or run.cancelled,
    )
