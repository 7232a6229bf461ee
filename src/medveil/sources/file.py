"""A file whose content says what it is: what a plain path means."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from medveil.sources.csv import Columns, Delimiter, Encoding, open_csv
from medveil.sources.files import PARQUET, check_file
from medveil.sources.parquet import open_parquet
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace


def open_file(
    path: Path, delimiter: str | None, encoding: str | None, columns: Collection[str] | None, missing: Collection[str]
) -> Source:
    if check_file(path) == PARQUET:
        return open_parquet(path, missing)
    return open_csv(path, delimiter, encoding, columns, missing)


class FileSpec(SourceSpec):
    """A CSV or Parquet file: which of them, its content says. This is what `data:` means without a type."""

    name: ClassVar[str] = "file"
    path: Annotated[str, Field(description="A CSV or Parquet file, relative to the policy.")]
    delimiter: Delimiter = None
    encoding: Encoding = None
    columns: Columns = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        return open_file(workspace.resolve(self.path), self.delimiter, self.encoding, self.columns, self.missing)
