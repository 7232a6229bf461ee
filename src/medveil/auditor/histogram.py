"""How often each class has each sensitive value, as flat arrays, with what the input has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.auditor.context import Refuted
from medveil.auditor.evidence import Evidence
from medveil.table.arrow import number_array, numpy_of, text_array
from medveil.table.domain import Domain, domain_of


@dataclass(frozen=True)
class AuditedHistogram:
    """Class i has the values `codes[starts[i]:starts[i + 1]]` with these `counts`; all in people where a subject is
    declared. `sizes[i]` are the people of the class, who are fewer than its counts where one has several values.
    """

    domain: Domain
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The class of each pair."""
        return np.repeat(np.arange(len(self.sizes)), np.diff(self.starts))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of each pair among the counts of its class."""
        return np.asarray(self.counts / self.added(self.counts)[self.classes], dtype=np.float64)

    @property
    def distinct(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def added(self, figures: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The sum of a figure over each class; every class has a value."""
        return np.add.reduceat(figures, self.starts[:-1]).astype(np.float64)

    def largest(self, figures: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The largest figure of each class."""
        return np.maximum.reduceat(figures, self.starts[:-1]).astype(np.float64)


def read_domain(evidence: Evidence, attribute: str, *, whole: bool) -> tuple[Domain, str]:
    """The values of an attribute that are published and, with `whole`, those of the input, in natural order; and the
    table in which they are numbered.
    """
    column = evidence.column(attribute)
    numbered = f"codes_{column}_{'whole' if whole else 'published'}"
    if numbered in evidence.domains:
        return evidence.domains[numbered], numbered
    query = f"SELECT {column} AS s FROM cells"
    if evidence.recoded(attribute):
        evidence.need_linked()
        query = f"SELECT {evidence.original(attribute)} AS s FROM linked"
    if whole:
        query += f" UNION SELECT s FROM ({evidence.reference(attribute)})"
    values = evidence.distinct(f"({query})", "s")
    try:
        domain = domain_of(values, evidence.kinds[attribute])
    except ValueError:
        raise Refuted(f"the published column '{attribute}' does not hold what it is declared to") from None
    table = pa.table({"s": text_array(domain.values), "code": number_array(np.arange(len(domain)))})
    evidence.keep(numbered, table)
    evidence.domains[numbered] = domain
    return domain, numbered


def count(evidence: Evidence, shield: Sequence[str], attribute: str, *, whole: bool = False) -> AuditedHistogram:
    """The histogram of an attribute in every class of the shield; `whole`: over the input's values too."""
    domain, numbered = read_domain(evidence, attribute, whole=whole)
    keys = ", ".join(evidence.column(name) for name in shield) or "everything"
    grouped = (
        f"SELECT {keys}, list({{'code': code, 'n': n}}) AS pairs, sum(n)::BIGINT AS size "
        f"FROM ({evidence.pairs(shield, attribute)}) AS counted "
        f"JOIN {numbered} AS codes ON counted.s IS NOT DISTINCT FROM codes.s GROUP BY {keys}"
    )
    if evidence.counts_people:
        same = " AND ".join(f"a.{key} IS NOT DISTINCT FROM b.{key}" for key in keys.split(", "))
        grouped = f"SELECT pairs, b.n AS size FROM ({grouped}) AS a JOIN ({evidence.sizes(shield)}) AS b ON {same}"
    table = evidence.connection.sql(f"SELECT pairs, size FROM ({grouped})").to_arrow_table().combine_chunks()
    pairs = table["pairs"].chunk(0)
    flat = pairs.flatten()
    offsets = numpy_of(pairs.offsets).astype(np.int64)
    return AuditedHistogram(
        domain=domain,
        sizes=numpy_of(table["size"]).astype(np.int64),
        starts=offsets - offsets[0],
        codes=numpy_of(flat.field("code")).astype(np.int64),
        counts=numpy_of(flat.field("n")).astype(np.int64),
    )


def input_counts(evidence: Evidence, attribute: str, domain: Domain) -> NDArray[np.int64]:
    """How many records of the input have each value of the domain, whoever they belong to."""
    table = "cells" if evidence.source is None else "origin"
    column = evidence.column(attribute)
    found = dict(evidence.connection.execute(f"SELECT {column}, sum(n)::BIGINT FROM {table} GROUP BY ALL").fetchall())
    return np.array([found.get(value, 0) for value in domain.values], dtype=np.int64)


def input_shares(evidence: Evidence, attribute: str, domain: Domain) -> NDArray[np.float64]:
    """The share of each value of the domain in the whole input; 0 where the input has none of it."""
    found = dict(evidence.connection.execute(evidence.reference(attribute)).fetchall())
    counts = np.array([found.get(value, 0) for value in domain.values], dtype=np.float64)
    if not counts.any():
        raise Refuted("the source holds no records")
    return np.asarray(counts / counts.sum(), dtype=np.float64)
