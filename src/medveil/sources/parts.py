"""A table in parts: a folder of CSV or Parquet files of one schema, or those that a pattern names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.errors import InputError
from medveil.sources.csv import decoded_as, is_all_declared, open_csv
from medveil.sources.files import check_file
from medveil.sources.formats import PARQUET, TEXT, recognize
from medveil.sources.parquet import open_parquet
from medveil.sources.source import Source

_WILD = re.compile(r"[*?\[]")


def is_parts(path: Path) -> bool:
    """Whether a path names a folder, or several files by a pattern; a file that is called like one is that file."""
    return path.is_dir() or (_WILD.search(str(path)) is not None and not path.exists())


def home_of(path: Path) -> Path:
    """The file or the folder that a path names; of a pattern, the folder that it starts in."""
    if path.is_dir() or not is_parts(path):
        return path
    return Path(*path.parts[: next(i for i, part in enumerate(path.parts) if _WILD.search(part))])


def part_files(path: Path) -> list[Path]:
    """The files of a table in the order of their names. Hidden files, and those that begin with `_`, are no parts."""
    if path.is_dir():
        found = [one for one in path.iterdir() if one.name[0] not in "._"]
        if any(one.is_dir() for one in found):
            raise InputError(
                f"The folder '{path}' holds folders: which files are the parts of the table is not clear.",
                f"Name them by a pattern, such as '{path / '*' / '*.parquet'}'.",
            )
    else:
        home = home_of(path)
        pattern = path.relative_to(home).as_posix()
        found = [one for one in home.glob(pattern) if one.is_file() and one.name[0] not in "._"]
    if not found:
        what = f"The folder '{path}' holds no files." if path.is_dir() else f"No file matches '{path}'."
        raise InputError(what, "Name a file, a folder of CSV or Parquet files, or a pattern such as 'visits/*.csv'.")
    return sorted(found)


@dataclass(frozen=True)
class PartsSource(Source):
    """The records of several files, one file after the other."""

    named: Path
    parts: tuple[Source, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        read = f"{len(self.parts)} files are read as one table."
        return (read, *dict.fromkeys(remark for part in self.parts for remark in part.remarks))

    @property
    def identity(self) -> str:
        return str(self.named.resolve())

    @property
    def path(self) -> Path:
        return self.named

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        # A part in which a column is always missing does not know its type.
        found = {name: kind for part in self.parts for name, kind in part.types.items() if not pa.types.is_null(kind)}
        return {name: found.get(name, pa.null()) for name in self.names} if self.parts[0].types else {}

    @property
    def doubt(self) -> InputError | None:
        return next((part.doubt for part in self.parts if part.doubt is not None), None)

    def instead_of(self, name: str) -> str:
        return self.parts[0].instead_of(name)

    def batches(self) -> pa.RecordBatchReader:
        types = self.types
        schema = pa.schema([(name, types.get(name, pa.string())) for name in self.names])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            for batch in part.batches():
                columns = [
                    column if column.type == field.type else column.cast(field.type)
                    for column, field in zip(batch.columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def open_parts(path: Path, missing: Collection[str] = (), **options: Any) -> Source:
    """The table whose parts a folder holds or a pattern names; one file is itself."""
    files = part_files(path)
    for file in files:
        check_file(file, may_be_empty=is_all_declared(options))
    kinds = {TEXT if is_all_declared(options) else recognize(file, decoded_as(options)) for file in files}
    if len(kinds) > 1 or not kinds <= {TEXT, PARQUET}:
        raise InputError(
            f"'{path}' names files that are not all CSV, nor all Parquet.",
            "Name those of one kind by a pattern, such as 'visits/*.csv'.",
        )
    if kinds == {TEXT}:
        parts: list[Source] = [open_csv(file, missing, **options) for file in files]
    else:
        parts = [open_parquet(file, missing) for file in files]
    if len(parts) == 1:
        return parts[0]
    _check_schema(files, parts)
    return PartsSource(parts[0].names, parts[0].missing, path, tuple(parts))


def _check_schema(files: Sequence[Path], parts: Sequence[Source]) -> None:
    """All parts have the columns of the first in its order. They are told by their places: a file without a header has
    a record where the names should be.
    """
    first, known = parts[0], dict(parts[0].types)
    for file, part in zip(files[1:], parts[1:], strict=True):
        differ = f"'{file.name}' and '{files[0].name}' are not parts of one table:"
        if len(part.names) != len(first.names):
            raise InputError(
                f"{differ} they have {len(part.names)} and {len(first.names)} columns.",
                "Give every part the same columns, or name the parts that have them by a pattern.",
            )
        other = [str(i + 1) for i, (own, name) in enumerate(zip(part.names, first.names, strict=True)) if own != name]
        if other:
            raise InputError(
                f"{differ} their columns have other names or another order (column {', '.join(other[:10])}).",
                "Give every part the same columns in one order; with 'columns:' names are given for all of them.",
            )
        for name, kind in part.types.items():
            if pa.types.is_null(known[name]):
                known[name] = kind
            elif not pa.types.is_null(kind) and kind != known[name]:
                raise InputError(
                    f"{differ} the column '{name}' is of type {kind} in one and {known[name]} in the other.",
                    "Write all parts with one schema.",
                )
