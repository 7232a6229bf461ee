"""delta-presence, counted again over the population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
import pyarrow as pa

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import published_labels
from medveil.errors import MedveilError
from medveil.release.places import POPULATION
from medveil.sources.opening import open_source
from medveil.sources.source import Source
from medveil.table.domain import encode


class DeltaPresenceCheck(Check):
    """delta_min <= |E| / |E_P| <= delta_max for every class that the release or the population reaches.

    |E|: the published people of the class; |E_P|: the population's. Where somebody of the population would be is read
    from the hierarchies and levels in the manifest: a release of one level in each quasi-identifier can be checked.
    """

    name: ClassVar[str] = "delta-presence"
    terms: ClassVar[frozenset[str]] = frozenset({"delta_min", "delta_max"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        low, high = terms.number("delta_min"), terms.number("delta_max")
        shield = evidence.shield(claim)
        if evidence.source is None:
            raise CannotTell("needs --source")
        evidence.need_origin()
        population = self._open(evidence, Path(terms.word("population")), evidence.source)
        everybody = self._classes(evidence, population, evidence.source, shield)
        columns = evidence.columns(shield)
        least, most, strangers = evidence.one(
            "SELECT min(n / p) FILTER (p > 0), max(n / p) FILTER (p > 0), count(*) FILTER (p = 0) FROM ("
            "SELECT * EXCLUDE (n, p), sum(n)::DOUBLE AS n, sum(p)::DOUBLE AS p FROM ("
            f"SELECT *, 0 AS p FROM ({evidence.sizes(shield)}) UNION ALL "
            f"SELECT {columns}, 0 AS n, p FROM ({everybody})) GROUP BY ALL)"
        )
        if strangers:
            return Finding(
                {"delta_min": figure(least or 0.0), "delta_max": None},
                holds=False,
                note=f"{strangers:,} published classes hold nobody of the population",
            )
        achieved = {"delta_min": figure(least), "delta_max": figure(most)}
        return Finding(achieved, low - ROUNDING <= least and most <= high + ROUNDING)

    def _open(self, evidence: Evidence, path: Path, source: Source) -> Source:
        try:
            return open_source(evidence.places.get(POPULATION, evidence.base.resolve(path)), missing=source.missing)
        except MedveilError:
            raise CannotTell("needs the population file that the claim names") from None

    def _classes(self, evidence: Evidence, population: Source, source: Source, shield: Sequence[str]) -> str:
        """A query for the population's classes under the published labels: the shield's columns, and `p`."""
        connection = evidence.connection
        try:
            columns = ", ".join(f"f{i} AS {evidence.column(name)}" for i, name in enumerate(shield))
            connection.execute(
                f"CREATE OR REPLACE TABLE population AS SELECT {columns or '0 AS everything'}, sum(n)::BIGINT AS p "
                f"FROM {evidence.door.originals(population, shield)} GROUP BY ALL"
            )
            for name in shield:
                self._label(evidence, name, source)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error:
            raise CannotTell("the population file cannot be read") from None
        except MedveilError as error:
            raise CannotTell(f"the population file does not fit: {error.problem}") from None
        selected = ", ".join(f"label_{evidence.column(name)}.label AS {evidence.column(name)}" for name in shield)
        joins = " ".join(
            f"JOIN label_{column} ON population.{column} IS NOT DISTINCT FROM label_{column}.text"
            for column in map(evidence.column, shield)
        )
        return f"SELECT {selected or '0 AS everything'}, p FROM population {joins}"

    def _label(self, evidence: Evidence, name: str, source: Source) -> None:
        """A table from the population's texts of a column to what is published for them.

        A hierarchy that reads its groups off the data reads them off the values of the source and the population, and
        the records of the source.
        """
        column = evidence.column(name)
        rows = evidence.connection.execute(
            f"SELECT t, sum(n)::BIGINT FROM (SELECT {column} AS t, 0 AS n FROM population "
            f"UNION ALL SELECT f0 AS t, n FROM {evidence.door.originals(source, [name])}) GROUP BY t"
        ).fetchall()
        texts, records = [text for text, _ in rows], [count for _, count in rows]
        domain, codes = encode(texts, evidence.kinds[name], name, evidence.formats.get(name))
        counts = np.bincount(codes, records, minlength=len(domain)).astype(np.int64)
        labels = published_labels(evidence, name, domain, counts)
        table = pa.table(
            {
                "text": pa.array(texts, pa.string()),
                "label": pa.array([labels[code] for code in codes], pa.string()),
            }
        )
        evidence.keep(f"label_{column}", table)
