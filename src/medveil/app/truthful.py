"""The table of which every record is real, from a release and its catalog alone."""

from __future__ import annotations

from pathlib import Path

from medveil.release.truthful import Truthful, derive
from medveil.run import Run, Stage


def truthful(
    directory: str | Path, out: str | Path | None = None, *, weights: bool = False, run: Run | None = None
) -> Truthful:
    """The truthful table of a release directory, or all its records with their weights, written to `out` where that
    is given.
    """
    run = run or Run()
    run.step(Stage.READ)
    with run.stoppable():
        return derive(Path(directory), None if out is None else Path(out), weights=weights)
