"""The noisy contingency table: what IPA is compared with."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from medveil.methods.dp.method import (
    DROWNED,
    MOST_NOISE_ROWS,
    DifferentiallyPrivate,
    against_truth,
    drowned,
    grid_of,
    noisy_draft,
    noisy_published,
    privacy_unit,
    refuse_seed,
    table_of,
    whole_table,
)
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.dp.trials import cell_trials
from medveil.methods.privacy_trial import Integers, PrivacyTrial
from medveil.methods.problem import Problem
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.integer_noise import GeometricNoise
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.run import Run, Stage


class DPHistogram(DifferentiallyPrivate):
    """Every cell of the full declared domain with two-sided geometric noise, published where it passes a threshold.

    Nothing is generalized: dimensions stay at their lowest levels. All of epsilon goes into the cells (step D of
    docs/proofs/ipa.md alone). Cells without records are sampled, not listed.

    Cormode, Procopiuc, Srivastava and Tran 2012, Differentially private summaries for sparse data; as the histogram of
    Lee and Chung 2020.
    """

    name: ClassVar[str] = "dp-histogram"
    leaves_open: ClassVar[str] = (
        "Rows are drawn from noisy counts: none is a record of a person, and rare combinations may be missing or "
        "made up."
    )

    false_cells: Annotated[
        float, Field(gt=0, le=1_000_000, description="How many cells without a record may be expected to pass.")
    ] = 1.0

    def why_not(self, problem: Problem) -> str | None:
        name = problem.schema.sensitive[0] if problem.schema.sensitive else ""
        if name and name not in problem.reference.hierarchies:
            return f"it needs a declared domain of '{name}'"
        found = super().why_not(problem)
        if found is not None:
            return found
        grid, spending = grid_of(problem), self.spending(problem)
        cells = grid.cells(grid.space.bottom)
        if cells >= MOST_PLACES:
            return "the declared domain has more than 2^61 cells"
        if drowned({"cells": spending.epsilon}, spending.max_records_per_subject):
            return DROWNED
        noise = GeometricNoise(spending.max_records_per_subject, spending.epsilon)
        rows = min(self.false_cells, cells) * (noise.threshold(cells, self.false_cells) + noise.scale)
        return DROWNED if rows > MOST_NOISE_ROWS else None

    def privacy_trials(self, spending: Spending, runs: int, *, declared: bool) -> list[PrivacyTrial]:  # noqa: ARG002
        noise = GeometricNoise(spending.max_records_per_subject, spending.epsilon)
        threshold = noise.threshold(4, self.false_cells)

        def publish(size: int, least: int, keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
            return NoisyCells(noise, size, least).publish(keys, counts)

        records = spending.max_records_per_subject
        return cell_trials("whole", spending.epsilon, publish, threshold, records, 20 * runs)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        refuse_seed(run)
        spending = self.spending(problem)
        grid = grid_of(problem)
        table = table_of(problem, grid)
        noise = GeometricNoise(spending.max_records_per_subject, spending.epsilon)
        levels = grid.space.bottom
        threshold = noise.threshold(grid.cells(levels), self.false_cells)
        run.step(Stage.SEARCH, None, "Adding noise")
        own = grid.keys(table)
        keys, counts = NoisyCells(noise, grid.cells(levels), threshold).publish(own, table.counts)
        part, none = whole_table(grid, levels, keys, counts), np.zeros(grid.values, dtype=np.int64)
        return noisy_draft(
            problem,
            noisy_published(problem, grid, [part], part.values, none),
            levels,
            self.description(
                unit=privacy_unit(problem, spending),
                spent={"cells": spending.epsilon},
                threshold=threshold,
                proof="docs/proofs/ipa.md",
            ),
            against_truth(grid, table, [part], none),
        )
