"""IPA: differentially private microdata with raw informative values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from medveil.codes.rank import KEY_LIMIT
from medveil.methods.dp.budget import SHARES, learning_shares, parts, proved_parts
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.ipa_published import PUBLISHED_SHARES, publish
from medveil.methods.dp.marginals import line_of, marginal_levels
from medveil.methods.dp.method import (
    DROWNED,
    MOST_COMBINATIONS,
    MOST_NOISE_ROWS,
    DifferentiallyPrivate,
    against_truth,
    drowned,
    grid_of,
    informative_declared,
    informative_sizes,
    noisy_draft,
    noisy_published,
    privacy_unit,
    public_grid,
    refuse_seed,
    table_of,
    whole_table,
)
from medveil.methods.dp.outcome import Outcome
from medveil.methods.dp.proved_trials import proved_trials
from medveil.methods.dp.trials import published_trials, small_grid
from medveil.methods.privacy_trial import PrivacyTrial
from medveil.methods.problem import Problem
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.release.marginals import MARGINALS, to_table
from medveil.run import Run, Stage

WARNING = (
    "No differential privacy guarantee: the algorithm as published lets records out as they are. "
    "Treat this table as if it held the original records."
)


class InformativePreserving(DifferentiallyPrivate):
    """Informative attributes (the sensitive ones) are published as they are. Their values are divided into strata by
    noisy totals; for each stratum the dimensions (the quasi-identifiers) are generalized at a node of the lattice that
    is chosen privately. Cells with few records are suppressed to rows of `*`, and noise inserts and removes records.
    Noisy marginals of the dimensions are published beside the table.

    `guarantee: proved` is epsilon-differentially private (docs/proofs/ipa.md). `guarantee: published` is the algorithm
    of the paper, which is not: it publishes values that one person alone has. It is there to be compared with.

    Lee and Chung 2020, Differentially private release of medical microdata: an efficient and practical approach for
    preserving informative attribute values.
    """

    name: ClassVar[str] = "ipa"
    leaves_open: ClassVar[str] = (
        "Rows stand for noisy counts: none is a record of a person, and rare combinations may be missing or made up."
    )

    guarantee: Annotated[
        Literal["proved", "published"],
        Field(description="`proved`: differentially private; `published`: as in the paper, without any guarantee."),
    ] = "proved"
    split: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]] | None,
        Field(
            description="The shares of epsilon: node, cells and totals (0.04, 0.81, 0.15; where values are learned "
            "0.04, 0.48, 0.48), of which a third of the totals' is for the marginals; as published suppression, "
            "insertion, value and node (0.1, 0.3, 0.3, 0.3)."
        ),
    ] = None
    false_cells: Annotated[
        float | None,
        Field(
            gt=0,
            le=1_000_000,
            description="Proved: how many cells without a record may be expected to pass their thresholds "
            "(default: as many as give the least expected loss).",
        ),
    ] = None
    expected_records: Annotated[
        int | None,
        Field(
            ge=1,
            description="Where informative values are learned: how many records a value that matters is expected to "
            "have. It decides the share of the totals; a run that could hardly show such values warns beforehand.",
        ),
    ] = None
    suppression_threshold: Annotated[
        int,
        Field(ge=2, description="Published: classes of this many records or fewer are suppressed, give or take noise."),
    ] = 2

    @model_validator(mode="after")
    def _split_names_every_part(self) -> InformativePreserving:
        if self.split is not None and set(self.split) != set(self._shares):
            raise ValueError(f"The split must name exactly these parts: {', '.join(self._shares)}.")
        return self

    @property
    def _shares(self) -> dict[str, float]:
        return SHARES if self.guarantee == "proved" else PUBLISHED_SHARES

    @property
    def guaranteed(self) -> bool:
        return self.guarantee == "proved"

    @property
    def several_informative(self) -> bool:
        return self.guaranteed

    def why_not(self, problem: Problem) -> str | None:
        found = super().why_not(problem)
        if found is not None:
            return found
        if len(problem.schema.sensitive) > 1 and not informative_declared(problem):
            return "several informative attributes need declared domains"
        epsilon, grid = self._spent(problem), public_grid(problem)
        if len(problem.schema.sensitive) > 1 and grid.values > MOST_COMBINATIONS:
            return f"the informative attributes have more than {MOST_COMBINATIONS:,} combinations"
        if not self.guaranteed:
            if grid_of(problem).cells(grid.space.bottom) > KEY_LIMIT:
                return "the declared domain has more than 2^62 cells"
            inserted = len(problem.cells) / 2 / max(epsilon["insertion"], 1e-300)
            return DROWNED if inserted > MOST_NOISE_ROWS else None
        if grid.cells(grid.space.top) >= MOST_PLACES:
            return "the declared domain has more than 2^61 cells at the highest levels"
        counted = max(len(problem.schema.sensitive), len(problem.schema.quasi))
        if drowned(epsilon, self.spending(problem).max_records_per_subject * counted):
            return DROWNED
        mechanism = self._mechanism(problem, grid)
        return DROWNED if not mechanism.delta and mechanism.noise_rows > MOST_NOISE_ROWS else None

    def _spent(self, problem: Problem) -> dict[str, float]:
        return self._parts(self.spending(problem), declared=informative_declared(problem))

    def _parts(self, spending: Spending, *, declared: bool) -> dict[str, float]:
        """What each part of the budget spends, by the policy alone."""
        if not self.guaranteed:
            return parts(spending.epsilon, self.split or PUBLISHED_SHARES)
        if self.split is not None or declared:
            return proved_parts(spending.epsilon, self.split or SHARES)
        return proved_parts(spending.epsilon, learning_shares(spending, self.expected_records))

    def warnings(self, problem: Problem) -> list[str]:
        """What the policy alone foretells: values that would hardly be released."""
        if not self.guaranteed or informative_declared(problem):
            return []
        least = self._mechanism(problem, public_grid(problem)).value_threshold
        if self.expected_records is not None and least <= self.expected_records:
            return []
        expected = "" if self.expected_records is None else f", more than the {self.expected_records:,} expected"
        words = f"Only values with about {least:,} records or more will be released{expected}: "
        return [words + "declare the domain, or allow a larger epsilon or delta."]

    def _mechanism(self, problem: Problem, grid: Grid) -> Mechanism:
        spending = self.spending(problem)
        declared = informative_declared(problem)
        return Mechanism(
            grid,
            self._spent(problem),
            records=spending.max_records_per_subject,
            weights=[problem.weight(name) for name in problem.cells.quasi],
            numbers=[line_of(problem.cells.domains[name]) for name in problem.cells.quasi],
            informative=informative_sizes(problem) if declared else (),
            false_cells=self.false_cells,
            delta=0.0 if declared else spending.delta,
        )

    def privacy_trials(self, spending: Spending, runs: int, *, declared: bool) -> list[PrivacyTrial]:
        epsilon = self._parts(spending, declared=declared)
        if not self.guaranteed:
            return published_trials(spending.epsilon, epsilon, self.suppression_threshold, runs)
        delta = 0.0 if declared else spending.delta
        records = spending.max_records_per_subject
        mechanism = Mechanism(small_grid(2), epsilon, records, false_cells=self.false_cells, delta=delta)
        return proved_trials(mechanism, spending.epsilon, runs)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        refuse_seed(run)
        return self._proved(problem, run) if self.guaranteed else self._published(problem, run)

    def _proved(self, problem: Problem, run: Run) -> Draft:
        spending = self.spending(problem)
        grid = grid_of(problem)
        mechanism = self._mechanism(problem, grid)
        table = table_of(problem, grid)
        outcome = mechanism.draw(table, lambda share: run.step(Stage.SEARCH, share, "Scoring every node"))
        run.step(Stage.SEARCH, None, "Drawing the release")
        return noisy_draft(
            problem,
            noisy_published(problem, grid, outcome.parts, outcome.values, outcome.stars),
            outcome.common_levels,
            self.description(
                unit=privacy_unit(problem, spending),
                spent=dict(mechanism.epsilon),
                strata=[
                    {
                        "levels": dict(zip(problem.schema.quasi, part.levels, strict=True)),
                        "threshold": part.threshold,
                        "values": len(part.values),
                    }
                    for part in outcome.parts
                ],
                proof="docs/proofs/ipa.md",
            ),
            {
                **against_truth(grid, table, outcome.parts, outcome.stars),
                "records whose informative value was not released": int(
                    table.counts[~np.isin(table.values, outcome.values)].sum()
                ),
            },
            companions={MARGINALS: self._marginals(problem, grid, outcome)},
        )

    @staticmethod
    def _marginals(problem: Problem, grid: Grid, outcome: Outcome) -> pa.Table:
        """The noisy marginals under the labels that their groups have."""
        levels = marginal_levels(grid)
        labels = [hierarchy.levels[level].labels for hierarchy, level in zip(grid.hierarchies, levels, strict=True)]
        return to_table(
            {
                name: (texts, counts)
                for name, texts, counts in zip(problem.schema.quasi, labels, outcome.marginals, strict=True)
            }
        )

    def _published(self, problem: Problem, run: Run) -> Draft:
        spending = self.spending(problem)
        grid = grid_of(problem)
        table = table_of(problem, grid)
        spent = self._spent(problem)
        found = publish(
            grid,
            table,
            spent,
            self.suppression_threshold,
            run.random,
            lambda share: run.step(Stage.SEARCH, share, "Perturbing every node"),
        )
        order = np.argsort(found.keys)
        part = whole_table(grid, found.levels, found.keys[order], found.counts[order])
        return noisy_draft(
            problem,
            noisy_published(problem, grid, [part], part.values, found.stars),
            found.levels,
            self.description(unit=privacy_unit(problem, spending), split=spent, warning=WARNING),
            against_truth(grid, table, [part], found.stars),
            guaranteed=False,
        )
