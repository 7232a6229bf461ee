"""Tables of the OMOP common data model, as a database exports them: a file for each, called after it in any case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from medveil.errors import InputError
from medveil.sources.file import open_file
from medveil.sources.source import Source, SourceSpec, check_names
from medveil.workspace import Workspace

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".csv.gz", ".tsv.gz", ".txt.gz", ".csv.zst", ".csv.bz2", ".csv.xz")


def omop_files(folder: Path) -> dict[str, Path]:
    """The tables in a folder by their names in small letters."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name, _, ending = path.name.lower().partition(".")
        if f".{ending}" not in ENDINGS:
            continue
        if name in found:
            raise InputError(f"'{folder.name}' has two files for the table '{name}'.", "Remove one of them.")
        found[name] = path
    return found


class OmopSpec(SourceSpec):
    """A table of the OMOP common data model: the file of a folder that is called after it, in any case, as CSV (commas
    or tabs) or Parquet, packed or not. Its columns are called as the model calls them, in small letters.
    """

    name: ClassVar[str] = "omop"
    path: Annotated[str, Field(description="The folder with the tables, relative to the policy.")]
    table: Annotated[str, Field(description="The table, such as person or condition_occurrence.", min_length=1)]

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        folder = workspace.resolve(self.path)
        if not folder.is_dir():
            raise InputError(f"'{folder.name}' is not a folder.", "Name the folder that holds the tables of OMOP.")
        path = omop_files(folder).get(self.table.lower())
        if path is None:
            raise InputError(f"'{folder.name}' has no file of the table '{self.table}'.", f"Such as {self.table}.csv.")
        opened = open_file(path, self.missing, header=None if path.suffix == ".parquet" else True)
        return replace(opened, names=check_names([name.lower() for name in opened.names], f"'{path.name}'"))
