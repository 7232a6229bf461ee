"""All measures of one release."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from medveil.errors import CancelledError, MedveilError
from medveil.run import Stage
from medveil.system import return_memory
from medveil.utility.measure import Comparison, Measure, Score, Skipped


def compute_measures(
    comparison: Comparison, found: Mapping[str, type[Measure]], *, cheap_only: bool
) -> dict[str, Score | Skipped]:
    """Every measure of a release; expensive ones are left out where only cheap ones are wanted."""
    results: dict[str, Score | Skipped] = {}
    for number, (name, measure) in enumerate(found.items()):
        if cheap_only and not measure.cheap:
            continue
        if measure.needs_original and not comparison.original:
            results[name] = Skipped("the original is not given")
            continue
        if measure.needs_original and not comparison.problem.cells.records:
            results[name] = Skipped("the original holds no records")
            continue
        comparison.run.step(Stage.MEASURE, number / len(found), measure.title)
        return_memory()
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                score = measure().compute(comparison)
        except CancelledError:
            raise
        except MedveilError as error:
            score = Skipped(str(error))
        too_large = isinstance(score, Score) and not np.isfinite([score.value, *score.parts.values()]).all()
        results[name] = Skipped("a column has numbers that are too large to compute with") if too_large else score
    return results
