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
from medveil.codes.kernels import add_counts
from medveil.codes.rank import rank_combinations
from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels
from medveil.lattice.sizes import WORTHWHILE, SizeCounter
from medveil.lattice.space import Levels, Space
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes, reference_of
from medveil.privacy.model import Reference, Requirement

MERGES_KEPT = 4
"""How many sets of merged cells are kept beside the cells themselves."""


@dataclass(frozen=True)
class Evaluation:
    """One checked node.

    `suppressed`: the records that must be left out. `feasible`: that they are no more than allowed, and some are kept.
    `certain`: the records that the absorbing requirements alone suppress: every more specific node suppresses them
    too. Only for a feasible node: `hidden` and `certain_hidden`, for each quasi-identifier the suppressed records by
    group at the node's level; `squares` and `classes` of what is kept (0 where the loss does not read them).
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
        """The same node as if only the absorbing requirements were asked."""
        return replace(self, suppressed=self.certain, hidden=self.certain_hidden)


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
        self._merged = [_Merged(cells, (0,) * len(space))]
        self._tried: set[Levels] = set()
        everything = tuple(range(len(space)))
        self.enough = max(
            (r.model.least_class_size or 1 for r in self.requirements if r.shield == everything), default=1
        )
        """No class of fewer records, over all quasi-identifiers, can stay: people are never more than their records."""
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
            merged = before.merge(self.space.hierarchies, levels)
            if len(merged.cells) * WORTHWHILE <= len(before.cells):
                self._merged = [self._merged[0], *self._merged[1:][1 - MERGES_KEPT :], merged]

    def _serving_cells(self, levels: Sequence[int]) -> _Merged:
        served = (m for m in self._merged if all(a <= b for a, b in zip(m.levels, levels, strict=True)))
        return min(served, key=lambda merged: len(merged.cells))

    def classes_at(self, levels: Sequence[int], shield: Sequence[int] | None = None) -> tuple[NDArray[np.int32], int]:
        """The class of each cell at a node, over all quasi-identifiers or a shield's only, and how many there are."""
        return _classes_at(self.cells, self.space.hierarchies, levels, shield)

    def kept_at(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Which cells stay at a node once every requirement has suppressed what it must."""
        shields = sorted({requirement.shield for requirement in self.requirements})
        classes = {shield: self.classes_at(levels, shield) for shield in shields}
        kept, _ = self._suppress(self.cells, classes, self.requirements, np.ones(len(self.cells), dtype=np.bool_))
        return kept

    def evaluate(
        self, levels: Levels, allowed: int, *, worth: float = math.inf, telling: float = math.inf
    ) -> Evaluation:
        """Check one node where at most `allowed` records may be suppressed.

        With more than `worth` suppressed the caller has no use for the node itself, and with more than `telling` none
        for the exact number.
        """
        if self.sizes is not None:
            useful = int(min(allowed, worth, self.records - 1))
            enough_to_tell = int(max(useful, min(allowed, telling)))
            small, hidden = self.sizes.check(levels, useful, enough_to_tell, in_detail=self.sizes_only)
            if small > useful:
                return Evaluation(levels, small, feasible=False, certain=small, short=True)
            if hidden is not None:
                return Evaluation(levels, small, feasible=True, certain=small, hidden=hidden, certain_hidden=hidden)
        return self._evaluate_classes(levels, allowed)

    def _evaluate_classes(self, levels: Levels, allowed: int) -> Evaluation:
        """Any requirements: count classes, take verdicts, suppress, until nothing changes."""
        cells = self._serving_cells(levels).cells
        shields = sorted({requirement.shield for requirement in self.requirements})
        classes = {shield: _classes_at(cells, self.space.hierarchies, levels, shield) for shield in shields}
        sure = [r for r in self.requirements if self._prunes(r, allowed)]
        everyone = np.ones(len(cells), dtype=np.bool_)
        kept, possible = self._suppress(cells, classes, sure, everyone) if sure else (everyone, True)
        certain = self.records - int(cells.counts[kept].sum())
        if not possible or certain > allowed or certain == self.records:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        certain_hidden = self._hidden(cells, np.flatnonzero(~kept), levels)
        if len(sure) < len(self.requirements):
            # The others may fail classes which the sure ones then have to look at again.
            kept, possible = self._suppress(cells, classes, list(self.requirements), everyone)
        suppressed = self.records - int(cells.counts[kept].sum())
        if not possible or suppressed > allowed or suppressed == self.records:
            return Evaluation(levels, suppressed, feasible=False, certain=certain, certain_hidden=certain_hidden)
        hidden = certain_hidden if suppressed == certain else self._hidden(cells, np.flatnonzero(~kept), levels)
        squares = number_kept = 0
        if self.counts_classes:
            class_of_cell, number = _classes_at(cells, self.space.hierarchies, levels, None)
            sizes = np.bincount(class_of_cell[kept], cells.counts[kept], minlength=number).astype(np.int64)
            squares, number_kept = sum(int(size) ** 2 for size in sizes), int(np.count_nonzero(sizes))
        return Evaluation(
            levels,
            suppressed,
            feasible=True,
            certain=certain,
            hidden=hidden,
            certain_hidden=certain_hidden,
            squares=squares,
            classes=number_kept,
        )

    def _suppress(
        self,
        cells: Cells,
        classes: dict[tuple[int, ...], tuple[NDArray[np.int32], int]],
        requirements: Sequence[Requirement],
        kept: NDArray[np.bool_],
    ) -> tuple[NDArray[np.bool_], bool]:
        """The cells that stay, and whether a class that only the population fills fails, which nothing can mend."""
        shields = sorted({requirement.shield for requirement in requirements})
        while True:
            staying = kept.copy()
            possible = True
            for shield in shields:
                class_of_cell, number = classes[shield]
                counted = _count_kept(cells, class_of_cell, number, kept)
                for requirement in requirements:
                    if requirement.shield == shield:
                        holds = requirement.model.holds(counted, self.reference)
                        staying &= holds[class_of_cell]
                        if counted.population is not None:
                            possible &= bool(np.all(holds[counted.records == 0]))
            if np.array_equal(staying, kept):
                return kept, possible
            kept = staying

    def _hidden(self, cells: Cells, out: NDArray[np.intp], levels: Levels) -> tuple[NDArray[np.int64], ...]:
        """For each quasi-identifier, the records of these cells by group at the node's level."""
        counts = cells.counts[out]
        return tuple(
            np.bincount(
                hierarchy.levels[level].groups[codes[out]],
                counts,
                minlength=len(hierarchy.levels[level].labels),
            ).astype(np.int64)
            for hierarchy, level, codes in zip(self.space.hierarchies, levels, cells.codes, strict=True)
        )


@dataclass(frozen=True)
class _Merged:
    """Cells in which those that a node cannot tell apart, sensitive values included, are one.

    Each keeps the codes of the first of them, so that hierarchies apply as before.
    """

    cells: Cells
    levels: Levels

    def merge(self, hierarchies: Sequence[Hierarchy], levels: Levels) -> _Merged:
        cells = self.cells
        columns = [*cells.codes, *cells.sensitive.values()]
        lookups = [h.levels[level].groups for h, level in zip(hierarchies, levels, strict=True)]
        lookups += [np.arange(len(cells.domains[name]), dtype=np.int32) for name in cells.sensitive]
        ranks, first = rank_combinations(columns, lookups, len(cells))
        counts = np.zeros(len(first), dtype=np.int64)
        add_counts(ranks, cells.counts, counts)
        population = None
        if cells.population is not None:
            population = np.zeros(len(first), dtype=np.int64)
            add_counts(ranks, cells.population, population)
        merged = Cells(
            cells.quasi,
            np.ascontiguousarray(cells.codes[:, first]),
            counts,
            {name: codes[first] for name, codes in cells.sensitive.items()},
            cells.domains,
            None,
            population,
        )
        return _Merged(merged, levels)


def _count_kept(cells: Cells, class_of_cell: NDArray[np.int32], number: int, kept: NDArray[np.bool_]) -> Classes:
    """The classes of what is kept. Suppression takes records away, never people of the population."""
    if kept.all():
        return count_classes(cells, class_of_cell, number)
    if cells.population is None:
        return count_classes(cells, class_of_cell, number, kept)
    return count_classes(replace(cells, counts=np.where(kept, cells.counts, 0)), class_of_cell, number)


def _classes_at(
    cells: Cells, hierarchies: Sequence[Hierarchy], levels: Sequence[int], shield: Sequence[int] | None
) -> tuple[NDArray[np.int32], int]:
    positions = range(len(levels)) if shield is None else shield
    lookups = [np.ascontiguousarray(hierarchies[p].levels[levels[p]].groups) for p in positions]
    ranks, first = rank_combinations([cells.codes[p] for p in positions], lookups, len(cells))
    return ranks, len(first)
