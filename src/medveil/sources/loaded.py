"""Files that another library reads whole: small formats of offices and statistics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from medveil.errors import InputError
from medveil.sources.formats import recognize
from medveil.sources.frame import FrameSource
from medveil.sources.source import MISSING, check_names


@dataclass(frozen=True)
class LoadedFile(FrameSource):
    """The table of a file, in memory."""

    file: Path

    @property
    def identity(self) -> str:
        return str(self.file.resolve())

    @property
    def path(self) -> Path:
        return self.file


def loaded(path: Path, names: Sequence[str], columns: Sequence[pa.Array], missing: Collection[str]) -> LoadedFile:
    """The source of a table that was read."""
    checked = check_names(names, f"'{path.name}'")
    table = pa.table(list(columns), names=[str(i) for i in range(len(checked))])
    return LoadedFile(checked, MISSING | frozenset(missing), table, path)


def not_installed(kind: str, package: str) -> InputError:
    return InputError(f"Reading {kind} needs the package {package}.", "pip install 'medveil[files]'")


def damaged(path: Path) -> InputError:
    """What is said of a file that does not read: never what a library says, which may quote it."""
    noun = recognize(path).noun
    return InputError(f"'{path.name}' is {noun} that cannot be read.", "Is it complete? Save it again, or as CSV.")
