"""The release file as DuckDB reads it: text columns f0, f1, ... in the file's order."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from medveil.auditor.reading import quote_path

UNREADABLE = (OSError, ValueError, csv.Error, pa.ArrowException)
"""What opening a damaged file raises."""


class Unreadable(Exception):  # noqa: N818 - it is a finding, not an error
    """The release cannot be read."""


@dataclass(frozen=True)
class ReleaseFile:
    """The columns of a release in their order in the file, and a relation that reads them as text."""

    names: tuple[str, ...]
    relation: str
    is_csv: bool


def open_release(path: Path) -> ReleaseFile:
    """The release as it was written: Parquet, or CSV with commas, a header, and nothing for a missing value; where
    there is one column, a missing value is an empty text in quotes, since readers skip blank lines.
    """
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
        return _parquet(path) if magic == b"PAR1" else _csv(path)
    except UNREADABLE:
        raise Unreadable from None


def _csv(path: Path) -> ReleaseFile:
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
    return ReleaseFile(names, relation, is_csv=True)


def _parquet(path: Path) -> ReleaseFile:
    names = tuple(pq.read_schema(path).names)
    return ReleaseFile(names, parquet_relation(path, len(names)), is_csv=False)


def blank_lines(path: Path, release: ReleaseFile) -> int:
    """How many records of a CSV file of one column are blank, which most readers skip without a word; with more
    columns a record has commas.
    """
    if not release.is_csv or len(release.names) > 1:
        return 0
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
