"""JSON lines: one record a line."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.json
from pydantic import Field

from medveil.errors import InputError
from medveil.sources.files import check_file
from medveil.sources.formats import compression_of, open_packed
from medveil.sources.loaded import LoadedFile, damaged, loaded
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace

BLOCK = 1 << 26
"""Longer than any record: a block holds at least one."""


def open_json_lines(path: Path, missing: Collection[str]) -> LoadedFile:
    """Records of plain values; a key that a record lacks is missing in it."""
    options = pa.json.ReadOptions(block_size=BLOCK)
    try:
        with open_packed(path, compression_of(path)) as stream:
            table = pa.json.read_json(stream, read_options=options, parse_options=pa.json.ParseOptions())
    except (pa.ArrowException, OSError):  # its message would show a value
        raise damaged(path) from None
    for field in table.schema:
        if pa.types.is_nested(field.type):
            raise InputError(
                f"Column '{field.name}' of '{path.name}' holds lists or records.", "Flatten it, or leave it out."
            )
    return loaded(path, table.column_names, table.columns, missing)


class JsonLinesSpec(SourceSpec):
    """A file of JSON lines (.jsonl, .ndjson), packed or not: one record of plain values a line."""

    name: ClassVar[str] = "json-lines"
    formats: ClassVar[frozenset[str]] = frozenset({"json-lines"})
    path: Annotated[str, Field(description="The file, relative to the policy.")]

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        path = workspace.resolve(self.path)
        check_file(path)
        return open_json_lines(path, self.missing)
