"""The source behind whatever a user gives."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from medveil.sources.file import open_file
from medveil.sources.frame import open_frame
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace


def open_source(data: Any, *, missing: Collection[str] = (), **options: Any) -> Source:
    """The source behind a path (CSV or Parquet), a declared source, or a data frame of any library that narwhals knows.

    `options` say how a CSV file is written: `delimiter`, `encoding`, `columns` (the names of a file without header
    line) and `header` (whether there is one), and which `sheet` of a workbook is meant.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, SourceSpec):
        return data.open(Workspace())
    if isinstance(data, (str, Path)):
        return open_file(Path(data), missing, **options)
    return open_frame(data, missing)
