"""The fill of the paper: classes under k are filled to exactly k with values that are drawn, and Lemma 1 is kept.

Where models of sensitive values are asked for too, a class that fails one, its counterfeits counted, gets values that
it lacks beside the whole input, in the place of its counterfeits and then beyond k, until it holds.

What this does not keep is shown on docs/methods/h-ceiling.md: whoever knows which classes are filled, that a value
which the catalog does not list for a class is real, or how many people classes have, tells people and counterfeits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.bundles import SensitiveValues, Verdict, input_reference, verdicts
from medveil.methods.h_ceiling.lemma import Listed, group
from medveil.methods.h_ceiling.objective import Objective, lacking
from medveil.methods.h_ceiling.partition import ClassPartition
from medveil.methods.h_ceiling.people import Codes, Counts, Residents
from medveil.methods.h_ceiling.search import Filled
from medveil.privacy.model import PrivacyModel, Reference

Draw = Literal["hideable", "uniform"]

ROUNDS = 8
"""How often values that nothing hides, or that keep a class from holding, are drawn again."""

GROWTHS = 24
"""How often classes that fail a model get more counterfeits, each time about a quarter more."""


@dataclass(frozen=True)
class Plan:
    """`counts[i]` counterfeits of tuple `tuples[i]` in class `classes[i]`, each pair once, and the catalog of them."""

    classes: Counts
    tuples: Codes
    counts: Counts
    listed: Listed

    @property
    def counterfeits(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True)
class Holding:
    """How many records of each tuple the classes hold: pairs by class and tuple, ascending."""

    classes: Counts
    tuples: Codes
    counts: Counts
    width: int

    @property
    def keys(self) -> Counts:
        return self.classes * self.width + self.tuples

    def look_up(self, classes: Counts, tuples: Codes) -> Counts:
        """How many records of each tuple the class beside it holds."""
        keys, wanted = self.keys, classes * self.width + tuples
        if not len(keys):
            return np.zeros(len(wanted), dtype=np.int64)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self.counts[place], 0)


def merged(classes: Counts, tuples: Counts, width: int, counts: Counts | None = None) -> Holding:
    """Records one by one (or with counts) as distinct (class, tuple) with their numbers."""
    keys = np.asarray(classes, dtype=np.int64) * width + tuples
    pairs, inverse = np.unique(keys, return_inverse=True)
    numbers = np.bincount(inverse, counts, minlength=len(pairs)).astype(np.int64)
    owner, value = np.divmod(pairs, max(width, 1))
    return Holding(owner, value.astype(np.int32), numbers, width)


class PaperFill:
    """Fills the classes of a partition, looking at everybody's values."""

    def __init__(
        self,
        residents: Residents,
        people: Counts,
        values: SensitiveValues,
        k: int,
        draw: Draw,
        objective: Objective,
        random: np.random.Generator,
        models: Sequence[PrivacyModel] = (),
        reference: Reference | None = None,
    ) -> None:
        self.residents = residents
        self.people = people
        self.values = values
        self.models = models
        self.reference = input_reference(values, {}) if reference is None else reference
        self.k = k
        self.draw = draw
        self.objective = objective
        self.random = random
        self.tuple_of_row, self.tuples = values.tuples(np.arange(len(people)))
        self.width = self.tuples.shape[1]

    def class_of_row(self, partition: ClassPartition) -> Counts:
        return np.asarray(partition.class_of_place[self.residents.place_of_row], dtype=np.int64)

    def people_of(self, partition: ClassPartition) -> Counts:
        """The people of each class; one person may be in several."""
        number = int(self.people.max(initial=0)) + 1
        pairs = np.unique(self.class_of_row(partition) * number + self.people)
        return np.bincount(pairs // number, minlength=len(partition)).astype(np.int64)

    def lack(self, partition: ClassPartition) -> int:
        return lacking(self.people_of(partition), self.k)

    def holding(self, partition: ClassPartition) -> Holding:
        return merged(self.class_of_row(partition), self.tuple_of_row, self.width)

    def fill(self, partition: ClassPartition, allowed: int) -> Filled[Plan] | None:
        """The counterfeits and the catalog, or None where more are needed or some stay in sight."""
        people = self.people_of(partition)
        if lacking(people, self.k) > allowed:
            return None
        holding = self.holding(partition)
        plan = self._planned(partition, holding, np.maximum(self.k - people, 0), allowed)
        if plan is None:
            return None
        nobody = np.zeros(len(partition))
        cost = self.objective.of(partition, np.ones(len(partition)), plan.counterfeits, nobody)
        doubt = self.objective.share_of_error * self.doubt(partition, holding, plan)
        return Filled(partition, plan, cost + doubt, plan.counterfeits)

    def _planned(self, partition: ClassPartition, holding: Holding, wanted: Counts, allowed: int) -> Plan | None:
        """So many counterfeits for each class, and more for those that fail a model, while they are allowed."""
        failing = np.zeros(len(partition), dtype=np.bool_)
        for _ in range(GROWTHS):
            if int(wanted.sum()) > allowed:
                return None
            filled = np.flatnonzero(wanted)
            plan = self._drawn(holding, filled, wanted[filled], failing)
            if plan is None or not self.models:
                return plan
            held = self._held(partition, plan)
            if held.all():
                return plan
            # First what it gets anyway is drawn from values that it lacks; a class that still fails gets more.
            wanted = wanted + np.where(~held & (failing | (wanted == 0)), 1 + wanted // 4, 0)
            failing |= ~held
        return None

    def _held(self, partition: ClassPartition, plan: Plan) -> Verdict:
        """Which classes keep every model, each counterfeit counted as one more person."""
        forged = np.repeat(plan.tuples, plan.counts).astype(np.int64)
        one_of = np.zeros(self.width, dtype=np.int64)
        one_of[self.tuple_of_row] = np.arange(len(self.people))
        lines = np.concatenate((np.arange(len(self.people)), one_of[forged]))
        own = int(self.people.max(initial=-1)) + 1 + np.arange(len(forged))
        classes = np.concatenate((self.class_of_row(partition), np.repeat(plan.classes, plan.counts)))
        person = np.concatenate((self.people, own))
        return verdicts(self.values, lines, person, classes, len(partition), self.models, self.reference)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The share of each tuple in the input."""
        counts = np.bincount(self.tuple_of_row, minlength=self.width).astype(np.float64)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        return np.full(self.width, 1.0 / self.width) if self.draw == "uniform" else self._shares

    def _lacked(self, holding: Holding, number: int) -> NDArray[np.float64]:
        """What the class lacks of each tuple beside the input; evenly where it lacks nothing."""
        inside = slice(*np.searchsorted(holding.classes, (number, number + 1)))
        own = np.zeros(self.width)
        own[holding.tuples[inside]] = holding.counts[inside]
        lack = np.maximum(self._shares - own / max(own.sum(), 1.0), 0.0)
        return lack if lack.sum() > 0 else self._chances

    def _drawn(self, holding: Holding, classes: Counts, wanted: Counts, failing: NDArray[np.bool_]) -> Plan | None:
        """Draw `wanted` tuples for each of these classes and group them; what nothing hides is drawn again, and where
        some of it still stays in sight there is no plan.

        uniform: every tuple that occurs has the same chance; otherwise as often as it occurs. A class that fails a
        model gets tuples that it lacks.
        """
        owner = np.repeat(classes, wanted)
        drawn = self._draw(holding, owner, failing)
        for _ in range(ROUNDS):
            forged = merged(owner, drawn, self.width)
            grouped = group(
                forged.classes, forged.tuples, forged.counts, holding.classes, holding.tuples, holding.counts
            )
            if not grouped.exposed.any():
                return Plan(forged.classes, forged.tuples, forged.counts, grouped.rows)
            again = np.isin(owner * self.width + drawn, forged.keys[grouped.exposed])
            drawn[again] = self._draw(holding, owner[again], failing)
        return None

    def _draw(self, holding: Holding, owner: Counts, failing: NDArray[np.bool_]) -> Counts:
        """A tuple for each of these counterfeits, by the class that it is for."""
        chance = self.random.random(len(owner))
        found = np.searchsorted(np.cumsum(self._chances), chance, side="right")
        for number in np.unique(owner[failing[owner]]).tolist():
            here = owner == number
            lacked = self._lacked(holding, number)
            found[here] = np.searchsorted(np.cumsum(lacked / lacked.sum()), chance[here], side="right")
        return np.minimum(found, self.width - 1).astype(np.int64)

    def doubt(self, partition: ClassPartition, holding: Holding, plan: Plan) -> float:
        """What the catalog adds to RCE.

        In row i with c counterfeits among N records each record is real with p = 1 - c/N, which adds (1 - p)^2 (1 -
        e) for each attribute of each original record.
        """
        listed = plan.listed
        if not len(listed):
            return 0.0
        number = listed.numbers
        real = holding.look_up(listed.classes, listed.tuples[number])
        total = np.bincount(number, real, minlength=len(listed)) + listed.counts
        unreal = np.square(listed.counts / total)[number]
        return float((unreal * real * self.objective.sharpness(partition)[listed.classes]).sum()) / len(self.people)

    def donors(self, partition: ClassPartition, plan: Plan) -> Counts:
        """For each counterfeit a record of the source whose values it takes: one of the same sensitive values in
        another class of its row, at random.
        """
        class_of_row = self.class_of_row(partition)
        keys = class_of_row * self.width + self.tuple_of_row
        order = np.lexsort((self.random.random(len(keys)), keys))
        keys = keys[order]
        row_of = {
            (number, value): row
            for row, number, value in zip(
                plan.listed.numbers.tolist(),
                plan.listed.classes.tolist(),
                plan.listed.tuples[plan.listed.numbers].tolist(),
                strict=True,
            )
        }
        found = [np.zeros(0, dtype=np.int64)]
        for number, value, count in zip(plan.classes.tolist(), plan.tuples.tolist(), plan.counts.tolist(), strict=True):
            row = row_of[number, value]
            others = plan.listed.classes[plan.listed.offsets[row] : plan.listed.offsets[row + 1]].tolist()
            held = []
            for other in others:
                if other != number:
                    key = other * self.width + value
                    held.append(order[slice(*np.searchsorted(keys, (key, key + 1)))])
            found.append(self.random.permutation(np.concatenate(held))[:count])
        return np.concatenate(found)
