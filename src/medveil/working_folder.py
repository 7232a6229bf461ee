"""Folders for what a run needs while it goes on. What a killed run left behind is removed by the next."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from medveil.errors import InputError
from medveil.system import lock_folder

_BEGIN = "medveil-work-"
_YOUNG = 60.0
"""Seconds that a folder is left alone: whoever made it may not have locked it yet."""


class WorkingFolder:
    """A folder that is this process's alone for as long as it is open: its lock ends with the process."""

    def __init__(self, parent: Path | None = None) -> None:
        place = Path(tempfile.gettempdir()) if parent is None else parent
        _sweep(place)
        self.path = Path(tempfile.mkdtemp(prefix=_BEGIN, dir=place))
        self._lock = lock_folder(self.path)

    def close(self) -> None:
        """Remove it with all that it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _sweep(place: Path) -> None:
    """Remove the folders that nobody holds. Those of others cannot be locked or removed, and are left alone."""
    for folder in place.glob(f"{_BEGIN}*"):
        try:
            young = time.time() - folder.stat().st_mtime < _YOUNG
        except OSError:
            continue
        lock = None if young else lock_folder(folder)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def memory_limit(given: str) -> str:
    """How much memory may be used before something goes to a working folder, as DuckDB reads it.

    >>> memory_limit("4GB")
    '4GB'
    """
    if not re.fullmatch(r"[1-9]\d*\s*([KMGT]i?B)", given, re.IGNORECASE):
        raise InputError("The memory limit cannot be read.", "Write a number and a unit, such as 4GB.")
    return given
