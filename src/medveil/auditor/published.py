"""The files of a release as DuckDB reads them: text columns f0, f1, ... in the files' order."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from medveil.auditor.door import Unreadable
from medveil.auditor.reading import quote_path

UNREADABLE = (OSError, ValueError, csv.Error, pa.ArrowException)
"""What opening a damaged file raises."""


@dataclass(frozen=True)
class ReleaseFiles:
    """The columns of a release in their order in its files, and a relation that reads them as text, file by file."""

    names: tuple[str, ...]
    relation: str
    csv: tuple[Path, ...] = ()


def open_release(paths: Sequence[Path]) -> ReleaseFiles:
    """The release as it was written: Parquet, or CSV with commas, a header, and nothing for a missing value; where
    there is one column, a missing value is an empty text in quotes, since readers skip blank lines.
    """
    try:
        opened = [_open(path) for path in paths]
    except UNREADABLE:
        raise Unreadable from None
    if len({file.names for file in opened}) > 1:
        raise Unreadable
    if len(opened) == 1:
        return opened[0]
    together = " UNION ALL ".join(f"SELECT * FROM {file.relation}" for file in opened)
    return ReleaseFiles(opened[0].names, f"({together})", tuple(path for file in opened for path in file.csv))


def _open(path: Path) -> ReleaseFiles:
    with path.open("rb") as stream:
        magic = stream.read(4)
    return _parquet(path) if magic == b"PAR1" else _csv(path)


def _csv(path: Path) -> ReleaseFiles:
    with path.open(encoding="utf-8", newline="") as stream:
        names = tuple(next(csv.reader(stream, strict=True), ()))
    if not names:
        raise ValueError("a release without a header")
    columns = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(names)))
    quoted_nulls = str(len(names) == 1).lower()
    relation = (
        f"read_csv({quote_path(path)}, auto_detect=false, columns={{{columns}}}, header=true, delim=',', "
        f"quote='\"', escape='\"', nullstr='', allow_quoted_nulls={quoted_nulls}, compression='none', "
        f"max_line_size=16777216, buffer_size=33554432)"
    )
    return ReleaseFiles(names, relation, (path,))


def _parquet(path: Path) -> ReleaseFiles:
    names = tuple(pq.read_schema(path).names)
    return ReleaseFiles(names, parquet_relation(path, len(names)))


def blank_lines(release: ReleaseFiles) -> int:
    """How many records of CSV files of one column are blank, which most readers skip without a word; with more
    columns a record has commas.
    """
    return sum(map(_blank_lines, release.csv)) if len(release.names) == 1 else 0


def _blank_lines(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as stream:
        blank, quoted = 0, False
        for line in stream:
            blank += not quoted and not line.strip("\r\n")
            quoted ^= line.count('"') % 2 == 1
        return blank


def parquet_relation(path: Path, width: int) -> str:
    """A Parquet file with its columns as text under the names f0, f1, ...: those in the file may clash in case."""
    aliases = ", ".join(f"r{i}" for i in range(width))
    columns = ", ".join(f"CAST(r{i} AS VARCHAR) AS f{i}" for i in range(width))
    return f"(SELECT {columns} FROM read_parquet({quote_path(path)}) AS raw({aliases}))"
