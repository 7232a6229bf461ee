"""A table that is about to be published: a query whose rows come out sorted by what they publish."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

from medveil.errors import OutputError
from medveil.table.source import quote_text

BATCH = 100_000


@dataclass(frozen=True)
class Published:
    """Columns p0, p1, ... of `query`, called `names`; the order of the rows says nothing about the input."""

    connection: duckdb.DuckDBPyConnection
    query: str
    names: tuple[str, ...]

    @cached_property
    def rows(self) -> int:
        return int(self.connection.execute(f"SELECT count(*) FROM ({self.query})").fetchall()[0][0])

    def _sorted(self) -> str:
        columns = ", ".join(f"p{j}" for j in range(len(self.names)))
        return f"SELECT {columns} FROM ({self.query}) ORDER BY {columns}"

    def write(self, path: Path, file_format: str) -> None:
        """Write the rows as `csv` or `parquet`."""
        try:
            if file_format == "csv":
                self._write_csv(path)
            else:
                self._write_parquet(path)
        except (duckdb.Error, OSError) as error:
            cause = "The disk is full." if "space" in str(error).lower() else "Is the folder writable?"
            raise OutputError(f"'{path.name}' cannot be written.", cause) from None

    def _write_csv(self, path: Path) -> None:
        """The header is ours: DuckDB would rename columns that differ in case only."""
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(self.names)
        if self.rows == 0:
            path.write_text(header.getvalue(), encoding="utf-8")
            return
        options = f"FORMAT csv, HEADER false, PREFIX {quote_text(header.getvalue())}, SUFFIX '\n'"
        self.connection.execute(f"COPY ({self._sorted()}) TO {quote_text(str(path))} ({options})")

    def _write_parquet(self, path: Path) -> None:
        reader = self.connection.sql(self._sorted()).to_arrow_reader(BATCH)
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, self.names, strict=True)])
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for batch in reader:
                writer.write_batch(batch.rename_columns(list(self.names)))

    def to_arrow(self) -> pa.Table:
        return self.connection.sql(self._sorted()).to_arrow_table().rename_columns(list(self.names))


def published_table(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Published:
    """An Arrow table, as a method made it, ready to be published."""
    view = register(connection, table.rename_columns([f"p{j}" for j in range(table.num_columns)]))
    return Published(connection, f"SELECT * FROM {view}", tuple(table.column_names))


def register(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> str:
    """A view on an Arrow table under a name that nothing else has."""
    view = f"view_{uuid.uuid4().hex}"
    connection.register(view, table)
    return view


def text_columns(labels: Sequence[pa.Array]) -> pa.Table:
    """Published columns p0, p1, ... of an Arrow table."""
    return pa.table(list(labels), names=[f"p{j}" for j in range(len(labels))])
