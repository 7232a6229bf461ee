"""Copies of a release in other formats: each must hold the same rows as the file that is proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from medveil.auditor.evidence import Evidence
from medveil.errors import MedveilError
from medveil.sources.excel import open_excel
from medveil.sources.loaded import LoadedFile
from medveil.sources.statistics import open_statistics
from medveil.table.domain import read_number

Row = tuple[str | None, ...]
COPIES = ("release.xlsx", "release.sav", "release.dta")


def copy_problems(evidence: Evidence) -> list[str]:
    """What is wrong with the copies that the manifest lists."""
    problems = []
    for name in (name for name in COPIES if name in evidence.manifest.files):
        fault = _fault(evidence, evidence.folder / name)
        if fault:
            problems.append(f"the copy '{name}' {fault}")
    return problems


def _fault(evidence: Evidence, path: Path) -> str:
    try:
        copy = _open(path)
    except MedveilError:
        return "cannot be read here"
    names = evidence.door.names
    if len(copy.names) != len(names):
        return "does not have the columns of the release"
    counted: Counter[Row] = Counter()
    for *cells, number in evidence.connection.execute(f"SELECT * FROM {evidence.door.published(names)}").fetchall():
        counted[_row(cells)] += number
    copied = Counter(_row(cells) for cells in zip(*map(_texts, copy.table.columns), strict=True))
    return "" if copied == counted else "does not have the rows of the release"


def _open(path: Path) -> LoadedFile:
    return open_excel(path, None, ()) if path.suffix == ".xlsx" else open_statistics(path, (), labels=True)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    texts: list[str | None] = column.cast(pa.string()).to_pylist()
    return texts


def _row(cells: Sequence[str | None]) -> Row:
    """Cells without regard to how numbers are written; an empty text is missing."""
    return tuple(None if not cell else read_number(cell) or cell for cell in cells)
