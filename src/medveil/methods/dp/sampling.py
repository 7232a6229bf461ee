"""Sampling and k-anonymity: truthful records under (epsilon, delta), as SafePub does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.methods.dp.budget import parts
from medveil.methods.dp.ipa_score import UNIT, Scoring, even_penalties, node_losses, unit_penalties
from medveil.methods.dp.method import (
    DifferentiallyPrivate,
    against_truth,
    drowned,
    grid_of,
    noisy_draft,
    noisy_published,
    privacy_unit,
    public_grid,
    refuse_seed,
    table_of,
    whole_table,
)
from medveil.methods.dp.trials import sampling_trials
from medveil.methods.privacy_trial import PrivacyTrial
from medveil.methods.problem import Problem
from medveil.privacy.binomial import binomial_tail
from medveil.privacy.exact_sampling import MOST_PLACES, SYSTEM, Randomness, exponential
from medveil.privacy.integer_noise import Selection
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.run import Run, Stage

SHARES = {"node": 0.1, "sampling": 0.9}
SHARE_BITS = 32
LEAST_EPSILON = 0.005
ENOUGH_EPSILON = 4.0
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sampling:
    """Each record is drawn with probability b = `share`, and cells with fewer than k drawn records are left out.

    With b <= 1 - exp(-epsilon), and n records against n - 1 in a cell, the probability that j are drawn differs by the
    factor (1 - b) n / (n - j). It is at least 1 - b >= exp(-epsilon) for all j, and at most exp(epsilon) for
    j <= g n, g = 1 - (1 - b) exp(-epsilon). So delta is the probability of drawing more than that and at least k:

        delta = max over n of P[Binomial(n, b) >= max(k, floor(g n) + 1)]

    Li, Qardaji and Su 2011, Provably private data anonymization: or, k-anonymity meets differential privacy.
    """

    epsilon: float
    share: Fraction
    k: int

    @classmethod
    def least(cls, epsilon: float, delta: float, share: Fraction | None = None) -> Sampling:
        """With the largest share (or this one) that epsilon allows, and the least k that delta allows.

        Beyond an epsilon of 4 the share does not grow: where next to all records are drawn, k would have to be huge.
        """
        enough = Fraction(min(epsilon, ENOUGH_EPSILON))
        most = Fraction(exponential(enough).complement().bits(SHARE_BITS), 2**SHARE_BITS)
        chosen = min(share or most, most)
        high = 2
        while not cls(epsilon, chosen, high).keeps(delta):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if cls(epsilon, chosen, middle).keeps(delta) else (middle, high)
        return cls(epsilon, chosen, high)

    @cached_property
    def _most_drawn(self) -> float:
        """The share g up to which the factor is small enough; rounded down, which only makes delta larger."""
        return (1 - (1 - float(self.share)) * math.exp(-self.epsilon)) * (1 - 1e-12)

    def keeps(self, delta: float) -> bool:
        """Whether delta is enough; to the safe side of what floats can tell."""
        return all(probability <= delta * (1 - 1e-6) for probability in self._excess(delta))

    def _excess(self, delta: float) -> Iterator[float]:
        """P[Binomial(n, b) >= max(k, floor(g n) + 1)] for every n that matters.

        Below k / g it grows with n; beyond, Chernoff's bound exp(-n KL(g, b)) ends the search once it is under delta.
        """
        b, g = float(self.share), self._most_drawn
        divergence = g * math.log(g / b) + (1 - g) * math.log((1 - g) / (1 - b))
        records = max(self.k, math.floor(self.k / g) - 1)
        while math.exp(-records * divergence) > delta / 2 or records * g < self.k + 1:
            yield binomial_tail(max(self.k, math.floor(g * records) + 1), records, b)
            records += 1

    def sampled(self, counts: Integers, randomness: Randomness = SYSTEM) -> Integers:
        """How many records of each cell are published: those drawn, or none where they are fewer than k."""
        owner = np.repeat(np.arange(len(counts)), counts)
        # The share is a multiple of 2^-32, so comparing 64 random bits with it is exact.
        limit = np.uint64(int(self.share * 2**64))
        drawn = np.bincount(owner[randomness.words(len(owner)) < limit], minlength=len(counts))
        return np.where(drawn >= self.k, drawn, 0).astype(np.int64)


class DPSampling(DifferentiallyPrivate):
    """Records are sampled, generalized at a node that was chosen privately, and left out where fewer than k of the
    sample are the same in everything, the informative value included. What is published is true, (epsilon, delta).

    Bild, Kuhn and Prasser 2018, SafePub: a truthful data anonymization algorithm with strong privacy guarantees; with
    permute-and-flip over the whole lattice instead of their search.
    """

    name: ClassVar[str] = "dp-sampling"
    leaves_open: ClassVar[str] = (
        "Only a sample of the people is published, and only what enough of them share: rare combinations are missing."
    )

    split: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]] | None,
        Field(description="The shares of epsilon: node and sampling (0.1 and 0.9)."),
    ] = None
    share: Annotated[
        float | None, Field(gt=0, lt=1, description="The share of records to draw (default: as large as possible).")
    ] = None

    @model_validator(mode="after")
    def _split_names_every_part(self) -> DPSampling:
        if self.split is not None and set(self.split) != set(SHARES):
            raise ValueError(f"The split must name exactly these parts: {', '.join(SHARES)}.")
        return self

    def why_not(self, problem: Problem) -> str | None:
        found = super().why_not(problem)
        if found is not None:
            return found
        spending = self.spending(problem)
        if not spending.delta:
            return "it needs a delta above 0, such as 1e-6"
        if spending.max_records_per_subject > 1:
            return "it needs one record a subject: 'max_records_per_subject: 1'"
        epsilon = parts(spending.epsilon, self.split or SHARES)
        if drowned(epsilon, 1) or epsilon["sampling"] < LEAST_EPSILON:
            return f"its part of epsilon for sampling is below {LEAST_EPSILON}, which draws hardly any record"
        grid = public_grid(problem)
        if grid.cells(grid.space.bottom) >= MOST_PLACES:
            return "the declared domain has more than 2^61 cells"
        return None

    def sampling(self, spending: Spending) -> Sampling:
        epsilon = parts(spending.epsilon, self.split or SHARES)["sampling"]
        share = None if self.share is None else Fraction(int(self.share * 2**SHARE_BITS), 2**SHARE_BITS)
        return Sampling.least(epsilon, spending.delta, share)

    def privacy_trials(self, spending: Spending, runs: int, *, declared: bool) -> list[PrivacyTrial]:  # noqa: ARG002
        return sampling_trials(self.sampling(spending), spending.delta, 20 * runs)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        refuse_seed(run)
        spending = self.spending(problem)
        grid = grid_of(problem)
        table = table_of(problem, grid)
        sampling = self.sampling(spending)
        epsilon = parts(spending.epsilon, self.split or SHARES)
        # A cell of fewer than k / share records is likely to be lost: losses change by at most one a record.
        lost = math.ceil(sampling.k / sampling.share)
        weights = [problem.weight(name) for name in problem.cells.quasi]
        penalties = unit_penalties([even_penalties(hierarchy) for hierarchy in grid.hierarchies], weights)
        one = np.zeros(grid.values, dtype=np.int32)
        scoring = Scoring(one, 1, penalties, lambda _: np.zeros(1, dtype=np.int64), lost)
        losses = node_losses(grid, table, [scoring], lambda share: run.step(Stage.SEARCH, share, "Scoring every node"))[
            0
        ][:, 0]
        levels = grid.space.node(Selection(UNIT, epsilon["node"]).index(-losses))
        chosen = grid.at(table, levels)
        counts = sampling.sampled(chosen.counts)
        keys = grid.keys(chosen)
        none = np.zeros(grid.values, dtype=np.int64)
        kept = counts > 0
        order = np.argsort(keys[kept])
        part = whole_table(grid, levels, keys[kept][order], counts[kept][order])
        return noisy_draft(
            problem,
            noisy_published(problem, grid, [part], part.values, none),
            levels,
            self.description(
                unit=privacy_unit(problem, spending),
                spent=epsilon,
                sampling=float(sampling.share),
                k=sampling.k,
                proof="docs/proofs/ipa.md",
            ),
            against_truth(grid, table, [part], none),
        )
