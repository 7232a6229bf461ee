"""Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.parquet
from pydantic import Field

from medveil.errors import InputError
from medveil.sources.files import check_file
from medveil.sources.source import MISSING, Location, Source, SourceSpec, check_names
from medveil.workspace import Workspace


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file; `names` stand for its columns in their order, or for those that are read."""

    file: Path
    read: tuple[str, ...] | None = None
    """The columns of the file that `names` stand for; None where they stand for all."""
    left_out: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        named = ", ".join(f"'{name}'" for name in self.left_out)
        return (f"Not read, since they hold lists or records: {named}. Flatten them first where you need them.",)

    @property
    def identity(self) -> str:
        return str(self.file.resolve())

    @property
    def path(self) -> Path:
        return self.file

    @property
    def location(self) -> Location:
        return Location("parquet", self.file, {} if self.read is None else {"columns": self.read})

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        schema = pa.parquet.read_schema(self.file)
        read = [field.type for field in schema if self.read is None or field.name in self.read]
        return dict(zip(self.names, read, strict=True))

    def batches(self) -> pa.RecordBatchReader:
        file = pa.parquet.ParquetFile(self.file)
        read = [field for field in file.schema_arrow if self.read is None or field.name in self.read]
        schema = pa.schema([field.with_name(name) for field, name in zip(read, self.names, strict=True)])
        batches = file.iter_batches(columns=None if self.read is None else list(self.read))
        named = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches)
        return pa.RecordBatchReader.from_batches(schema, named)


def open_parquet(path: Path, missing: Collection[str]) -> ParquetSource:
    try:
        schema = pa.parquet.read_schema(path)
    except pa.ArrowException:
        raise InputError(f"'{path.name}' cannot be read as Parquet.", "Is it incomplete?") from None
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    names = check_names([name for name in schema.names if name not in nested], f"'{path.name}'")
    if nested and not names:
        raise InputError(f"Every column of '{path.name}' holds lists or records.", "Flatten them into plain columns.")
    return ParquetSource(names, MISSING | frozenset(missing), path, names if nested else None, tuple(nested))


class ParquetSpec(SourceSpec):
    """A Parquet file of plain columns."""

    name: ClassVar[str] = "parquet"
    path: Annotated[str, Field(description="The file, relative to the policy.")]

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        path = workspace.resolve(self.path)
        check_file(path)
        return open_parquet(path, self.missing)
