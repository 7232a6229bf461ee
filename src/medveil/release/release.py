"""A verified release: the files as they were written and proved, ready to be read or saved."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from medveil.errors import InputError
from medveil.markup import grid, paragraph
from medveil.release.directory import staged
from medveil.release.manifest import Manifest
from medveil.release.reading import read_release
from medveil.table.schema import Role

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

AS_THEY_WERE = frozenset({Role.PLAIN.value, Role.SENSITIVE.value})
"""The roles of columns whose values are published as they were."""
SHOWN = 5
"""How many rows a notebook shows."""


@dataclass(frozen=True)
class Release:
    """A release whose claims were proved from its files.

    folder: where the files are; one that was not asked for goes with this object.
    manifest: what recipients are told.
    pages: writes the reports of a release that was not asked for into the directory where it is saved, and lists them
        in its manifest; None where they are written already, or not wanted.
    types: the types of the source's columns, where it has types.
    """

    folder: Path
    manifest: Manifest
    pages: Callable[[Path, Manifest], Manifest] | None = field(default=None, repr=False, compare=False)
    types: Mapping[str, pa.DataType] = field(default_factory=dict, repr=False, compare=False)

    def to_arrow(self) -> pa.Table:
        """The published table. Sensitive and plain columns have the types of the source where it has types, and are
        numbers where they were declared as such; everything else is text.
        """
        table = read_release(self.folder, self.manifest)
        texts = [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema
        ]
        table = table.cast(pa.schema(texts))
        for attribute in self.manifest.attributes:
            name, kind = str(attribute["name"]), self.types.get(str(attribute["name"]))
            if kind is not None and attribute["role"] in AS_THEY_WERE and not attribute.get("form"):
                table = table.set_column(table.column_names.index(name), name, _typed(table[name], kind))
        return table

    def _repr_html_(self) -> str:
        """The release in a notebook: what it claims, and its first rows."""
        manifest, table = self.manifest, self.to_arrow()
        claims = [
            [claim["summary"], "yes" if claim["holds"] else "not checked", claim["basis"]] for claim in manifest.claims
        ]
        told = [
            paragraph(manifest.about.get("title", f"A release by the method {manifest.method['name']}"), strong=True),
            paragraph(f"{table.num_rows:,} records published; {manifest.status}."),
            grid(["claim", "holds", "rests on"], claims) if claims else paragraph("It claims nothing."),
            grid(
                table.column_names, zip(*(column.to_pylist() for column in table.slice(0, SHOWN).columns), strict=True)
            ),
        ]
        return "".join(told)

    def to_pandas(self) -> pd.DataFrame:
        try:
            frame: pd.DataFrame = self.to_arrow().to_pandas()
        except ImportError:
            raise InputError("pandas is not installed.", "pip install 'medveil[frames]'") from None
        return frame

    def to_polars(self) -> pl.DataFrame:
        try:
            import polars  # noqa: PLC0415, ICN001
        except ImportError:
            raise InputError("polars is not installed.", "pip install 'medveil[frames]'") from None
        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def save(self, out: str | Path) -> Path:
        """Write the release directory; it must not exist yet."""
        path = Path(out)
        with staged(path) as folder:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            if self.pages is not None:
                self.pages(folder, self.manifest)
        return path


def _typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that it had; as it is where some of its values have no such type, such as `*`."""
    try:
        if pa.types.is_dictionary(kind):
            return column.cast(kind.value_type).dictionary_encode()
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
