"""Non-uniform entropy: what generalization hides, counted in bits of the original's own distribution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import leaf_counts
from medveil.utility.per_attribute import mean_over_records


class NonUniformEntropy(Measure):
    """How many of the bits that tell original values apart are gone.

        NUE = mean over quasi-identifiers of
              sum over records of log2(n(label) / n(value)) / sum over records of log2(n / n(value))

    n(value): the records of the original with that value; n(label): those with a value that the label covers; n: all.
    A record that is not published counts as if its label were `*`. Generalizing a rare value into a common group
    costs more than the other way round, which is why it is called non-uniform. The sums separate, so that it need not
    be known which record became which.

    Gionis and Tassa 2009, k-anonymization with minimal loss of information.
    """

    name: ClassVar[str] = "non-uniform-entropy"
    title: ClassVar[str] = "Bits of detail lost"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        if not comparison.coverage:
            return Skipped("there is no quasi-identifier")
        parts, constant = {}, {}
        for name, coverage in comparison.coverage.items():
            counts = leaf_counts(comparison, name).astype(np.float64)
            total = counts.sum()
            running = np.concatenate([[0.0], np.cumsum(counts)])
            held = coverage.held
            behind = running[held.ends.astype(np.int64)] - running[held.starts.astype(np.int64)]
            behind = np.bincount(held.label, behind, minlength=len(coverage.labels))
            present = counts[counts > 0]
            values = float((present * np.log2(present)).sum()) / total if total else 0.0
            most = np.log2(total) - values if total else 0.0
            if most <= 0:
                constant[name] = "all records have the same value"
                continue
            # A label behind which the original has nobody, such as a mean, tells no less than a value.
            bits = np.log2(np.maximum(behind, 1.0)) - np.where(behind > 0, values, 0.0)
            bits[behind == 0] = 0.0
            parts[name] = float(np.clip(mean_over_records(comparison, name, bits, most) / most, 0.0, 1.0))
        if not parts:
            return Skipped("every quasi-identifier has one value only")
        weights = np.array([comparison.problem.weight(name) for name in parts])
        return Score(float(np.average(list(parts.values()), weights=weights)), parts=parts, skipped=constant)
