"""A release directory appears whole or not at all: written beside its place under another name, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medveil.errors import OutputError

_MARK = ".medveil-"


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A private folder beside `out` that becomes `out` at the end, or vanishes where anything goes wrong.

    What a killed run left behind is removed by the next run into the same place.
    """
    if out.exists():
        raise OutputError(f"'{out}' is there already.", "Name a new directory, or remove that one first.")
    folder = out.parent / f".{out.name}{_MARK}{os.getpid()}"
    try:
        _prepare(out, folder)
        yield folder
        if out.exists():
            raise OutputError(f"'{out}' was made by another run in the meantime.", "Name another directory.")
        folder.chmod(0o755)
        folder.rename(out)
    except OSError as error:
        cause = "The disk is full." if error.errno == errno.ENOSPC else "Is the folder still there and writable?"
        raise OutputError(f"'{out}' cannot be written.", cause) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(out: Path, folder: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(out)
        folder.mkdir(mode=0o700)
    except OSError:
        raise OutputError(f"Nothing can be written in '{out.parent}'.", "Is the folder there and writable?") from None


def _remove_abandoned(out: Path) -> None:
    for folder in out.parent.glob(f".{_escaped(out.name)}{_MARK}*"):
        process = folder.name.rpartition("-")[2]
        if process.isdigit() and not _alive(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
