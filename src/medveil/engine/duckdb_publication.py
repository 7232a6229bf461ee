"""A table that is about to be published: a query whose rows come out sorted by what they publish."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

from medveil.engine.duckdb_reading import quote_text
from medveil.engine.duckdb_session import Session
from medveil.engine.interface import WrittenPart
from medveil.errors import OutputError
from medveil.table.labels import ANYTHING

BATCH = 100_000


@dataclass(frozen=True)
class DuckDBPublication:
    """Columns p0, p1, ... of `query`, called `names`; the order of the rows says nothing about the input."""

    session: Session
    query: str
    names: tuple[str, ...]
    called: str = "release"
    """The name of the file, without its ending."""

    @cached_property
    def rows(self) -> int:
        return int(self.session.row(f"SELECT count(*) FROM ({self.query})")[0])

    def _sorted(self) -> str:
        columns = ", ".join(f"p{j}" for j in range(len(self.names)))
        return f"SELECT {columns} FROM ({self.query}) ORDER BY {columns}"

    def write(self, folder: Path, file_format: str) -> tuple[WrittenPart, ...]:
        path = folder / f"{self.called}.{file_format}"
        try:
            if file_format == "csv":
                self._write_csv(path)
            else:
                self._write_parquet(path)
        except (duckdb.Error, OSError) as error:
            cause = "The disk is full." if "space" in str(error).lower() else "Check that the folder is writable."
            raise OutputError(f"'{path.name}' cannot be written.", cause) from None
        with path.open("rb") as stream:
            return (WrittenPart(path.name, self.rows, hashlib.file_digest(stream, "sha256").hexdigest()),)

    def _write_csv(self, path: Path) -> None:
        """The header is ours: DuckDB would rename columns that differ in case only.

        A missing value is nothing between two commas. Where there is one column it is an empty text in quotes, as
        everything is then: readers skip blank lines, and with them the records.
        """
        header = io.StringIO()
        alone = len(self.names) == 1
        csv.writer(header, lineterminator="\n", quoting=csv.QUOTE_ALL if alone else csv.QUOTE_MINIMAL).writerow(
            self.names
        )
        if self.rows == 0:
            path.write_text(header.getvalue(), encoding="utf-8")
            return
        options = f"FORMAT csv, HEADER false, PREFIX {quote_text(header.getvalue())}, SUFFIX '\n'"
        rows = self._sorted()
        if alone:
            rows, options = f"SELECT coalesce(CAST(p0 AS VARCHAR), '') FROM ({rows})", f"{options}, FORCE_QUOTE *"
        self.session.run(f"COPY ({rows}) TO {quote_text(str(path))} ({options})")

    def _write_parquet(self, path: Path) -> None:
        with self.session.stoppable():
            reader = self.session.connection.sql(self._sorted()).to_arrow_reader(BATCH)
            schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, self.names, strict=True)])
            with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
                for batch in reader:
                    writer.write_batch(batch.rename_columns(list(self.names)))

    def to_arrow(self) -> pa.Table:
        return self.session.table(self._sorted()).rename_columns(list(self.names))


def stars_of(rows: int, columns: int) -> str:
    """What adds so many rows of `*` to a query of columns p0, p1, ..."""
    if not rows:
        return ""
    row = ", ".join(f"'{ANYTHING}' AS p{j}" for j in range(columns))
    return f" UNION ALL SELECT {row} FROM range({rows})"
