"""A file whose content says what it is: what a plain path means."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from medveil.sources import sources
from medveil.sources.csv import Columns, Delimiter, Encoding, Header, decoded_as, is_all_declared, open_csv, options_of
from medveil.sources.files import check_file, refuse_addresses
from medveil.sources.formats import PARQUET, TEXT, recognize
from medveil.sources.parquet import open_parquet
from medveil.sources.parts import is_parts, open_parts
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace


def open_file(path: Path, missing: Collection[str] = (), *, sheet: str | None = None, **options: Any) -> Source:
    """A file by its content, or a folder or a pattern of such files; `options` say how a CSV file is written, and
    `sheet` which one of a workbook is meant. Other formats are read by the kind of source that declares them, where
    there is one.
    """
    refuse_addresses(str(path))
    if is_parts(path):
        return open_parts(path, missing, **options)
    check_file(path, may_be_empty=is_all_declared(options))
    found = TEXT if is_all_declared(options) else recognize(path, decoded_as(options))
    if found is TEXT:
        return open_csv(path, missing, **options)
    if found is PARQUET:
        return open_parquet(path, missing)
    for kind in sources().values():
        if found.name in kind.formats:
            chosen = {"sheet": sheet} if sheet is not None and "sheet" in kind.model_fields else {}
            declared = kind.model_validate({"path": str(path.absolute()), "missing": tuple(missing), **chosen})
            return declared.open(Workspace())
    raise found.refusal(path.name)


class FileSpec(SourceSpec):
    """A CSV or Parquet file: which of them, its content says. This is what `data:` means without a type.

    A table in parts of one schema is named by their folder, or by a pattern such as `visits/*.csv`.
    """

    name: ClassVar[str] = "file"
    path: Annotated[
        str, Field(description="A CSV or Parquet file, a folder of such files, or a pattern; relative to the policy.")
    ]
    delimiter: Delimiter = None
    encoding: Encoding = None
    columns: Columns = None
    header: Header = None
    sheet: Annotated[str | None, Field(description="The sheet of a workbook (default: the first).")] = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        return self._open(workspace)

    def open_declared(self, workspace: Workspace) -> Source:
        return self._open(workspace, declared=True)

    def _open(self, workspace: Workspace, **how: bool) -> Source:
        path = workspace.resolve(self.path)
        return open_file(path, self.missing, sheet=self.sheet, **options_of(self), **how)
