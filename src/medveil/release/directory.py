"""A release directory appears whole or not at all: written beside its place under another name, then renamed."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medveil.errors import OutputError
from medveil.system import lock_folder

_MARK = ".medveil-"


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A private folder beside `out` that becomes `out` at the end, or vanishes where anything goes wrong.

    What a killed run left behind is removed by the next run into the same place: a run holds a lock on its folder,
    which ends with it, and folders of other machines are left alone.
    """
    if out.exists() or out.is_symlink():
        raise OutputError(f"'{out}' already exists.", "Name a new directory, or remove that one first.")
    folder = out.parent / f"{_begin(out)}{secrets.token_hex(4)}"
    lock = None
    try:
        _prepare(out, folder)
        lock = lock_folder(folder)
        yield folder
        if out.exists():
            raise OutputError(f"'{out}' was made by another run in the meantime.", "Name another directory.")
        folder.chmod(0o755)
        folder.rename(out)
    except OSError as error:
        cause = (
            "The disk is full."
            if error.errno == errno.ENOSPC
            else "Check that the folder still exists and is writable."
        )
        raise OutputError(f"'{out}' cannot be written.", cause) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def write_whole(out: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    beside = out.with_name(f"{_begin(out)}{secrets.token_hex(4)}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.rename(out)
    finally:
        beside.unlink(missing_ok=True)


def _prepare(out: Path, folder: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(out)
        folder.mkdir(mode=0o700)
    except OSError:
        raise OutputError(
            f"Nothing can be written in '{out.parent}'.", "Check that the folder exists and is writable."
        ) from None


def _begin(out: Path) -> str:
    """How the names of all folders begin that this machine makes for `out`."""
    machine = re.sub(r"[^A-Za-z0-9]", "", platform.node())[:32]
    return f".{out.name}{_MARK}{machine}-"


def _remove_abandoned(out: Path) -> None:
    for folder in out.parent.iterdir():
        if not folder.name.startswith(_begin(out)):
            continue
        lock = lock_folder(folder)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
