"""Counts and means over a release, each label spread evenly over what it covers, beside those of the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.evaluation.comparison import Comparison

Numbers = NDArray[np.float64]


def leaf_shares(comparison: Comparison, name: str) -> Numbers:
    """For each label of a quasi-identifier and each value of its domain, the share of the label that is that value."""
    coverage = comparison.coverage[name]
    return np.asarray(coverage.leaves / np.maximum(coverage.covered, 1.0)[:, None], dtype=np.float64)


def selected(comparison: Comparison, sensitive: str) -> Numbers:
    """How much each published record counts for a sensitive value: by the catalog, as likely as it is real."""
    name = comparison.problem.schema.sensitive[0]
    coverage = comparison.sensitive_coverage[name]
    has = np.array([label == sensitive for label in coverage.labels])
    return np.where(has[coverage.codes], comparison.reality, 0.0)


def error_by_attribute(comparison: Comparison, sensitive: str) -> dict[str, float]:
    """COUNT(*) WHERE sensitive value GROUP BY attribute: the mean of |estimate - count| / count over the groups."""
    cells = comparison.problem.cells
    of_cell = cells.sensitive[comparison.problem.schema.sensitive[0]]
    code = comparison.problem.cells.domains[comparison.problem.schema.sensitive[0]].values.index(sensitive)
    weights = selected(comparison, sensitive)
    errors = {}
    for position, name in enumerate(cells.quasi):
        shares = leaf_shares(comparison, name)
        labels = np.bincount(comparison.coverage[name].codes, weights, minlength=len(shares))
        estimate = labels @ shares
        true = np.bincount(
            cells.codes[position][of_cell == code], cells.counts[of_cell == code], minlength=shares.shape[1]
        )
        there = true > 0
        errors[name] = float(np.mean(np.abs(estimate[there] - true[there]) / true[there]))
    return errors


def error_by_number(comparison: Comparison, queries: int) -> Numbers:
    """COUNT(*) of records that equal a random one in 1, 2, ... random attributes: the relative error of each query, the
    same for every release of a table. A line for each number of attributes.
    """
    cells = comparison.problem.cells
    random = comparison.random("h-ceiling, figure 10")
    weights = comparison.reality
    shares = [leaf_shares(comparison, name) for name in cells.quasi]
    codes = [comparison.coverage[name].codes for name in cells.quasi]
    chosen = random.choice(len(cells), size=queries, p=cells.counts / cells.counts.sum())
    found = []
    for number in range(1, len(cells.quasi) + 1):
        errors = []
        for cell in chosen.tolist():
            asked = random.permutation(len(cells.quasi))[:number]
            true = cells.counts[np.all(cells.codes[asked] == cells.codes[asked, cell][:, None], axis=0)].sum()
            likely = weights.copy()
            for position in asked.tolist():
                likely *= shares[position][codes[position], cells.codes[position, cell]]
            errors.append(abs(float(likely.sum()) - true) / true)
        found.append(errors)
    return np.array(found)


def stroke_by_age(comparison: Comparison, sex: str, disease: str) -> tuple[Numbers, Numbers]:
    """Q1 to Q4: patients of five years of age each, and their mean length of stay, of one sex and without surgery."""
    weights = selected(comparison, disease)
    for name, wanted in (("sex", sex), ("surgery", "no")):
        values = comparison.problem.cells.domains[name].values
        weights = weights * leaf_shares(comparison, name)[:, values.index(wanted)][comparison.coverage[name].codes]
    age, stay = comparison.coverage["age"], comparison.coverage["length_of_stay"]
    days = leaf_shares(comparison, "length_of_stay")
    mean_days = (days @ stay.domain.numbers) / np.maximum(days.sum(axis=1), 1e-12)
    kept = np.flatnonzero(weights)
    by_group = leaf_shares(comparison, "age") @ five_years(age.domain.numbers)
    counts = weights[kept] @ by_group[age.codes[kept]]
    total = (weights[kept] * mean_days[stay.codes[kept]]) @ by_group[age.codes[kept]]
    return counts, total / np.maximum(counts, 1e-12)


def original_by_age(table: pa.Table, sex: str, disease: str) -> tuple[Numbers, Numbers]:
    """The same of the original."""
    rows = [table[name].cast(pa.string()).to_numpy(zero_copy_only=False) for name in ("sex", "surgery", "disease")]
    chosen = (rows[0] == sex) & (rows[1] == "no") & (rows[2] == disease)
    group = table["age"].to_numpy()[chosen] // 5
    counts = np.bincount(group, minlength=20).astype(np.float64)
    days = np.bincount(group, table["length_of_stay"].to_numpy()[chosen], minlength=20)
    return counts, days / np.maximum(counts, 1.0)


def five_years(ages: Numbers) -> Numbers:
    """Which age is in which of twenty groups."""
    table = np.zeros((len(ages), 20))
    table[np.arange(len(ages)), np.minimum(ages.astype(np.int64) // 5, 19)] = 1.0
    return table


def relative(estimates: Sequence[float] | Numbers, true: Numbers) -> float:
    """The sum of what estimates are off over the sum of what is true, where anything is."""
    there = true > 0
    return float(np.abs(np.asarray(estimates)[there] - true[there]).sum() / true[there].sum())
