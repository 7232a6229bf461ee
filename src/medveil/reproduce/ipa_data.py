"""What the reproduction of IPA works on: generated patients, the ways to publish them, and the paper's queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.app.preparation import opened
from medveil.datasets import patients
from medveil.datasets.diseases import STROKE, diseases
from medveil.lattice.space import Levels
from medveil.loss.information_loss import Losses
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_proved import SHARES, Mechanism, Prepared, parts
from medveil.methods.dp.ipa_published import PUBLISHED_SHARES, Published, publish_often
from medveil.methods.dp.losses import noisy_losses
from medveil.methods.dp.method import grid_of, table_of
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.optimal import Optimal
from medveil.methods.problem import Problem
from medveil.policy import load_policy
from medveil.privacy.integer_noise import GeometricNoise
from medveil.run import Run, Stage
from medveil.workspace import Workspace

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

REGIONS = {
    "North": {
        "Capital": ["Seoul", "Incheon", "Gyeonggi", "Gangwon"],
        "Centre": ["Daejeon", "North Chungcheong", "South Chungcheong"],
    },
    "South": {
        "West": ["Gwangju", "North Jeolla", "South Jeolla", "Jeju"],
        "East": ["Busan", "Daegu", "Ulsan", "North Gyeongsang", "South Gyeongsang"],
    },
}
SEXES = ("M", "F")

BANDS = {"cuts": [[2, 4, 8, 15, 31], [15]]}
"""Stays as wards speak of them: a day, up to three, a week, two weeks, a month, longer; then two weeks, longer."""

EQUAL = {"widths": [10, 100]}
"""Stays in equal intervals."""

FALSE_CELLS = 10.0
"""Cells without a record that may be expected to pass: few beside more than a million patients."""


def attributes(stays: Mapping[str, Any] = BANDS) -> dict[str, Any]:
    """The six columns with hierarchies of 4, 2, 4, 4 and 2 levels: 256 nodes, as in the paper."""
    return {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 30]}},
        "sex": {"role": "quasi", "domain": ["F", "M"]},
        "length_of_stay": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [1, 400], **stays}},
        "region": {"role": "quasi", "hierarchy": {"type": "taxonomy", "tree": REGIONS}},
        "surgery": {"role": "quasi", "domain": ["no", "yes"]},
        "disease": {"role": "sensitive", "domain": list(diseases().codes)},
    }


@dataclass(frozen=True)
class MadeTable:
    """One release as cells: what it loses, and what it answers."""

    levels: Levels
    losses: Losses
    counts: dict[str, Numbers]
    """Q1 (M) and Q2 (F): patients with stroke and without surgery, by five years of age from 0 to 89."""
    stays: dict[str, Numbers]
    """Q3 and Q4: their mean length of stay in days, by ten years of age."""


@dataclass(frozen=True)
class Patients:
    """Generated patients on their grid."""

    problem: Problem
    grid: Grid
    table: Table

    @cached_property
    def stroke(self) -> int:
        return self.problem.cells.domains["disease"].values.index(STROKE)

    @property
    def records(self) -> int:
        return int(self.table.counts.sum())

    def made(self, levels: Levels, keys: Integers, counts: Integers, stars: Integers) -> MadeTable:
        """A release from its cells."""
        losses = noisy_losses(self.grid, self.grid.at(self.table, levels), keys, counts, stars)
        return MadeTable(levels, losses, *self._answers(levels, keys, counts))

    def original(self) -> MadeTable:
        bottom = self.grid.space.bottom
        none = np.zeros(self.grid.values, dtype=np.int64)
        return self.made(bottom, *_sorted(self.grid.keys(self.table), self.table.counts), none)

    def _answers(
        self, levels: Levels, keys: Integers, counts: Integers
    ) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
        """Q1 to Q4; a label counts by the share of what it covers that a query asks for.

        Rows of `*` alone meet no condition, as in the paper's SQL. Where no row is left, the mean is that of all days
        that there can be: nothing is known.
        """
        codes, values = self.grid.decoded(levels, keys)
        ill = values == self.stroke
        groups = dict(zip(self.problem.schema.quasi, codes[:, ill], strict=True))
        rows = counts[ill].astype(np.float64)
        shares = {name: self._shares(name, level) for name, level in zip(groups, levels, strict=True)}
        days = self.problem.cells.domains["length_of_stay"].numbers
        stay = shares["length_of_stay"] @ days
        found, lengths = {}, {}
        for sex in SEXES:
            weight = rows.copy()
            for name, wanted in (("sex", sex), ("surgery", "no")):
                code = self.problem.cells.domains[name].values.index(wanted)
                weight *= shares[name][groups[name], code]
            by_age = [self._by_age(shares["age"], years)[groups["age"]] for years in (5, 10)]
            five, ten = (weight @ one for one in by_age)
            total = (weight * stay[groups["length_of_stay"]]) @ by_age[1]
            found[sex] = five[:18]
            lengths[sex] = np.divide(total, ten, out=np.full_like(ten, days.mean()), where=ten > 0)[:9]
        return found, lengths

    def _shares(self, name: str, level: int) -> Numbers:
        """For each group of a level and each leaf, the share of the group that is that leaf."""
        chosen = self.problem.hierarchies[name].levels[level]
        inside = chosen.groups[None, :] == np.arange(len(chosen.labels))[:, None]
        return np.asarray(inside / np.maximum(inside.sum(axis=1, keepdims=True), 1), dtype=np.float64)

    @staticmethod
    def _by_age(shares: Numbers, years: int) -> Numbers:
        return np.asarray(np.add.reduceat(shares, np.arange(0, shares.shape[1], years), axis=1))

    def mechanism(self, epsilon: float) -> Mechanism:
        return Mechanism(self.grid, parts(epsilon, SHARES), false_cells=FALSE_CELLS)

    def proved(self, mechanism: Mechanism, prepared: Prepared) -> MadeTable:
        outcome = mechanism.draw(prepared)
        return self.made(outcome.levels, outcome.keys, outcome.counts, outcome.stars)

    def published(self, epsilons: list[float], threshold: int, run: Run) -> list[tuple[MadeTable, Published]]:
        """Runs of the published form, one for each epsilon, in one walk over the nodes."""
        runs = [(parts(epsilon, PUBLISHED_SHARES), np.random.default_rng()) for epsilon in epsilons]
        found = publish_often(
            self.grid,
            self.table,
            runs,
            threshold,
            lambda share: run.step(Stage.REPRODUCE, share, "IPA as published, every node"),
        )
        return [(self.made(one.levels, one.keys, one.counts, one.stars), one) for one in found]

    def histogram(self, epsilon: float) -> MadeTable:
        noise = GeometricNoise(1, epsilon)
        levels = self.grid.space.bottom
        size = self.grid.cells(levels)
        cells = NoisyCells(noise, size, noise.threshold(size, 1.0))
        none = np.zeros(self.grid.values, dtype=np.int64)
        return self.made(levels, *cells.publish(self.grid.keys(self.table), self.table.counts), none)

    def generalized(self, levels: Levels) -> MadeTable:
        """Every record at these levels, nothing added and nothing suppressed."""
        table = self.grid.at(self.table, levels)
        none = np.zeros(self.grid.values, dtype=np.int64)
        return self.made(levels, *_sorted(self.grid.keys(table), table.counts), none)


def _sorted(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    order = np.argsort(keys)
    return keys[order], counts[order]


@contextmanager
def generated(
    records: int, seed: int | None = 1, stays: Mapping[str, Any] = BANDS
) -> Iterator[tuple[Patients, pa.Table]]:
    """Generated patients, ready to be published."""
    table = patients(records, seed)
    with _opened(table, {"model": "differential-privacy", "epsilon": 1.0}, "ipa", stays) as problem:
        grid = grid_of(problem)
        yield Patients(problem, grid, table_of(problem, grid)), table


def k_anonymous(table: pa.Table, k: int, run: Run, stays: Mapping[str, Any] = BANDS) -> Levels:
    """The levels of least loss at which nobody stands out from fewer than k, without suppression."""
    with _opened(table, {"model": "k-anonymity", "k": k}, "optimal", stays) as problem:
        draft = Optimal().anonymize(problem, run)
    levels = {attribute.name: attribute.level for attribute in draft.attributes}
    return tuple(int(levels[name] or 0) for name in attributes() if name != "disease")


@contextmanager
def _opened(table: pa.Table, model: Mapping[str, Any], method: str, stays: Mapping[str, Any]) -> Iterator[Problem]:
    policy, _ = load_policy({"attributes": attributes(stays), "privacy": [dict(model)], "method": method})
    with opened(policy, Workspace(), table) as (problem, _):
        yield problem
