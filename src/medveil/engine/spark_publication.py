"""A table that is about to be published from a cluster: sorted there by what it publishes, and written in parts."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet

from medveil.engine.interface import WrittenPart
from medveil.engine.spark_recoding import places
from medveil.engine.spark_session import ClusterSession, place
from medveil.errors import CancelledError, InputError, OutputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CSV = {
    "header": "true",
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "encoding": "UTF-8",
    "lineSep": "\n",
}
"""Commas, quotes where needed, nothing for a missing value, and an empty text in quotes."""


@dataclass(frozen=True)
class SparkPublication:
    """Columns p0, p1, ... of `frame`, called `names`; the order of the rows says nothing about the input."""

    session: ClusterSession
    frame: DataFrame
    names: tuple[str, ...]
    rows: int

    def write(self, folder: Path, file_format: str) -> tuple[WrittenPart, ...]:
        """Parts are written under a name of chance, and get their own when all of them are there."""
        beside = folder.resolve() / self.session.fresh(".parts").name
        try:
            if not folder.is_dir():
                raise FileNotFoundError
            self._write(beside, file_format)
            files = sorted(beside.glob(f"part-*.{file_format}"))
            if not files:
                raise FileNotFoundError
            home = folder / "release"
            home.mkdir()
            counted = [(file, _rows_of(file)) for file in files]
            if sum(rows for _, rows in counted) != self.rows:
                raise OutputError(
                    "The cluster wrote other rows than it was given.", "Nothing was published: try again."
                )
            filled = [(file, rows) for file, rows in counted if rows] or counted[:1]
            return tuple(
                _moved(file, home / f"part-{number:05}.{file_format}", rows)
                for number, (file, rows) in enumerate(filled)
            )
        except CancelledError:
            raise
        except (InputError, OSError, ValueError):
            raise OutputError(
                f"'release/' cannot be written in '{folder.name}'.",
                "Is there space, and does the cluster see this folder under the same path?",
            ) from None
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def _write(self, path: Path, file_format: str) -> None:
        """Sorted across all parts: Spark gives each a range of rows, in the order of their numbers."""
        of = self.session.functions
        order = [of.col(name).asc_nulls_last() for name in places(self.names)]
        rows = self.frame.select(*places(self.names)).orderBy(*order)
        if file_format == "csv" and len(self.names) == 1:
            # Readers skip blank lines, and with them records: a missing value alone is an empty text in quotes.
            rows = rows.select(of.coalesce(of.col("p0").cast("string"), of.lit("")).alias("p0"))
        named = rows.toDF(*self.names)
        with self.session.working():
            if file_format == "csv":
                options = {**_CSV, "quoteAll": str(len(self.names) == 1).lower()}
                named.write.options(**options).csv(place(path))
            else:
                named.write.option("compression", "zstd").parquet(place(path))

    def to_arrow(self) -> pa.Table:
        rows = self.session.table(self.frame.select(*places(self.names)))
        return rows.sort_by([(name, "ascending") for name in rows.column_names]).rename_columns(list(self.names))


def _rows_of(file: Path) -> int:
    if file.suffix == ".parquet":
        return int(pyarrow.parquet.read_metadata(file).num_rows)
    return _csv_rows(file)


def _csv_rows(file: Path) -> int:
    """The records of a CSV file below its header: line ends outside of quotes."""
    rows, quoted = 0, False
    with file.open("rb") as stream:
        for line in stream:
            quoted ^= line.count(b'"') % 2 == 1
            rows += not quoted
    return max(rows - 1, 0)


def _moved(file: Path, to: Path, rows: int) -> WrittenPart:
    file.rename(to)
    with to.open("rb") as stream:
        return WrittenPart(f"{to.parent.name}/{to.name}", rows, hashlib.file_digest(stream, "sha256").hexdigest())
