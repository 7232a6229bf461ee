"""How well the user's own SQL aggregates are answered by the release."""

from __future__ import annotations

from typing import ClassVar

import duckdb
import numpy as np
import pyarrow as pa

from medveil.engine import with_rows
from medveil.errors import PolicyError
from medveil.evaluation.spreading import drawn, original
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import cell_codes
from medveil.utility.sql import Answer, Statement, connect, read_statement, run

TEXTS = "texts"
ROWS_DRAWN = 200_000
MOST_DRAWS = 10
"""Labels of small releases are drawn several times, so that chance is averaged out."""


class SqlQueries(Measure):
    """The relative error of the aggregates that the policy lists under `evaluation: queries`.

        error = mean over groups and figures of |in the release - in the original| / |in the original|

    Every statement is a SELECT on the table `data`, which holds the published columns; what it groups by tells groups
    apart, its aggregates are the figures. A group that only one side has counts 1. In the release every label is
    replaced by a value drawn evenly from what it covers; suppressed records are left out.
    """

    name: ClassVar[str] = "sql-queries"
    title: ClassVar[str] = "Error of the policy's queries"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        queries = comparison.settings.named_queries
        if not queries:
            return Skipped("the policy lists no queries")
        parts: dict[str, float] = {}
        skipped: dict[str, str] = {}
        connection = connect()
        try:
            statements = {}
            for name, text in queries.items():
                try:
                    statements[name] = read_statement(connection, name, text)
                except PolicyError as error:
                    skipped[name] = str(error)
            tables = _Tables(connection, comparison.by_row, statements)
            for name, statement in statements.items():
                try:
                    truth = run(connection, name, statement, tables.original)
                    errors = [_error(truth, run(connection, name, statement, table)) for table in tables.releases]
                    parts[name] = float(np.mean(errors))
                except PolicyError as error:
                    skipped[name] = str(error)
        except duckdb.Error:
            return Skipped("columns whose names differ in case only cannot be told apart in SQL")
        finally:
            connection.close()
        if not parts:
            return Skipped(" ".join(skipped.values()))
        return Score(float(np.mean(list(parts.values()))), parts=parts, skipped=skipped)


class _Tables:
    """The original and the release as SQL should see them."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, comparison: Comparison, statements: dict[str, Statement]
    ) -> None:
        self.connection = connection
        self.comparison = comparison
        read = {name.lower() for statement in statements.values() for name in statement.columns}
        self.plain = [
            name
            for name in comparison.problem.schema.plain
            if name.lower() in read and name in comparison.published.column_names
        ]
        self.original = self._original()
        rows = max(int(np.count_nonzero(~comparison.suppressed)), 1)
        random = comparison.random("sql-queries")
        self.releases = [self._release(random) for _ in range(int(np.clip(ROWS_DRAWN // rows, 1, MOST_DRAWS)))]

    def _original(self) -> pa.Table:
        """Record by record where plain columns are asked for; otherwise the cells, each as often as it occurs."""
        problem = self.comparison.problem
        cells = problem.cells
        rows = problem.cell_of_row if self.plain else np.repeat(np.arange(len(cells)), cells.counts)
        columns = {
            name: original(cells.domains[name], cell_codes(self.comparison, name)[rows]).to_arrow()
            for name in (*self.comparison.coverage, *self.comparison.sensitive_coverage)
        }
        if self.plain:
            columns |= self._plain_of_original()
        return pa.table(columns)

    def _plain_of_original(self) -> dict[str, pa.ChunkedArray]:
        """Plain columns of the source, as numbers where they are published as numbers."""
        texts = with_rows(self.comparison.problem.engine).texts(self.plain)
        selected = []
        for j, name in enumerate(self.plain):
            kind = self.comparison.published[name].type
            cast = "BIGINT" if pa.types.is_integer(kind) else "DOUBLE" if pa.types.is_floating(kind) else "VARCHAR"
            selected.append(f"TRY_CAST(t{j} AS {cast}) AS p{j}")
        self.connection.register(TEXTS, texts.rename_columns([f"t{j}" for j in range(len(self.plain))]))
        try:
            table = self.connection.sql(f"SELECT {', '.join(selected)} FROM {TEXTS}").to_arrow_table()
        finally:
            self.connection.unregister(TEXTS)
        return dict(zip(self.plain, table.columns, strict=True))

    def _release(self, random: np.random.Generator) -> pa.Table:
        comparison = self.comparison
        columns = {
            name: drawn(coverage, random).to_arrow()
            for name, coverage in {**comparison.coverage, **comparison.sensitive_coverage}.items()
            if name in comparison.published.column_names
        }
        columns |= {name: comparison.published[name] for name in self.plain}
        return pa.table(columns).filter(pa.array(~comparison.suppressed))


def _error(truth: Answer, told: Answer) -> float:
    """The mean relative error over all groups of either side."""
    errors = []
    for key in {**truth, **told}:
        before, after = truth.get(key), told.get(key)
        if before is None or after is None:
            errors += [1.0] * len(before or after or ())
        else:
            errors += [_relative(a, b) for a, b in zip(before, after, strict=True)]
    return float(np.mean(errors)) if errors else 0.0


def _relative(before: float | None, after: float | None) -> float:
    if before is None or after is None:
        return float(before is not after)
    if before == 0:
        return float(after != 0)
    return abs(after - before) / abs(before)
