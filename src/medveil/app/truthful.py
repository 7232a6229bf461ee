"""The table of which every record is real, from a release and its catalog alone."""

from __future__ import annotations

from pathlib import Path

from medveil.release.truthful import Truthful, derive


def truthful(directory: Path, out: Path | None = None) -> Truthful:
    """The truthful table of a release directory, written to `out` where that is given."""
    return derive(directory, out)
