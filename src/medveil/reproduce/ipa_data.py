"""What the reproduction of IPA works on: generated patients, the ways to publish them, and the paper's queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from medveil.methods.dp.budget import SHARES, parts, proved_parts
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.ipa_published import (
    PUBLISHED_SHARES,
    ClassTable,
    Draws,
    choice_of_nodes,
    perturb,
    rows_of,
)
from medveil.methods.dp.losses import losses_of_parts
from medveil.methods.dp.marginals import leaf_weights, line_of, marginal_levels
from medveil.methods.dp.method import grid_of, table_of, whole_table
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.dp.outcome import Part
from medveil.methods.optimal import Optimal
from medveil.methods.problem import Problem
from medveil.policy import load_policy
from medveil.privacy.integer_noise import GeometricNoise
from medveil.run import Run, Stage
from medveil.workspace import Workspace

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]

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
EPSILONS = (1.0, 0.5, 0.25, 0.1)

BANDS = {"cuts": [[2, 4, 8, 15, 31], [15]]}
"""Stays as wards speak of them: a day, up to three, a week, two weeks, a month, longer; then two weeks, longer."""

EQUAL = {"widths": [10, 100]}
"""Stays in equal intervals."""


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

    losses: Losses
    counts: dict[str, Numbers]
    """Q1 (M) and Q2 (F): patients with stroke and without surgery, by five years of age from 0 to 89."""
    stays: dict[str, Numbers]
    """Q3 and Q4: their mean length of stay in days, by ten years of age."""
    evenly: dict[str, Numbers]
    """Q1 and Q2 where labels are spread evenly, as the paper does; the same where there are no marginals."""


@dataclass(frozen=True)
class Expected:
    """The published form over all nodes: how likely each is chosen, what it loses, how high it is, what it answers.

    again: what each loses in a second table that is drawn for it, which tells how much chance moves a loss.
    """

    chance: Numbers
    losses: list[Losses]
    again: list[Losses]
    heights: Integers
    answers: list[tuple[dict[str, Numbers], dict[str, Numbers]]]

    @property
    def mean(self) -> Losses:
        """The expected losses."""
        named = ("ncp", "emd", "rate")
        return Losses(*(float(self.chance @ [getattr(loss, part) for loss in self.losses]) for part in named))

    def answer(self, sex: str, what: str) -> Numbers:
        """The expected answer of each group."""
        return np.asarray(self.chance @ np.array([self._of(node, sex, what) for node in range(len(self.answers))]))

    def error(self, sex: str, what: str, truth: Numbers) -> Numbers:
        """The expected absolute error of each group."""
        found = np.array([np.abs(self._of(node, sex, what) - truth) for node in range(len(self.answers))])
        return np.asarray(self.chance @ found)

    def _of(self, node: int, sex: str, what: str) -> Numbers:
        counts, stays = self.answers[node]
        return (counts if what == "counts" else stays)[sex]


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

    def made(
        self, parts_: Sequence[Part], released: Codes, stars: Integers, marginals: Sequence[Integers] | None = None
    ) -> MadeTable:
        """A release from its cells; labels are spread by its marginals, evenly where there are none."""
        losses = losses_of_parts(self.grid, self.table, parts_, released, stars)
        counts, stays = self._answers(parts_, self._weights(marginals))
        evenly = counts if marginals is None else self._answers(parts_, self._weights(None))[0]
        return MadeTable(losses, counts, stays, evenly)

    def _whole(self, levels: Levels, keys: Integers, counts: Integers, stars: Integers | None = None) -> MadeTable:
        """A release of one node."""
        order = np.argsort(keys)
        part = whole_table(self.grid, levels, keys[order], counts[order])
        none = np.zeros(self.grid.values, dtype=np.int64)
        return self.made([part], part.values, none if stars is None else stars)

    def original(self) -> MadeTable:
        return self._whole(self.grid.space.bottom, self.grid.keys(self.table), self.table.counts)

    def _weights(self, marginals: Sequence[Integers] | None) -> dict[str, Numbers]:
        """How common each leaf of each dimension is taken to be."""
        found = {}
        for position, name in enumerate(self.problem.schema.quasi):
            hierarchy, level = self.grid.hierarchies[position], marginal_levels(self.grid)[position]
            counts = np.ones(len(hierarchy.levels[level].labels)) if marginals is None else marginals[position]
            found[name] = leaf_weights(hierarchy, level, np.asarray(counts)) + 1e-9
        return found

    def _answers(
        self, parts_: Sequence[Part], weights: Mapping[str, Numbers]
    ) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
        """Q1 to Q4; a label counts by the share of what it covers that a query asks for.

        Rows of `*` alone meet no condition, as in the paper's SQL. Where no row is left, the mean is that of all
        patients by the marginals, or without them that of all days that there can be: nothing else is known.
        """
        days = self.problem.cells.domains["length_of_stay"].numbers
        of_all = float(np.average(days, weights=weights["length_of_stay"]))
        found = {sex: np.zeros(18) for sex in SEXES}
        people, stayed = ({sex: np.zeros(9) for sex in SEXES} for _ in range(2))
        for part in parts_:
            codes, _ = Grid(self.grid.space, max(len(part.values), 1)).decoded(part.levels, part.keys)
            ill = part.informative == self.stroke
            groups = dict(zip(self.problem.schema.quasi, codes[:, ill], strict=True))
            rows = part.counts[ill].astype(np.float64)
            shares = {
                name: self._shares(name, level, weights[name]) for name, level in zip(groups, part.levels, strict=True)
            }
            stay = shares["length_of_stay"] @ days
            five, ten = (self._by_age(shares["age"], years)[groups["age"]] for years in (5, 10))
            for sex in SEXES:
                weight = rows.copy()
                for name, wanted in (("sex", sex), ("surgery", "no")):
                    code = self.problem.cells.domains[name].values.index(wanted)
                    weight *= shares[name][groups[name], code]
                found[sex] += (weight @ five)[:18]
                people[sex] += (weight @ ten)[:9]
                stayed[sex] += ((weight * stay[groups["length_of_stay"]]) @ ten)[:9]
        lengths = {
            sex: np.divide(stayed[sex], people[sex], out=np.full(9, of_all), where=people[sex] > 0) for sex in SEXES
        }
        return found, lengths

    def _shares(self, name: str, level: int, weights: Numbers) -> Numbers:
        """For each group of a level and each leaf, the share of the group that is that leaf."""
        chosen = self.problem.hierarchies[name].levels[level]
        inside = (chosen.groups[None, :] == np.arange(len(chosen.labels))[:, None]) * weights
        whole = inside.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(inside, whole, out=np.zeros_like(inside), where=whole > 0), dtype=np.float64)

    @staticmethod
    def _by_age(shares: Numbers, years: int) -> Numbers:
        return np.asarray(np.add.reduceat(shares, np.arange(0, shares.shape[1], years), axis=1))

    def mechanism(self, epsilon: float, weight_of_age: float = 1.0) -> Mechanism:
        domains, quasi = self.problem.cells.domains, self.problem.schema.quasi
        lines = [line_of(domains[name]) for name in quasi]
        weights = [weight_of_age if name == "age" else 1.0 for name in quasi]
        return Mechanism(self.grid, proved_parts(epsilon, SHARES), weights=weights, numbers=lines)

    def proved(self, epsilon: float, runs: int, weight_of_age: float = 1.0) -> list[MadeTable]:
        """So many runs of the proved form, by default settings but for the weight of ages."""
        outcomes = self.mechanism(epsilon, weight_of_age).draws(self.table, runs)
        return [self.made(one.parts, one.values, one.stars, one.marginals) for one in outcomes]

    def published(self, threshold: int, run: Run) -> dict[float, Expected]:
        """What the published form is expected to lose and, at the first epsilon, to answer, over all nodes it may take.

            P[node] ~ exp(epsilon u / (2 * 3)),  u = 3 - (NCP + EMD + Rate)

        One candidate is made at each node, as Algorithm 2 does, and each counts as often as it would be chosen.
        """
        space, known, random = self.grid.space, np.unique(self.table.values), np.random.default_rng()
        losses: dict[float, list[Losses]] = {epsilon: [] for epsilon in EPSILONS}
        again: dict[float, list[Losses]] = {epsilon: [] for epsilon in EPSILONS}
        answers, heights = [], []
        for visited, here in enumerate(self.grid.every_table(self.table)):
            run.step(Stage.REPRODUCE, visited / space.size, "IPA as published, every node")
            classes = ClassTable.of(self.grid, here)
            heights.append(sum(here.levels))
            for epsilon in EPSILONS:
                draws = Draws(random, parts(epsilon, PUBLISHED_SHARES))
                made = perturb(here.levels, classes, threshold, known, draws)
                losses[epsilon].append(made.losses)
                again[epsilon].append(perturb(here.levels, classes, threshold, known, draws).losses)
                if epsilon == EPSILONS[0]:
                    keys, counts, _ = rows_of(self.grid, classes, made)
                    part = whole_table(self.grid, here.levels, keys, counts)
                    answers.append(self._answers([part], self._weights(None)))
        return {
            epsilon: Expected(
                choice_of_nodes(parts(epsilon, PUBLISHED_SHARES)["node"], of_nodes),
                of_nodes,
                again[epsilon],
                np.array(heights),
                answers if epsilon == EPSILONS[0] else [],
            )
            for epsilon, of_nodes in losses.items()
        }

    def histogram(self, epsilon: float) -> MadeTable:
        noise = GeometricNoise(1, epsilon)
        levels = self.grid.space.bottom
        size = self.grid.cells(levels)
        cells = NoisyCells(noise, size, noise.threshold(size, 1.0))
        return self._whole(levels, *cells.publish(self.grid.keys(self.table), self.table.counts))

    def generalized(self, levels: Levels) -> MadeTable:
        """Every record at these levels, nothing added and nothing suppressed."""
        table = self.grid.at(self.table, levels)
        return self._whole(levels, self.grid.keys(table), table.counts)


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
