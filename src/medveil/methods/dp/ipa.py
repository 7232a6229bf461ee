"""IPA: differentially private microdata with raw informative values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from medveil.codes.rank import KEY_LIMIT
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_proved import SHARES, Mechanism, parts
from medveil.methods.dp.ipa_published import PUBLISHED_SHARES, publish
from medveil.methods.dp.method import (
    DROWNED,
    MOST_NOISE_ROWS,
    DifferentiallyPrivate,
    NoisyTable,
    against_truth,
    drowned,
    grid_of,
    informative_declared,
    noisy_draft,
    privacy_unit,
    public_grid,
    refuse_seed,
    table_of,
    value_labels,
)
from medveil.methods.dp.trials import proved_trials, published_trials, small_grid
from medveil.methods.privacy_trial import PrivacyTrial
from medveil.methods.problem import Problem
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.run import Run, Stage

WARNING = (
    "No differential privacy guarantee: the algorithm as published lets records out as they are. "
    "Treat this table as if it held the original records."
)


class InformativePreserving(DifferentiallyPrivate):
    """Dimensions (the quasi-identifiers) are generalized at a node of the lattice that is chosen privately; the
    informative attribute (the sensitive one) is published as it is. Cells with few records are suppressed to rows of
    `*`, and noise inserts and removes records.

    `guarantee: proved` is epsilon-differentially private (docs/proofs/ipa.md). `guarantee: published` is the algorithm
    of the paper, which is not: it publishes values that one person alone has. It is there to be compared with.

    Lee and Chung 2020, Differentially private release of medical microdata: an efficient and practical approach for
    preserving informative attribute values.
    """

    name: ClassVar[str] = "ipa"

    guarantee: Annotated[
        Literal["proved", "published"],
        Field(description="`proved`: differentially private; `published`: as in the paper, without any guarantee."),
    ] = "proved"
    split: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]] | None,
        Field(
            description="The shares of epsilon: node, cells and totals (0.1, 0.8, 0.1); "
            "as published suppression, insertion, value and node (0.1, 0.3, 0.3, 0.3)."
        ),
    ] = None
    false_cells: Annotated[
        float,
        Field(
            gt=0,
            le=1_000_000,
            description="Proved: how many cells without a record may be expected to pass the threshold.",
        ),
    ] = 1.0
    suppression_threshold: Annotated[
        int,
        Field(ge=2, description="Published: classes of so many records or fewer are suppressed, give or take noise."),
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

    def why_not(self, problem: Problem) -> str | None:
        found = super().why_not(problem)
        if found is not None:
            return found
        epsilon, grid = self._spent(problem), public_grid(problem)
        if not self.guaranteed:
            if grid_of(problem).cells(grid.space.bottom) > KEY_LIMIT:
                return "the declared domain has more than 2^62 cells"
            inserted = len(problem.cells) / 2 / max(epsilon["insertion"], 1e-300)
            return DROWNED if inserted > MOST_NOISE_ROWS else None
        if grid.cells(grid.space.top) >= MOST_PLACES:
            return "the declared domain has more than 2^61 cells at the highest levels"
        if drowned(epsilon, self.spending(problem).max_records_per_subject):
            return DROWNED
        mechanism = self._mechanism(problem, grid)
        return DROWNED if not mechanism.delta and mechanism.noise_rows > MOST_NOISE_ROWS else None

    def _spent(self, problem: Problem) -> dict[str, float]:
        return parts(self.spending(problem).epsilon, self.split or self._shares)

    def _mechanism(self, problem: Problem, grid: Grid) -> Mechanism:
        spending = self.spending(problem)
        return Mechanism(
            grid,
            self._spent(problem),
            records=spending.max_records_per_subject,
            weights=[problem.weight(name) for name in problem.cells.quasi],
            false_cells=self.false_cells,
            delta=0.0 if informative_declared(problem) else spending.delta,
        )

    def privacy_trials(self, spending: Spending, runs: int, *, declared: bool) -> list[PrivacyTrial]:
        epsilon = parts(spending.epsilon, self.split or self._shares)
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
        prepared = mechanism.prepare(table, lambda share: run.step(Stage.SEARCH, share, "Scoring every node"))
        run.step(Stage.SEARCH, None, "Drawing the release")
        outcome = mechanism.draw(prepared, lambda share: run.step(Stage.SEARCH, share, "Scoring every node"))
        labels = value_labels(problem)
        noisy = NoisyTable(
            outcome.levels,
            outcome.keys,
            outcome.counts,
            outcome.stars,
            [labels[value] for value in outcome.values.tolist()],
        )
        released, truth = mechanism.released(table, outcome)
        return noisy_draft(
            problem,
            released,
            noisy,
            self.description(
                unit=privacy_unit(problem, spending),
                spent=dict(mechanism.epsilon),
                threshold=outcome.threshold,
                proof="docs/proofs/ipa.md",
            ),
            {
                **against_truth(truth, released.keys(truth), noisy),
                "records whose informative value was not released": int(table.counts.sum() - truth.counts.sum()),
            },
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
        noisy = NoisyTable(found.levels, found.keys, found.counts, found.stars, value_labels(problem))
        truth = grid.at(table, found.levels)
        return noisy_draft(
            problem,
            grid,
            noisy,
            self.description(unit=privacy_unit(problem, spending), split=spent, warning=WARNING),
            against_truth(truth, grid.keys(truth), noisy),
            guaranteed=False,
        )
