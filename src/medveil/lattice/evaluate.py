"""Checks of one node: which records must be suppressed so that every requirement holds.

A record is suppressed if its class on any shield fails. Suppression makes other classes smaller, so verdicts are taken
again on the records kept until nothing changes. A release in which every record is suppressed satisfies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels
from medveil.lattice.merged import MergedCells
from medveil.lattice.sizes import WORTHWHILE, SizeCounter
from medveil.lattice.space import Levels, Space
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes, reference_of
from medveil.privacy.model import Reference, Requirement

MERGES_KEPT = 4
"""How many sets of merged cells are kept beside the cells themselves."""

ALWAYS_LOOKED_AT, LOOKS = 1 << 17, 4
"""With fewer cells sizes are looked at first while that decides at least one check in so many."""

ShieldClasses = dict[tuple[int, ...], tuple[NDArray[np.int32], int]]
"""For each shield, the class of each cell there and how many classes there are."""


@dataclass(frozen=True)
class Evaluation:
    """One checked node.

    `suppressed`: the records that must be left out. `feasible`: that they are no more than allowed, and some are kept.
    `certain`: how many records every more specific node suppresses at least, see `PrivacyModel.most_kept`;
    `certain_hidden`: for each quasi-identifier, in which groups at the node's level they are, or some of them.
    Only for a feasible node: `hidden`, for each quasi-identifier the suppressed records by group; `squares` and
    `classes` of what is kept (0 where the loss does not read them).
    `short`: that the check ended early, once the node was known to fail or not to be worth more; the numbers are then
    lower bounds, and nothing else is filled in.
    """

    levels: Levels
    suppressed: int
    feasible: bool
    certain: int
    short: bool = False
    hidden: tuple[NDArray[np.int64], ...] = ()
    certain_hidden: tuple[NDArray[np.int64], ...] = ()
    squares: int = 0
    classes: int = 0

    @property
    def sure(self) -> Evaluation:
        """The same node as if only those of the certain records were suppressed whose groups are known."""
        return replace(self, suppressed=int(self.certain_hidden[0].sum()), hidden=self.certain_hidden)


class Evaluator:
    """Checks nodes of a space against a set of requirements.

    `counts_classes`: whether evaluations must hold `squares` and `classes`, see the loss. `hierarchies`: those of
    sensitive attributes, for models that need them; `reference`: the input's distributions, made where not given.
    """

    def __init__(
        self,
        cells: Cells,
        space: Space,
        requirements: Sequence[Requirement],
        *,
        reference: Reference | None = None,
        hierarchies: dict[str, Hierarchy] | None = None,
        counts_classes: bool = False,
    ) -> None:
        if not requirements:
            raise PolicyError("There is no privacy model to satisfy.", "Name at least one under 'privacy:'.")
        if cells.records == 0:
            raise PolicyError("The table holds no records.", "Give a table with at least one record.")
        self.cells = cells
        self.space = space
        self.requirements = tuple(requirements)
        self.records = cells.records
        self.counts_classes = counts_classes
        self._reference = reference
        self._sensitive_hierarchies = hierarchies
        self.codes = np.ascontiguousarray(cells.codes, dtype=np.int32)
        self.counts = np.ascontiguousarray(cells.counts, dtype=np.int64)
        self._merged = [MergedCells(cells, space.hierarchies, (0,) * len(space))]
        self._tried: set[Levels] = set()
        self._looks = self._told_by_sizes = 0
        self._by_shield: dict[tuple[Levels, Levels], int] = {}
        everything = tuple(range(len(space)))
        self.enough = max(
            (r.model.least_class_size or 1 for r in self.requirements if r.shield == everything), default=1
        )
        """No class of fewer records, over all quasi-identifiers, can stay: people are never more than their records."""
        self._independent = cells.population is None and all(r.shield == everything for r in self.requirements)
        """Whether leaving a class out changes no other: all requirements are about the same classes."""
        self.sizes_only = (
            cells.subjects is None
            and self.enough <= kernels.SMALL_COUNTER
            and not counts_classes
            and all(r.model.asks_size_alone and r.shield == everything for r in self.requirements)
        )

    @cached_property
    def sizes(self) -> SizeCounter | None:
        """Counts too small classes, where that decides all, or is at least worth a look before anything else."""
        if self.sizes_only or 1 < self.enough <= kernels.SMALL_COUNTER:
            return SizeCounter(self.space, self.codes, self.counts, self.enough)
        return None

    @property
    def looks_at_sizes(self) -> bool:
        """Whether a check looks at sizes first: always with many cells, else while that decides enough nodes."""
        if self.sizes is None:
            return False
        if self.sizes_only or len(self.cells) >= ALWAYS_LOOKED_AT or self._looks < LOOKS:
            return True
        return self._told_by_sizes * LOOKS >= self._looks

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int32], list[list[int]]]:
        """The groups of every code at every level in one array, and where each quasi-identifier's levels begin."""
        levels = [[level.groups for level in hierarchy.levels] for hierarchy in self.space.hierarchies]
        ends = iter(np.cumsum([0, *(len(groups) for each in levels for groups in each)]).tolist())
        starts = [[next(ends) for _ in each] for each in levels]
        return np.concatenate([groups for each in levels for groups in each]), starts

    @cached_property
    def _most_groups(self) -> int:
        return max(len(level.labels) for hierarchy in self.space.hierarchies for level in hierarchy.levels)

    @cached_property
    def reference(self) -> Reference:
        return self._reference or reference_of(self.cells, self._sensitive_hierarchies)

    @cached_property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """For each quasi-identifier, the records of each leaf."""
        return tuple(
            np.bincount(codes, self.cells.counts, minlength=len(hierarchy.levels[0].groups)).astype(np.int64)
            for codes, hierarchy in zip(self.cells.codes, self.space.hierarchies, strict=True)
        )

    def prunes(self, allowed: int) -> bool:
        """Whether a node that fails rules out every more specific one."""
        return all(self._prunes(r, allowed) for r in self.requirements)

    def _prunes(self, requirement: Requirement, allowed: int) -> bool:
        """Shares of distinct people do not mix when classes merge (one may be in both), so `monotone` is of records."""
        model = requirement.model
        return model.absorbing or (allowed == 0 and model.monotone and self.cells.subjects is None)

    def focus(self, levels: Levels) -> None:
        """Make ready for many checks of nodes above this one."""
        if self.sizes is not None:
            self.sizes.focus(levels)
        if not self.sizes_only and self.cells.subjects is None and levels not in self._tried:
            self._tried.add(levels)
            before = self._serving_cells(levels)
            merged = before.merge(levels)
            if len(merged) * WORTHWHILE <= len(before):
                self._merged = [self._merged[0], *self._merged[1:][1 - MERGES_KEPT :], merged]

    def _serving_cells(self, levels: Sequence[int]) -> MergedCells:
        return min((merged for merged in self._merged if merged.serves(levels)), key=len)

    def classes_at(self, levels: Sequence[int], shield: Sequence[int] | None = None) -> tuple[NDArray[np.int32], int]:
        """The class of each cell at a node, over all quasi-identifiers or a shield's only, and how many there are."""
        class_of_cell, first = self._merged[0].classes_at(levels, shield)
        return class_of_cell, len(first)

    def kept_at(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Which cells stay at a node once every requirement has suppressed what it must."""
        classes = {shield: self.classes_at(levels, shield) for shield in _shields(self.requirements)}
        kept, _ = self._suppress(self.cells, classes, self.requirements, np.ones(len(self.cells), dtype=np.bool_))
        return kept

    def evaluate(
        self, levels: Levels, allowed: int, *, worth: float = math.inf, telling: float = math.inf
    ) -> Evaluation:
        """Check one node where at most `allowed` records may be suppressed.

        With more than `worth` suppressed the caller has no use for the node itself, and with more than `telling` none
        for the exact number.
        """
        if self.sizes is not None and self.looks_at_sizes:
            useful = int(min(allowed, worth, self.records - 1))
            enough_to_tell = int(max(useful, min(allowed, telling)))
            small, hidden = self.sizes.check(levels, useful, enough_to_tell, in_detail=self.sizes_only)
            self._looks += 1
            if small > useful:
                self._told_by_sizes += 1
                return Evaluation(levels, small, feasible=False, certain=small, short=True)
            if hidden is not None:
                return Evaluation(levels, small, feasible=True, certain=small, hidden=hidden, certain_hidden=hidden)
        serving = self._serving_cells(levels)
        checked = self._evaluate_once if self._independent else self._evaluate_shields
        return checked(serving, levels, allowed)

    def _evaluate_once(self, serving: MergedCells, levels: Levels, allowed: int) -> Evaluation:
        """All requirements are about the same classes: verdicts are taken once, and by class."""
        class_of_cell, first = serving.classes_at(levels)
        classes = count_classes(serving.cells, class_of_cell, len(first))
        holds = np.ones(len(first), dtype=np.bool_)
        for requirement in self.requirements:
            holds &= requirement.model.holds(classes, self.reference)
        records = classes.records
        sure = records - self._most_kept(classes, self.requirements, holds, allowed)
        certain = int(sure.sum())
        if certain > allowed or certain == self.records:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        codes = serving.cells.codes[:, first]
        certain_hidden = self._hidden(codes, sure, levels)
        out = np.where(holds, 0, records)
        suppressed = int(out.sum())
        if suppressed > allowed or suppressed == self.records:
            return Evaluation(levels, suppressed, feasible=False, certain=certain, certain_hidden=certain_hidden)
        sizes = records[holds] if self.counts_classes else records[:0]
        return Evaluation(
            levels,
            suppressed,
            feasible=True,
            certain=certain,
            hidden=certain_hidden if suppressed == certain else self._hidden(codes, out, levels),
            certain_hidden=certain_hidden,
            squares=_sum_of_squares(sizes),
            classes=len(sizes),
        )

    def _most_kept(
        self, classes: Classes, requirements: Sequence[Requirement], holds: NDArray[np.bool_], allowed: int
    ) -> NDArray[np.int64]:
        """How many records of each class any more specific node keeps at most.

        What stays of a class satisfies each requirement by itself, so that the least of their bounds holds; and no
        part that stays is smaller than the least class that a requirement allows, so neither is their union.
        Where nothing may be suppressed and merging keeps the models, a class that fails leaves no more specific node.
        """
        if allowed == 0 and all(self._prunes(requirement, allowed) for requirement in requirements):
            return np.where(holds, classes.records, 0)
        most = classes.records
        additive = self.cells.subjects is None
        for requirement in requirements:
            most = np.minimum(most, requirement.model.most_kept(classes, self.reference, additive=additive))
        least = max((requirement.model.least_class_size or 1 for requirement in requirements), default=1)
        return np.where(most >= least, most, 0)

    def _evaluate_shields(self, serving: MergedCells, levels: Levels, allowed: int) -> Evaluation:
        """Requirements about several sets of classes: what one leaves out the others have to look at again."""
        cells = serving.cells
        unavoidable = self._unavoidable(serving, levels, allowed)
        if unavoidable > allowed:
            return Evaluation(levels, unavoidable, feasible=False, certain=unavoidable, short=True)
        classes = {}
        for shield in _shields(self.requirements):
            class_of_cell, first = serving.classes_at(levels, shield)
            classes[shield] = (class_of_cell, len(first))
        sure = [r for r in self.requirements if self._prunes(r, allowed)]
        everyone = np.ones(len(cells), dtype=np.bool_)
        kept, possible = self._suppress(cells, classes, sure, everyone) if sure else (everyone, True)
        known = self.records - int(cells.counts[kept].sum())
        certain = max(known, unavoidable)
        if not possible or certain > allowed or certain == self.records:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        certain_hidden = self._hidden(cells.codes, np.where(kept, 0, cells.counts), levels)
        if len(sure) < len(self.requirements):
            kept, possible = self._suppress(cells, classes, self.requirements, everyone)
        suppressed = self.records - int(cells.counts[kept].sum())
        if not possible or suppressed > allowed or suppressed == self.records:
            return Evaluation(levels, suppressed, feasible=False, certain=certain, certain_hidden=certain_hidden)
        hidden = certain_hidden
        if suppressed > known:
            hidden = self._hidden(cells.codes, np.where(kept, 0, cells.counts), levels)
        sizes = np.zeros(0, dtype=np.int64)
        if self.counts_classes:
            class_of_cell, first = serving.classes_at(levels)
            sizes = np.bincount(class_of_cell[kept], cells.counts[kept], minlength=len(first)).astype(np.int64)
        return Evaluation(
            levels,
            suppressed,
            feasible=True,
            certain=certain,
            hidden=hidden,
            certain_hidden=certain_hidden,
            squares=_sum_of_squares(sizes),
            classes=int(np.count_nonzero(sizes)),
        )

    def _unavoidable(self, serving: MergedCells, levels: Levels, allowed: int) -> int:
        """How many records any more specific node suppresses at least by one shield alone, or any above `allowed`.

        The shields' numbers may be about the same records, so that only the largest counts. A shield's number depends
        on the levels of its own quasi-identifiers, so that it serves every node that has these.
        """
        most = 0
        for shield in _shields(self.requirements):
            place = (shield, tuple(levels[position] for position in shield))
            if place not in self._by_shield:
                asked = [r for r in self.requirements if r.shield == shield]
                class_of_cell, first = serving.classes_at(levels, shield)
                counted = count_classes(serving.cells, class_of_cell, len(first))
                stay = self._most_kept(counted, asked, counted.records > 0, self.records)
                self._by_shield[place] = int((counted.records - stay).sum())
            most = max(most, self._by_shield[place])
            if most > allowed:
                break
        return most

    def _suppress(
        self,
        cells: Cells,
        classes: ShieldClasses,
        requirements: Sequence[Requirement],
        kept: NDArray[np.bool_],
    ) -> tuple[NDArray[np.bool_], bool]:
        """The cells that stay, and whether a class that only the population fills fails, which nothing can mend.

        After the first round only classes that lost a cell are looked at: the others are as they were.
        """
        changed = np.ones(len(cells), dtype=np.bool_)
        while True:
            staying = kept.copy()
            for shield in _shields(requirements):
                class_of_cell, number = _only_with(changed, *classes[shield])
                counted = _count_kept(cells, class_of_cell, number, kept)
                for requirement in requirements:
                    if requirement.shield == shield:
                        holds = requirement.model.holds(counted, self.reference)
                        if counted.population is not None and not np.all(holds[counted.records == 0]):
                            return staying, False
                        staying &= np.append(holds, [True])[class_of_cell]  # a cell of class -1 stays
            changed = kept & ~staying
            if not changed.any():
                return kept, True
            kept = staying

    def _hidden(
        self, codes: NDArray[np.int32], counts: NDArray[np.int64], levels: Levels
    ) -> tuple[NDArray[np.int64], ...]:
        """For each quasi-identifier, these counts by group at the node's level."""
        groups, starts = self._groups
        at = np.array([begins[level] for begins, level in zip(starts, levels, strict=True)])
        found = np.zeros((len(levels), self._most_groups), dtype=np.int64)
        kernels.count_groups(codes, counts, groups, at, found)
        return tuple(
            row[: len(hierarchy.levels[level].labels)]
            for row, hierarchy, level in zip(found, self.space.hierarchies, levels, strict=True)
        )


def _shields(requirements: Sequence[Requirement]) -> list[tuple[int, ...]]:
    return sorted({requirement.shield for requirement in requirements})


def _only_with(
    changed: NDArray[np.bool_], class_of_cell: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int32], int]:
    """The classes that hold a changed cell, numbered anew, and how many they are; cells of all others are in -1."""
    if changed.all():
        return class_of_cell, number
    touched = np.zeros(number, dtype=np.bool_)
    touched[class_of_cell[changed]] = True
    renumbered = np.where(touched, np.cumsum(touched) - 1, -1).astype(np.int32)
    return renumbered[class_of_cell], int(np.count_nonzero(touched))


def _sum_of_squares(sizes: NDArray[np.int64]) -> int:
    return sum(int(size) ** 2 for size in sizes)


def _count_kept(cells: Cells, class_of_cell: NDArray[np.int32], number: int, kept: NDArray[np.bool_]) -> Classes:
    """The classes of what is kept. Suppression takes records away, never people of the population."""
    if kept.all():
        return count_classes(cells, class_of_cell, number)
    if cells.population is None:
        return count_classes(cells, class_of_cell, number, kept)
    return count_classes(replace(cells, counts=np.where(kept, cells.counts, 0)), class_of_cell, number)
