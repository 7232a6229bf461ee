"""The loss metric LM of a release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.utility.measure import Comparison, Measure, Score, Skipped


class LossMetric(Measure):
    """How much of each value's detail is gone.

        LM = mean over records and weighted mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1)

    A record of the input that is not published counts 1.

    Iyengar 2002, Transforming data to satisfy privacy constraints.
    """

    name: ClassVar[str] = "lm"
    title: ClassVar[str] = "Loss of detail (LM)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        problem = comparison.problem
        if not comparison.coverage:
            return Skipped("there is no quasi-identifier")
        input_records = problem.cells.records
        kept = ~comparison.suppressed
        published = int(np.count_nonzero(kept))
        missing = max(input_records - published, 0)
        parts = {}
        for name, coverage in comparison.coverage.items():
            loss = (coverage.covered - 1.0) / max(coverage.size - 1.0, 1.0)
            parts[name] = (float(loss[coverage.codes][kept].sum()) + missing) / (published + missing)
        weights = np.array([problem.weight(name) for name in parts])
        return Score(float(np.average(list(parts.values()), weights=weights)), parts=parts)
