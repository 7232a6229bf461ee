"""The rows of a release once more, in a format of offices or statistics: a copy beside the file that is proved."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from medveil.errors import InputError, OutputError

COPIES = {"excel": "release.xlsx", "spss": "release.sav", "stata": "release.dta"}
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_575, 16_384, 32_767
"""What a sheet of Excel holds, beside its header."""
LONGEST_NAME = {"spss": 64, "stata": 32}


def write_copy(table: pa.Table, folder: Path, kind: str) -> str:
    """Write the copy, and give the name of its file."""
    path = folder / COPIES[kind]
    if kind == "excel":
        _write_excel(table, path)
    else:
        _write_statistics(table, path, kind)
    return path.name


def _write_excel(table: pa.Table, path: Path) -> None:
    """A workbook of one sheet. Texts are written as texts, whatever they begin with: none is a formula or a link."""
    try:
        import xlsxwriter  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("Excel workbooks need the package xlsxwriter.", "pip install 'medveil[files]'") from None
    longest = max(
        (pc.max(pc.utf8_length(c)).as_py() or 0 for c in table.columns if pa.types.is_string(c.type)), default=0
    )
    if table.num_rows > MOST_ROWS or table.num_columns > MOST_COLUMNS or longest > MOST_CHARACTERS:
        raise OutputError(
            f"An Excel sheet holds {MOST_ROWS:,} records, {MOST_COLUMNS:,} columns and texts of {MOST_CHARACTERS:,} "
            "characters at most.",
            "Write 'output: {format: parquet}' or 'csv'.",
        )
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("release")
        for place, name in enumerate(table.column_names):
            sheet.write_string(0, place, name)
        columns = [_plain(column) for column in table.columns]
        for row, cells in enumerate(zip(*columns, strict=True), start=1):
            for place, cell in enumerate(cells):
                if isinstance(cell, str):
                    sheet.write_string(row, place, cell)
                elif cell is not None:
                    sheet.write_number(row, place, cell)


def _write_statistics(table: pa.Table, path: Path, kind: str) -> None:
    """A file of SPSS or Stata: texts as codes from 1 on, each with its text as the label of the value."""
    try:
        import narwhals as nw  # noqa: PLC0415
        import pyreadstat  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(
            "Files of SPSS and Stata need the package pyreadstat.", "pip install 'medveil[files]'"
        ) from None
    names = _names(table.column_names, LONGEST_NAME[kind])
    columns: dict[str, list[Any]] = {}
    labels: dict[str, dict[int | float, str]] = {}
    for name, column in zip(names, table.columns, strict=True):
        cells = _plain(column)
        if any(isinstance(cell, str) for cell in cells):
            codes = {text: code for code, text in enumerate(sorted({c for c in cells if c is not None}), start=1)}
            labels[name] = {code: text for text, code in codes.items()}
            cells = [None if cell is None else codes[cell] for cell in cells]
        columns[name] = [None if cell is None else float(cell) for cell in cells]
    frame = nw.from_dict(columns, {name: nw.Float64() for name in names}, backend=_backend()).to_native()
    write = pyreadstat.write_sav if kind == "spss" else pyreadstat.write_dta
    write(frame, str(path), column_labels=list(table.column_names), variable_value_labels=labels)


def _backend() -> Literal["polars", "pandas"]:
    """A library of frames, which pyreadstat writes from."""
    known: tuple[Literal["polars", "pandas"], ...] = ("polars", "pandas")
    for name in known:
        if importlib.util.find_spec(name) is not None:
            return name
    raise InputError("Files of SPSS and Stata are written with polars or pandas.", "pip install 'medveil[frames]'")


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """The cells as texts and numbers."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        cells: list[Any] = column.to_pylist()
        return cells
    texts: list[Any] = column.cast(pa.string()).to_pylist()
    return texts


def _names(names: Sequence[str], longest: int) -> list[str]:
    """Names that such a file may have: letters, digits and underscores; the column's own stands in its label.

    >>> _names(["age", "salary class", "1st", "salary-class"], 32)
    ['age', 'salary_class', 'v1st', 'salary_class_2']
    """
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = (plain if plain[:1].isalpha() else f"v{plain}")[:longest]
        number, chosen = 1, plain
        while chosen.lower() in {other.lower() for other in found}:
            number += 1
            chosen = f"{plain[: longest - len(str(number)) - 1]}_{number}"
        found.append(chosen)
    return found
