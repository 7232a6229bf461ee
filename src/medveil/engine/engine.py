"""Where rows are scanned and counted: DuckDB in the process.

Rows stay in DuckDB, which spills to disk where they outgrow memory; what comes out is counted. Column j of the
loaded table is `d<j>`, in the order in which the columns were asked for.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.engine.published import Published, register
from medveil.errors import InputError
from medveil.guessing.guess import SAMPLE, ColumnProfile
from medveil.table.csv_dialect import explain
from medveil.table.source import CsvSource, Source

COUNT = "records"
STAR = "*"
KEPT = " "
"""The first column of links: whether a record was kept. No column of a source can be called so."""


@dataclass(frozen=True)
class Limits:
    """What the engine may use: `threads` (all cores where None), `memory` such as `4GB` (most of it where None), and
    `spill`, a folder for what outgrows memory (one of its own where None).
    """

    threads: int | None = None
    memory: str | None = None
    spill: Path | None = None


class Engine:
    """One table, loaded once from its source and counted as often as needed. Close it, or use it in a `with`."""

    def __init__(
        self, source: Source, columns: Sequence[str], limits: Limits | None = None, *, may_be_empty: bool = False
    ) -> None:
        limits = limits or Limits()
        if limits.memory is not None and not re.fullmatch(r"[1-9]\d*\s*([KMGT]i?B)", limits.memory, re.IGNORECASE):
            raise InputError("The memory limit cannot be read.", "Write a number and a unit, such as 4GB.")
        self._spill = limits.spill or Path(tempfile.mkdtemp(prefix="medveil-"))
        config: dict[str, Any] = {"temp_directory": str(self._spill), "autoinstall_known_extensions": "false"}
        if limits.threads is not None:
            config["threads"] = limits.threads
        if limits.memory is not None:
            config["memory_limit"] = limits.memory
        self.connection = duckdb.connect(config=config)
        self.columns = tuple(dict.fromkeys(columns))
        self.missing = source.missing
        self._may_be_empty = may_be_empty
        try:
            self._load(source)
        except BaseException:
            self.close()
            raise

    def _load(self, source: Source) -> None:
        expressions = [f"{source.text(name)} AS d{j}" for j, name in enumerate(self.columns)] or ["1 AS d0"]
        relation = source.relation(self.connection)
        try:
            self.connection.execute(f"CREATE TABLE data AS SELECT {', '.join(expressions)} FROM {relation}")
        except duckdb.OutOfMemoryException:
            raise InputError("The memory limit is too small for these data.", "Allow more with --memory.") from None
        except duckdb.Error as error:
            remedy = explain(error) if isinstance(source, CsvSource) else "Is the file whole, and of plain columns?"
            raise InputError("The data cannot be read.", remedy) from None
        self.rows = int(self._one("SELECT count(*) FROM data"))
        if self.rows == 0 and not self._may_be_empty:
            raise InputError("The data hold no records.", "Give a table with at least one record.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _one(self, query: str) -> Any:
        return self.connection.execute(query).fetchall()[0][0]

    def column(self, name: str) -> str:
        """The internal name of a loaded column."""
        return f"d{self.columns.index(name)}"

    def profile(self, name: str) -> ColumnProfile:
        """What can be counted of one column, and a sample of its distinct values that does not depend on row order."""
        column = self.column(name)
        distinct, missing, longest, average, lowest, highest = self.connection.execute(
            f"SELECT count(DISTINCT {column}), count(*) - count({column}), max(length({column})), "
            f"avg(length({column})), min(TRY_CAST({column} AS DOUBLE)), max(TRY_CAST({column} AS DOUBLE)) FROM data"
        ).fetchall()[0]
        sample = self.connection.execute(
            f"SELECT {column} FROM (SELECT DISTINCT {column} FROM data WHERE {column} IS NOT NULL) "
            f"ORDER BY hash({column}), {column} LIMIT {SAMPLE}"
        ).fetchall()
        values = sorted(row[0] for row in sample)
        return ColumnProfile(name, self.rows, distinct, missing, values, longest or 0, average or 0.0, lowest, highest)

    def distinct(self, name: str) -> int:
        """How many values a column has, missing aside."""
        return int(self._one(f"SELECT count(DISTINCT {self.column(name)}) FROM data"))

    def unique_share(self, columns: Sequence[str]) -> float:
        """The share of records that no other record equals in these columns."""
        if not columns:
            return 0.0
        grouped = f"SELECT count(*) AS n FROM data GROUP BY {', '.join(self.column(name) for name in columns)}"
        return float(self._one(f"SELECT count(*) FROM ({grouped}) WHERE n = 1")) / self.rows

    def bound_records(self, subject: str, most: int) -> int:
        """Keep at most so many records of each subject, drawn at random, and none without a subject: how many went.

        What is kept of one subject does not depend on the others.
        """
        person = self.column(subject)
        # A window may not be ordered by what is drawn anew each time it is looked at: numbers are drawn first.
        drawn = f"SELECT *, random() AS chance FROM data WHERE {person} IS NOT NULL"
        kept = (
            f"SELECT * EXCLUDE (place, chance) FROM (SELECT *, row_number() OVER (PARTITION BY {person} "
            f"ORDER BY chance) AS place FROM ({drawn})) WHERE place <= {int(most)}"
        )
        before = self.rows
        self.connection.execute(f"CREATE OR REPLACE TABLE data AS {kept}").fetchall()
        self.rows = int(self._one("SELECT count(*) FROM data"))
        return before - self.rows

    def cells(self, columns: Sequence[str]) -> pa.Table:
        """The distinct tuples of these columns with their number of `records`: columns q0, q1, ... and `records`."""
        if not columns:
            return pa.table({COUNT: pa.array([self.rows], pa.int64())})
        selected = ", ".join(f"{self.column(name)} AS q{j}" for j, name in enumerate(columns))
        return self.connection.sql(f"SELECT {selected}, count(*) AS {COUNT} FROM data GROUP BY ALL").to_arrow_table()

    def subjects(
        self, cells: pa.Table, columns: Sequence[str], subject: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        """Who is in each cell, as offsets and codes from 0; records without a subject count as one person together."""
        numbered = self._numbered(cells)
        self.connection.register("cells", numbered)
        person = self.column(subject)
        try:
            pairs: pa.Table = self.connection.sql(
                f"WITH people AS (SELECT {person} AS person, row_number() OVER () - 1 AS code "
                f"FROM (SELECT DISTINCT {person} FROM data)) "
                f"SELECT DISTINCT cells.cell AS cell, people.code AS code FROM data "
                f"JOIN cells ON {self._same(columns)} JOIN people ON data.{person} IS NOT DISTINCT FROM people.person "
                f"ORDER BY cell, code"
            ).to_arrow_table()
        finally:
            self.connection.unregister("cells")
        cell = pairs["cell"].to_numpy()
        codes = pairs["code"].to_numpy().astype(np.int32)
        offsets = np.searchsorted(cell, np.arange(len(cells) + 1)).astype(np.int64)
        return offsets, codes, int(codes.max(initial=-1)) + 1

    def _numbered(self, cells: pa.Table) -> pa.Table:
        return cells.append_column("cell", pa.array(np.arange(len(cells), dtype=np.int64)))

    def _same(self, columns: Sequence[str]) -> str:
        conditions = [f"data.{self.column(name)} IS NOT DISTINCT FROM cells.q{j}" for j, name in enumerate(columns)]
        return " AND ".join(conditions) or "true"

    def recode(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str] = (),
        *,
        stars: bool = False,
    ) -> Published:
        """Every record with the labels of its cell, and its plain columns as they are.

        `labels[j]` holds what is published in column `columns[j]` for each cell; records of cells that are not `kept`
        are left out, or published as rows of `*`.
        """
        selected = pa.table([*labels, cells[COUNT]], names=[*(f"p{j}" for j in range(len(labels))), COUNT])
        published = ", ".join(f"p{j}" for j in range(len(labels)))
        names = (*columns, *plain)
        if plain:
            keys = [cells[f"q{j}"] for j in range(len(columns))]
            both = pa.table(
                [*keys, *labels, pa.array(kept)],
                names=[*(f"q{j}" for j in range(len(keys))), *(f"p{j}" for j in range(len(labels))), "kept"],
            )
            view = register(self.connection, both)
            extra = ", ".join(f"data.{self.column(name)} AS p{len(labels) + j}" for j, name in enumerate(plain))
            query = f"SELECT {published}, {extra} FROM data JOIN {view} AS cells ON {self._same(columns)} WHERE kept"
        else:
            view = register(self.connection, selected.filter(pa.array(kept)))
            query = (
                f"SELECT {published} FROM (SELECT {published}, sum({COUNT})::BIGINT AS n FROM {view} GROUP BY ALL), "
                f"unnest(range(n))"
            )
        suppressed = int(np.asarray(cells[COUNT])[~kept].sum()) if stars else 0
        return Published(self.connection, query + _stars(suppressed, len(names)), names)

    def cell_of_row(self, cells: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
        """The cell of each record, in the source's order."""
        view = register(self.connection, self._numbered(cells))
        query = f"SELECT cell FROM data JOIN {view} AS cells ON {self._same(columns)} ORDER BY data.rowid"
        return np.asarray(self.connection.sql(query).to_arrow_table()["cell"])

    def recode_rows(
        self,
        names: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        plain: Sequence[str] = (),
        *,
        stars: bool = False,
    ) -> Published:
        """Every record with labels of its own, in the source's order, and its plain columns as they are."""
        rows = pa.table(
            [*labels, pa.array(kept), pa.array(np.arange(self.rows))],
            names=[*(f"p{j}" for j in range(len(labels))), "kept", "number"],
        )
        view = register(self.connection, rows)
        selected = ", ".join(
            [
                *(f"p{j}" for j in range(len(labels))),
                *(f"data.{self.column(name)} AS p{len(labels) + j}" for j, name in enumerate(plain)),
            ]
        )
        joined = f"{view} JOIN data ON data.rowid = number" if plain else view
        query = f"SELECT {selected} FROM {joined} WHERE kept"
        everything = (*names, *plain)
        suppressed = int(np.count_nonzero(~kept)) if stars else 0
        return Published(self.connection, query + _stars(suppressed, len(everything)), everything)

    def write_links(
        self,
        cells: pa.Table,
        columns: Sequence[str],
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        path: Path,
    ) -> None:
        """What became of each record of the source, in its order: whether it was kept, and the label of each column.

        Only the steward's own checks may read this file: it ties the release to the input.
        """
        keys = [cells[f"q{j}"] for j in range(len(columns))]
        names = [*(f"q{j}" for j in range(len(keys))), *(f"p{j}" for j in range(len(labels))), "kept"]
        view = register(self.connection, pa.table([*keys, *labels, pa.array(kept)], names=names))
        published = ", ".join(f"p{j}" for j in range(len(labels)))
        query = f"SELECT kept, {published} FROM data JOIN {view} AS cells ON {self._same(columns)} ORDER BY data.rowid"
        write_links(path, self.connection.sql(query).to_arrow_table().rename_columns([KEPT, *columns]))


def write_links(path: Path, links: pa.Table) -> None:
    pyarrow.parquet.write_table(links, path, compression="zstd")


def _stars(rows: int, columns: int) -> str:
    """What adds rows of `*` to a query."""
    if not rows:
        return ""
    row = ", ".join(f"'{STAR}' AS p{j}" for j in range(columns))
    return f" UNION ALL SELECT {row} FROM range({rows})"
