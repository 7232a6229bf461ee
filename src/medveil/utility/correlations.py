"""Whether pairs of columns go together in the release as they do in the original."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np

from medveil.utility.association import Categories, Column, association, original_column, published_column
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import cell_codes

LARGEST_TABLE = 1 << 22
"""Pairs of categories with more combinations of values, or of labels, than this are left out."""


class CorrelationDistance(Measure):
    """How far the association of two columns is from what it is in the original, on average over all pairs.

        D = mean over pairs of columns of |a(original) - a(release)|

    a: Pearson's correlation of two numbers (dates count as days), the correlation ratio of a number and a category,
    Cramer's V of two categories, corrected for bias. Every label of the release is spread evenly over
    what it covers, exactly and not by draws; missing values take no part with numbers.

    Cramer's V corrected: Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T.
    """

    name: ClassVar[str] = "correlation-distance"
    title: ClassVar[str] = "Distance of correlations"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        columns = {**comparison.coverage, **comparison.sensitive_coverage}
        if len(columns) < 2:
            return Skipped("there are fewer than two columns to compare")
        if not len(comparison.classes):
            return Skipped("nothing was published")
        domains = comparison.problem.cells.domains
        before = {name: original_column(domains[name], cell_codes(comparison, name)) for name in columns}
        after = {
            name: published_column(coverage, labels)
            for (name, coverage), labels in zip(columns.items(), comparison.tuples.labels, strict=True)
        }
        weights = comparison.problem.cells.counts.astype(np.float64)
        published = comparison.tuples.records.astype(np.float64)
        parts, skipped = {}, {}
        for a, b in itertools.combinations(columns, 2):
            if _size_of_table(after[a], after[b]) > LARGEST_TABLE:
                skipped[f"{a}, {b}"] = "they have too many values"
                continue
            then, now = association(before[a], before[b], weights), association(after[a], after[b], published)
            if then is None:
                skipped[f"{a}, {b}"] = "one of them does not vary"
            else:
                parts[f"{a}, {b}"] = abs(then - (now or 0.0))
        if not parts:
            return Skipped("no pair of columns has an association that could be compared")
        return Score(float(np.mean(list(parts.values()))), parts=parts, skipped=skipped)


def _size_of_table(a: Column, b: Column) -> int:
    """How many numbers are held at a time where two categories are compared; 0 where one of them is a number."""
    if not isinstance(a, Categories) or not isinstance(b, Categories):
        return 0
    return max(len(a.held), a.size) * max(len(b.held), b.size)
