"""From a crowd to an arrangement: who is published where, decided without anybody's values.

The steps of the proof (docs/proofs/h-ceiling.md) that are taken here: everybody is in one class (C1, `settle` and
`seat`), and classes, groups, class ids and what is too small to be grouped are functions of quasi-identifiers and of
random numbers alone (C2, `plan`): nothing here is given a sensitive or plain value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Levels, Space
from medveil.methods.h_ceiling.boxes import Bounds, cut_boxes
from medveil.methods.h_ceiling.clusters import grow_clusters
from medveil.methods.h_ceiling.grouping import TOO_SMALL, Grouping, group_classes
from medveil.methods.h_ceiling.objective import Objective, lacking
from medveil.methods.h_ceiling.partition import ROUNDING, ClassPartition
from medveil.methods.h_ceiling.people import Counts, PopulatedPlaces, Residents, shared_numbers
from medveil.methods.h_ceiling.search import Ceiling, Filled, NodeSearch

CEILINGS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""The ceilings that local recoding tries where none is given for single records; the one that costs least is taken."""

Recoding = Literal["full-domain", "mondrian", "clustering"]
Step = Callable[[float | None, str], None]
"""Who is told how far the planner is, and what it is doing."""


@dataclass(frozen=True)
class Settings:
    """What the planner is told.

    k: how many people a group must have.
    h, ceiling: how strongly records may be generalized, each of them or on average.
    order, apart: positions of the columns by which people are near, and of those that groups must not mix.
    bounds: the least and the greatest level of each quasi-identifier.
    failing: the share of groups of n people, n = 0, 1, ..., that would fail a model if all values were dealt out anew
        at random; the last is that of all larger ones.
    """

    k: int
    h: float
    ceiling: Ceiling
    recoding: Recoding
    objective: Objective
    order: Sequence[int]
    apart: Sequence[int]
    bounds: Bounds
    failing: NDArray[np.float64]


@dataclass(frozen=True)
class PlannedPartition:
    """The best partition with its groups; `levels` where one level a column was published; nodes as in `BestNode`."""

    filled: Filled[Grouping]
    levels: Levels | None
    nodes: dict[str, int]


class Planner:
    """Looks for the partition and the groups that cost least."""

    def __init__(self, crowd: PopulatedPlaces, settings: Settings, random: np.random.Generator, step: Step) -> None:
        self.crowd = crowd
        self.settings = settings
        self.random = random
        self.step = step

    def fill(self, partition: ClassPartition, allowed: int) -> Filled[Grouping] | None:
        """The groups of a partition, or None where they take more counterfeits."""
        settings = self.settings
        grouping = group_classes(partition, settings.k, settings.order, settings.apart)
        if grouping.counterfeits > allowed:
            return None
        left_out = self._left_out(grouping)
        cost = settings.objective.of(partition, grouping.real(partition), grouping.counterfeits, left_out)
        return Filled(partition, grouping, cost, grouping.counterfeits)

    def _left_out(self, grouping: Grouping) -> NDArray[np.float64]:
        """The share of the people of each class who will be left out: all of those too few to be grouped, and of the
        others as many as fail where values are dealt out at random.
        """
        failing = self.settings.failing
        share = failing[np.minimum(grouping.people, len(failing) - 1)]
        return np.asarray(np.append(share, 1.0)[grouping.group_of_class], dtype=np.float64)

    def plan(self, allowed: int) -> PlannedPartition | None:
        """The best there is with so many counterfeits, or None."""
        settings = self.settings
        if settings.recoding == "full-domain":
            found = self.search.best(settings.h, settings.ceiling, allowed, lambda share: self.step(share, ""))
            if found is None:
                return None
            counts = {"nodes": found.nodes, "counted": found.counted, "planned": found.planned}
            return PlannedPartition(found.filled, found.levels, counts)
        best: Filled[Grouping] | None = None
        for partition in self.partitions(self.ceilings()):
            filled = self.fill(partition, allowed)
            if filled is not None and (best is None or filled.key < best.key):
                best = filled
        return None if best is None else PlannedPartition(best, None, {})

    @cached_property
    def search(self) -> NodeSearch[Grouping]:
        lowest, highest = zip(*self.settings.bounds, strict=True)
        space = Space.of(self.crowd.hierarchies, lowest, highest, self.crowd.names)
        return NodeSearch(
            self.crowd,
            space,
            self.settings.objective,
            lambda partition: lacking(partition.people, self.settings.k),
            self.fill,
        )

    def ceilings(self) -> list[float]:
        """The ceilings of single records that local recoding tries."""
        given = self.settings.ceiling == "record" and self.settings.h < 1.0
        return [self.settings.h] if given else list(CEILINGS)

    def partitions(self, ceilings: Iterable[float]) -> Iterable[ClassPartition]:
        """What local recoding makes of the crowd under each ceiling that it can keep."""
        settings = self.settings
        for h in ceilings:
            if settings.recoding == "mondrian":
                partition = cut_boxes(
                    self.crowd, settings.bounds, h, settings.k, lambda: self.step(None, "Cutting boxes")
                )
            else:
                partition = grow_clusters(
                    self.crowd, settings.bounds, h, settings.k, self.random, lambda: self.step(None, "Growing clusters")
                )
            if partition is None:
                continue
            mean = float((partition.degrees * partition.people).sum()) / self.crowd.count
            if settings.ceiling == "record" or mean <= settings.h + ROUNDING:
                yield partition

    def remedies(self, allowed: int) -> tuple[float | None, int | None]:
        """The least h under which so many counterfeits suffice, and the fewest counterfeits under this h."""
        settings = self.settings
        most = self.crowd.count * self.crowd.count
        if settings.recoding == "full-domain":
            least = self.search.least_degree(
                settings.ceiling, allowed, lambda share: self.step(share, "Finding the least h")
            )
            return least, self.search.fewest_counterfeits(
                settings.h, settings.ceiling, most, lambda share: self.step(share, "Finding the fewest counterfeits")
            )
        made = [self.fill(partition, most) for partition in self.partitions(self.ceilings())]
        fewest = min((filled.counterfeits for filled in made if filled is not None), default=None)
        larger = [ceiling for ceiling in CEILINGS if ceiling > settings.h]
        works = (h for h in larger for p in self.partitions([h]) if self.fill(p, allowed) is not None)
        return next(works, None), fewest


@dataclass(frozen=True)
class Arrangement:
    """Who is published where.

    lines: the records that are published, with `person` and `class_of_line` of each.
    of_partition: the class of the partition that each class is of. A class of the partition may be several here, where
        they differ in how many records each of their people keeps.
    people: r_i, the people of each class; group: its group, TOO_SMALL where it has none; ids: its number in random
        order, from 1.
    """

    partition: ClassPartition
    lines: Counts
    person: Counts
    class_of_line: Counts
    of_partition: Counts
    people: Counts
    group: Counts
    ids: Counts

    @cached_property
    def groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def people_of_group(self) -> Counts:
        """|R| of each group."""
        grouped = self.group >= 0
        return np.bincount(self.group[grouped], self.people[grouped], minlength=self.groups).astype(np.int64)

    @cached_property
    def classes_of_group(self) -> Counts:
        """How many classes g each group has."""
        return np.bincount(self.group[self.group >= 0], minlength=self.groups).astype(np.int64)

    @cached_property
    def group_of_line(self) -> Counts:
        return self.group[self.class_of_line]


def seat(
    residents: Residents, filled: Filled[Grouping], k: int, random: np.random.Generator, *, shared: bool
) -> Arrangement:
    """Which records of everybody are published, by quasi-identifiers and chance alone.

    A person's records are published as far as the labels of her class stand for them, and left out elsewhere; in a
    group of several classes one of them is drawn. `shared`: in a class of its own as many as k people there have
    (`shared_numbers`), and those who keep another number are another class, so that who knows how many records a
    person has learns nothing by that.
    """
    partition, grouping = filled.partition, filled.plan
    class_of_person = partition.class_of_place[residents.home].astype(np.int64)
    at_home = residents.place_of_row == residents.home[residents.person_of_row]
    of_row = class_of_person[residents.person_of_row]
    lines = np.flatnonzero(at_home | partition.fits(residents.codes[:, residents.place_of_row], of_row))
    kept = _kept_numbers(residents.person_of_row[lines], class_of_person, grouping, k if shared else None)
    lines = _drawn(lines, residents.person_of_row, kept, random)
    apart = kept if shared else np.zeros(len(kept), dtype=np.int64)
    widest = int(apart.max(initial=0)) + 1
    keys, of_person = np.unique(class_of_person * widest + apart, return_inverse=True)
    of_partition = keys // widest
    person = residents.person_of_row[lines]
    return Arrangement(
        partition,
        lines,
        person,
        of_person[person],
        of_partition,
        np.bincount(of_person, minlength=len(of_partition)).astype(np.int64),
        _numbered(grouping.group_of_class[of_partition], of_partition, grouping),
        random.permutation(len(of_partition)) + 1,
    )


def _kept_numbers(person: Counts, class_of_person: Counts, grouping: Grouping, k: int | None) -> Counts:
    """How many of these records each person keeps: one in a group of several classes, elsewhere all of them, or as
    many as k people of the class have.
    """
    numbers = np.bincount(person, minlength=len(class_of_person)).astype(np.int64)
    alone = _alone(grouping.group_of_class, grouping)[class_of_person]
    kept = np.where(alone, numbers, 1)
    if k is None:
        return kept
    several = np.unique(class_of_person[(numbers > 1) & alone])
    order = np.argsort(class_of_person, kind="stable")
    starts = np.searchsorted(class_of_person[order], several)
    ends = np.searchsorted(class_of_person[order], several, side="right")
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        members = order[start:end]
        kept[members] = shared_numbers(numbers[members].tolist(), k)
    return kept


def _drawn(lines: Counts, person_of_row: Counts, kept: Counts, random: np.random.Generator) -> Counts:
    """So many of these records of each person, at random."""
    chance = random.random(len(person_of_row))[lines]
    by_person = lines[np.lexsort((chance, person_of_row[lines]))]
    person = person_of_row[by_person]
    nth = np.arange(len(person)) - np.searchsorted(person, person)
    return np.sort(by_person[nth < kept[person]])


def _alone(group: Counts, grouping: Grouping) -> NDArray[np.bool_]:
    """Which of these groups are of one class."""
    return np.asarray((group >= 0) & (np.append(grouping.classes, 0)[group] == 1), dtype=np.bool_)


def _numbered(group: Counts, of_partition: Counts, grouping: Grouping) -> Counts:
    """The groups numbered anew: a class that became several is as many groups."""
    keys = np.where(_alone(group, grouping), len(grouping.classes) + np.arange(len(of_partition)), group)
    found = np.full(len(group), TOO_SMALL, dtype=np.int64)
    inside = group >= 0
    found[inside] = np.unique(keys[inside], return_inverse=True)[1]
    return found
