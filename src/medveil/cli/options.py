"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of a CSV file, such as latin-1.")]
Missing = Annotated[list[str] | None, typer.Option(help="A text that means a missing value; may be repeated.")]
Columns = Annotated[
    str | None, typer.Option(help="The names of the columns of a CSV file without header line, with commas between.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of a CSV file holds names (default: detected)."),
]
Threads = Annotated[int | None, typer.Option(help="Number of cores (default: all).", min=1, max=1024)]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The privacy ledger of the data (default: beside the data).")
]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="Where rows are counted, instead of what the policy says.")
]
Remote = Annotated[
    str | None, typer.Option("--remote", help="Where that engine is, such as sc://host:15002; needs --engine spark.")
]
Memory = Annotated[str | None, typer.Option(help="How much memory counting and proving may use, such as 4GB.")]


def reading_options(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, columns: str | None, header: bool | None
) -> dict[str, Any]:
    """How a file is read, as a command was told."""
    import csv  # noqa: PLC0415

    names = None if columns is None else [name.strip() for name in next(csv.reader([columns], skipinitialspace=True))]
    return {
        "delimiter": delimiter,
        "encoding": encoding,
        "missing": missing or [],
        "columns": names,
        "header": header,
    }
