"""Sheets of Excel workbooks."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from medveil.errors import InputError, did_you_mean
from medveil.sources.files import check_file
from medveil.sources.loaded import LoadedFile, damaged, loaded, not_installed
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace

MIDNIGHT = " 00:00:00"


def open_excel(path: Path, sheet: str | None, missing: Collection[str]) -> LoadedFile:
    """A sheet whose first row holds the names. Every cell is a text, as it is stored: codes keep their zeros where they
    were typed as texts, a number is written without the format that the sheet shows it in, and days are YYYY-MM-DD.
    """
    try:
        import fastexcel  # noqa: PLC0415 - an extra
    except ImportError:
        raise not_installed("Excel workbooks", "fastexcel") from None
    try:
        book = fastexcel.read_excel(path)
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            raise InputError(f"'{path.name}' has no sheet '{sheet}'.", did_you_mean(sheet, names))
        read = book.load_sheet(sheet or names[0], header_row=None, dtypes="string", skip_whitespace_tail_rows=True)
        table = read.to_arrow()
    except fastexcel.FastExcelError:
        raise damaged(path) from None
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if table.num_rows == 0:
        raise InputError(
            f"The sheet '{sheet or names[0]}' of '{path.name}' is empty.",
            "Name the one that holds the table: 'sheet:' under 'data:', or '--sheet'."
            if len(names) > 1
            else "Give a table with a header row.",
        )
    header = [column[0].as_py() or "" for column in table.columns]
    return loaded(path, [name.strip() for name in header], [_days(column[1:]) for column in table.columns], missing)


def _days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Points in time that are all midnights as days."""
    texts = column.cast(pa.string())
    present = texts.drop_null()
    if not len(present) or not pc.all(pc.ends_with(present, MIDNIGHT)).as_py():
        return texts
    return pc.replace_substring_regex(texts, f"{MIDNIGHT}$", "")


class ExcelSpec(SourceSpec):
    """A sheet of an Excel workbook (.xlsx, .xls, .ods), its names in the first row. Needs the extra `files`."""

    name: ClassVar[str] = "excel"
    formats: ClassVar[frozenset[str]] = frozenset({"excel", "old-excel"})
    path: Annotated[str, Field(description="The file, relative to the policy.")]
    sheet: Annotated[str | None, Field(description="The sheet (default: the first).")] = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        path = workspace.resolve(self.path)
        check_file(path)
        return open_excel(path, self.sheet, self.missing)
