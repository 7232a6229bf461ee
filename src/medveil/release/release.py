"""A verified release: the files as they were written and proved, ready to be read or saved."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from medveil.errors import InputError
from medveil.release.directory import staged
from medveil.release.manifest import Manifest
from medveil.release.reading import read_release

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Release:
    """A release whose claims were proved from its files.

    folder: where the files are; one that was not asked for goes with this object.
    manifest: what recipients are told.
    pages: writes the reports of a release that was not asked for into the directory where it is saved, and lists them
        in its manifest; None where they are written already, or not wanted.
    """

    folder: Path
    manifest: Manifest
    pages: Callable[[Path, Manifest], Manifest] | None = field(default=None, repr=False, compare=False)

    def to_arrow(self) -> pa.Table:
        """The published table; columns that are published as numbers are numbers, everything else is text."""
        table = read_release(self.folder, self.manifest)
        plain = [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema
        ]
        return table.cast(pa.schema(plain))

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
