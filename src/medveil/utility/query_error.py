"""How well random counting queries are answered by the release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.evaluation.bootstrap import mean_interval
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.workload import answer, random_queries, shares_of_labels

SANITY = 0.001


class QueryError(Measure):
    """The relative error of random range counts.

        error(q) = |count in the release - count in the original| / max(count in the original, s n, 1), s = 0.001

    The mean over a workload of random queries, which ask for ranges of numbers and dates and sets of other values in
    one to three columns. A published label counts by the share of what it covers that meets the query, and a record as
    likely as it is real by the catalog of counterfeits, where there is one. The sanity bound s n keeps tiny counts
    from ruling the mean. The interval is a bootstrap over queries (95 %).

    Xiao and Tao 2006, Anatomy; the sanity bound: Garofalakis and Gibbons 2002, Wavelet synopses with error guarantees.
    """

    name: ClassVar[str] = "query-error"
    title: ClassVar[str] = "Error of random counts"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        coverage = {**comparison.coverage, **comparison.sensitive_coverage}
        cells = comparison.problem.cells
        domains = [cells.domains[name] for name in coverage]
        random = comparison.random(self.name)
        queries = random_queries(domains, comparison.settings.workload, random)
        if not queries:
            return Skipped("no column has two values")
        columns = list(coverage.values())
        codes = np.array([*cells.codes, *cells.sensitive.values()], dtype=np.int32)
        labels = comparison.tuples.labels
        counts = cells.counts.astype(np.float64)
        published = comparison.weights
        truth = np.array([answer(codes, counts, q, [c.leaves.astype(np.float64) for c in q]) for q in queries])
        told = np.array(
            [answer(labels, published, q, [shares_of_labels(c, columns[c.column]) for c in q]) for q in queries]
        )
        errors = np.abs(told - truth) / np.maximum(truth, max(SANITY * counts.sum(), 1.0))
        low, high = mean_interval(errors, random)
        parts = {"median": float(np.median(errors)), "95 of 100 below": float(np.quantile(errors, 0.95))}
        return Score(float(errors.mean()), low, high, parts)
