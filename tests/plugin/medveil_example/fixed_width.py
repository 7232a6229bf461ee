"""A source of another package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from medveil.sources.source import MISSING, Source, SourceSpec
from medveil.workspace import Workspace


@dataclass(frozen=True)
class FixedWidthSource(Source):
    """A text file in which every column has its width."""

    file: Path
    widths: tuple[int, ...]

    @property
    def identity(self) -> str:
        return str(self.file.resolve())

    @property
    def path(self) -> Path:
        return self.file

    def batches(self) -> pa.RecordBatchReader:
        lines = self.file.read_text(encoding="utf-8").splitlines()
        starts = [sum(self.widths[:j]) for j in range(len(self.widths))]
        columns = [
            [line[start : start + width] for line in lines] for start, width in zip(starts, self.widths, strict=True)
        ]
        return pa.table([pa.array(column, pa.string()) for column in columns], names=list(self.names)).to_reader()


class FixedWidth(SourceSpec):
    """A text file in which every column has its width."""

    name: ClassVar[str] = "fixed-width"

    path: Annotated[str, Field(description="The file, relative to the policy.")]
    columns: Annotated[dict[str, int], Field(description="The width of each column, in their order.")]

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        missing = MISSING | frozenset(self.missing)
        path = workspace.resolve(self.path)
        return FixedWidthSource(tuple(self.columns), missing, path, tuple(self.columns.values()))
