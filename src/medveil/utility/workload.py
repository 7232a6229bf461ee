"""Random counting queries over the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.evaluation.coverage import Coverage
from medveil.evaluation.runs import are_whole
from medveil.table.domain import Domain
from medveil.table.schema import Kind

Floats = NDArray[np.float64]
MOST_COLUMNS = 3
SELECTED = 0.1
"""About this share of all combinations of values is asked for."""


@dataclass(frozen=True)
class Condition:
    """A condition on one column: the leaves that meet it, and for numbers and dates the stretch of the line."""

    column: int
    leaves: NDArray[np.bool_]
    stretch: tuple[float, float] | None


Query = tuple[Condition, ...]


def random_queries(domains: Sequence[Domain], number: int, random: np.random.Generator) -> list[Query]:
    """Queries on one to three columns: ranges of numbers and dates between two values, sets of other values.

    On d columns each condition meets 10^(-1/d) of the column's values, one at least.
    """
    useful = [j for j, domain in enumerate(domains) if len(domain.present) > 1]
    queries = []
    for _ in range(number if useful else 0):
        width = int(random.integers(1, min(MOST_COLUMNS, len(useful)) + 1))
        columns = np.sort(random.choice(useful, width, replace=False)).tolist()
        share = SELECTED ** (1 / width)
        queries.append(tuple(_condition(j, domains[j], share, random) for j in columns))
    return queries


def _condition(column: int, domain: Domain, share: float, random: np.random.Generator) -> Condition:
    present = len(domain.present)
    chosen = max(round(share * present), 1)
    leaves = np.zeros(len(domain), dtype=np.bool_)
    if domain.kind not in {Kind.NUMBER, Kind.DATE}:
        leaves[random.choice(present, chosen, replace=False)] = True
        return Condition(column, leaves, None)
    first = int(random.integers(0, present - chosen + 1))
    leaves[first : first + chosen] = True
    low, high = float(domain.numbers[first]), float(domain.numbers[first + chosen - 1])
    end = high + 1.0 if are_whole(domain.numbers) else float(np.nextafter(high, np.inf))
    return Condition(column, leaves, (low, end))


def shares_of_labels(condition: Condition, coverage: Coverage) -> Floats:
    """The share of each label that meets a condition, where labels are spread evenly over what they cover, or by
    published marginals.
    """
    if condition.stretch is not None and coverage.line is not None and coverage.weights is None:
        return coverage.line.shares_within(*condition.stretch) * (1.0 - coverage.missing)
    return coverage.shares(condition.leaves)


def answer(codes: NDArray[np.int32], counts: Floats, query: Query, shares: Sequence[Floats]) -> float:
    """The weighted count of the tuples that meet a query.

    `codes[j, i]` is the code of tuple i in column j, which stands for `counts[i]` records; `shares[d]` says what share
    of each code of the query's d-th column meets its condition.
    """
    columns = [codes[condition.column] for condition in query]
    (a, b, c), (first, second, third) = (([*given] * MOST_COLUMNS)[:MOST_COLUMNS] for given in (columns, shares))
    return float(_answer(len(query), a, b, c, first, second, third, counts))


@outer
def _answer(
    columns: int,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    c: NDArray[np.int32],
    shares_a: Floats,
    shares_b: Floats,
    shares_c: Floats,
    counts: Floats,
) -> float:
    total = 0.0
    for i in range(len(counts)):
        met = shares_a[a[i]] * counts[i]
        if met == 0.0:
            continue
        if columns > 1:
            met *= shares_b[b[i]]
        if columns > 2:
            met *= shares_c[c[i]]
        total += met
    return total
