"""Checks of one node: which records must be suppressed so that every requirement holds.

A record is suppressed if its class on any shield fails. Suppression makes other classes smaller, so verdicts are taken
again on the records kept until nothing changes. A release in which every record is suppressed satisfies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels
from medveil.lattice.checker import Evaluation
from medveil.lattice.groups import GroupTable
from medveil.lattice.merged import MergedCells
from medveil.lattice.shields import Shields
from medveil.lattice.sizes import WORTHWHILE, SizeCounter
from medveil.lattice.space import Levels, Space
from medveil.lattice.verdicts import Judged, Rules
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes, reference_of
from medveil.privacy.model import PrivacyModel, Reference, Requirement, Verdict

MERGES_KEPT = 4
"""How many sets of merged cells are kept beside the cells themselves."""

WORKERS = 2
"""Nodes checked at a time; fixed, so that every run checks the same nodes."""

WORTH_THREADS = 1 << 17
"""With fewer cells a check is done before another thread has begun."""

ALWAYS_LOOKED_AT, LOOKS = 1 << 17, 4
"""With fewer cells sizes are looked at first while that decides at least one check in so many."""


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
        self._models = tuple(requirement.model for requirement in self.requirements)
        self._shields = Shields(cells, space.hierarchies, self.requirements)
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
        if self.sizes_only or len(self.cells) >= ALWAYS_LOOKED_AT:
            return True
        if self._rules is not None:
            return False
        if self._looks < LOOKS:
            return True
        return self._told_by_sizes * LOOKS >= self._looks

    @property
    def asks_worth(self) -> bool:
        """Whether a check may end earlier if it is told from how many suppressed records on a node is worth nothing."""
        return not self._independent or self.looks_at_sizes

    @cached_property
    def _groups(self) -> GroupTable:
        return GroupTable(self.space.hierarchies)

    @cached_property
    def _every_cell(self) -> NDArray[np.int64]:
        return np.arange(len(self.cells))

    @cached_property
    def _rules(self) -> Rules | None:
        """What all models ask, where each can say so in numbers and all are about the same classes."""
        if not self._independent:
            return None
        return Rules.of(self._models, self.cells, self.space.hierarchies, self.reference)

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

    @property
    def workers(self) -> int:
        """How many nodes are checked at a time."""
        return WORKERS if len(self.cells) >= WORTH_THREADS else 1

    def cross(self, first: int, low: int, second: int, other: int) -> NDArray[np.int64]:
        """The records of every pair of groups of two quasi-identifiers at these levels."""
        levels = [self.space.hierarchies[at].levels[level] for at, level in ((first, low), (second, other))]
        codes = [level.groups[self.codes[at]] for level, at in zip(levels, (first, second), strict=True)]
        cross = np.zeros([len(level.labels) for level in levels], dtype=np.int64)
        kernels.cross_count(codes[0], codes[1], self.counts, cross)
        return cross

    def reached(self, levels: Levels) -> list[tuple[str, dict[str, float]]]:
        """What each model reaches at a node where nothing is suppressed."""
        found = []
        for requirement in self.requirements:
            class_of_cell, number = self.classes_at(levels, requirement.shield)
            classes = count_classes(self.cells, class_of_cell, number)
            found.append((requirement.model.name, requirement.model.achieved(classes, self.reference)))
        return found

    def prunes(self, allowed: int) -> bool:
        """Whether a node that fails rules out every more specific one."""
        return all(self._prunes(requirement.model, allowed) for requirement in self.requirements)

    def _prunes(self, model: PrivacyModel, allowed: int) -> bool:
        """Shares of distinct people do not mix when classes merge (one may be in both), so `monotone` is of records."""
        return model.absorbing or (allowed == 0 and model.monotone and self.cells.subjects is None)

    def focus(self, levels: Levels) -> None:
        """Make ready for many checks of nodes above this one."""
        if self.sizes is not None and self.looks_at_sizes:
            self.sizes.focus(levels)
        if not self.sizes_only and self.cells.subjects is None and levels not in self._tried:
            self._tried.add(levels)
            before = self._serving_cells(levels)
            merged = before.merge(levels)
            if len(merged) * WORTHWHILE <= len(before):
                self._merged = [self._merged[0], *self._merged[1:][1 - MERGES_KEPT :], merged]

    def _serving_cells(self, levels: Sequence[int]) -> MergedCells:
        best = self._merged[0]
        for merged in self._merged[1:]:
            if len(merged) < len(best) and merged.serves(levels):
                best = merged
        return best

    def classes_at(self, levels: Sequence[int], shield: Sequence[int] | None = None) -> tuple[NDArray[np.int32], int]:
        """The class of each cell at a node, over all quasi-identifiers or a shield's only, and how many there are."""
        class_of_cell, first = self._merged[0].classes_at(levels, shield)
        return class_of_cell, len(first)

    def kept_at(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Which cells stay at a node once every requirement has suppressed what it must."""
        kept, _ = self._shields.suppress(tuple(levels), self.reference)
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
        if self._independent:
            return self._evaluate_once(self._serving_cells(levels), levels, allowed)
        return self._evaluate_shields(levels, allowed, worth)

    def _evaluate_once(self, serving: MergedCells, levels: Levels, allowed: int) -> Evaluation:
        """All requirements are about the same classes: verdicts are taken once, and by class."""
        judged = None if self._rules is None else self._rules.judge(serving.combinations, levels, allowed)
        if judged is None or (judged.holds is None and judged.certain <= allowed):
            judged = self._judge_by_models(serving, levels, allowed)
        certain, first, records = judged.certain, judged.first, judged.records
        if judged.holds is None or certain > allowed or certain == self.records:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        codes = judged.codes
        certain_hidden = self._groups.count(levels, codes, first, records - judged.most)
        out = np.where(judged.holds, 0, records)
        suppressed = int(out.sum())
        if suppressed > allowed or suppressed == self.records:
            return Evaluation(levels, suppressed, feasible=False, certain=certain, certain_hidden=certain_hidden)
        sizes = records[judged.holds] if self.counts_classes else records[:0]
        return Evaluation(
            levels,
            suppressed,
            feasible=True,
            certain=certain,
            hidden=certain_hidden if suppressed == certain else self._groups.count(levels, codes, first, out),
            certain_hidden=certain_hidden,
            squares=_sum_of_squares(sizes),
            classes=len(sizes),
        )

    def _judge_by_models(self, serving: MergedCells, levels: Levels, allowed: int) -> Judged:
        """The same as by rules, with the models' own verdicts and bounds."""
        class_of_cell, first = serving.classes_at(levels)
        classes = count_classes(serving.cells, class_of_cell, len(first))
        # What every more specific node leaves out is looked at first: it is often too much, whatever the verdicts are.
        most, verdicts = self._most_kept(classes, self._models, allowed)
        certain = int((classes.records - most).sum())
        if certain > allowed:
            return Judged(serving.cells.codes, first, classes.records, most, certain, None)
        holds = np.ones(len(first), dtype=np.bool_)
        for model, verdict in zip(self._models, verdicts, strict=True):
            holds &= model.holds(classes, self.reference) if verdict is None else verdict
        return Judged(serving.cells.codes, first, classes.records, most, certain, holds)

    def _most_kept(
        self, classes: Classes, models: Sequence[PrivacyModel], allowed: int
    ) -> tuple[NDArray[np.int64], list[Verdict | None]]:
        """How many records of each class any more specific node keeps at most, and the verdicts that this took.

        What stays of a class satisfies each requirement by itself, so that the least of their bounds holds; and no
        part that stays is smaller than the least class that a requirement allows, so neither is their union.
        Where nothing may be suppressed and merging keeps a model, a class that fails leaves no more specific node.
        """
        most = classes.records
        verdicts: list[Verdict | None] = []
        for model in models:
            if self._prunes(model, allowed):
                verdict = model.holds(classes, self.reference)
                most = np.where(verdict, most, 0)
                verdicts.append(verdict)
            else:
                additive = self.cells.subjects is None
                most = np.minimum(most, model.most_kept(classes, self.reference, additive=additive))
                verdicts.append(None)
        least = max((model.least_class_size or 1 for model in models), default=1)
        return np.where(most >= least, most, 0), verdicts

    def _evaluate_shields(self, levels: Levels, allowed: int, worth: float) -> Evaluation:
        """Requirements about several sets of classes: what one leaves out the others have to look at again."""
        view = self._shields.view(levels, allowed, self.reference, self._stay_of)
        certain = view.certain
        if not view.possible or certain > allowed or certain == self.records:
            return Evaluation(levels, certain, feasible=False, certain=certain, short=True)
        certain_hidden = self._groups.count(levels, self.codes, self._every_cell, np.where(view.gone, self.counts, 0))
        most = min(allowed, worth, self.records - 1)
        suppressed = int(self.counts[view.failing].sum())
        kept, possible = ~view.failing, True
        if suppressed <= most:
            kept, possible = self._shields.suppress(levels, self.reference, view.failing, most)
            suppressed = self.records - int(self.counts[kept].sum())
        if not possible or suppressed > most:
            fails = not possible or suppressed > allowed or suppressed == self.records
            # Where a failure rules out what is more specific, that suppresses more than is allowed.
            certain = allowed + 1 if fails and self.prunes(allowed) else certain
            return Evaluation(
                levels, suppressed, feasible=False, certain=certain, certain_hidden=certain_hidden, short=True
            )
        hidden = certain_hidden
        if self.prunes(self.records):
            hidden = self._groups.count(levels, self.codes, self._every_cell, np.where(kept, 0, self.counts))
            certain, certain_hidden = suppressed, hidden
        elif suppressed > int(certain_hidden[0].sum()):
            hidden = self._groups.count(levels, self.codes, self._every_cell, np.where(kept, 0, self.counts))
        sizes = np.zeros(0, dtype=np.int64)
        if self.counts_classes:
            class_of_cell, number = self.classes_at(levels)
            sizes = np.bincount(class_of_cell[kept], self.counts[kept], minlength=number).astype(np.int64)
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

    def _stay_of(self, classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.int64]:
        return self._most_kept(classes, models, self.records)[0]


def _sum_of_squares(sizes: NDArray[np.int64]) -> int:
    return sum(int(size) ** 2 for size in sizes)
