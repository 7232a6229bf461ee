"""Parquet files."""

from __future__ import annotations

from collections.abc import Collection
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
    """A Parquet file; `names` stand for its columns in their order."""

    file: Path

    @property
    def identity(self) -> str:
        return str(self.file.resolve())

    @property
    def path(self) -> Path:
        return self.file

    @property
    def location(self) -> Location:
        return Location("parquet", self.file)

    def batches(self) -> pa.RecordBatchReader:
        file = pa.parquet.ParquetFile(self.file)
        schema = pa.schema([field.with_name(name) for field, name in zip(file.schema_arrow, self.names, strict=True)])
        named = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in file.iter_batches())
        return pa.RecordBatchReader.from_batches(schema, named)


def open_parquet(path: Path, missing: Collection[str]) -> ParquetSource:
    try:
        schema = pa.parquet.read_schema(path)
    except pa.ArrowException:
        raise InputError(f"'{path.name}' cannot be read as Parquet.", "Was it written to its end?") from None
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise InputError(f"Column '{nested[0]}' holds lists or records.", "Flatten it, or leave it out of the file.")
    return ParquetSource(check_names(schema.names, f"'{path.name}'"), MISSING | frozenset(missing), path)


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
