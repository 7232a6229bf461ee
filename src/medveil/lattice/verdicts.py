"""Checks of one node by rules: classes, histograms, verdicts and what can stay, each in one compiled pass.

Where every model says what it asks as a `Rule`, and counts are of records, a node is checked without making an array
for each figure of each model. What a rule leaves open, so near to a limit is a class, the models decide themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.kernels import add_counts
from medveil.codes.rank import rank
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels
from medveil.lattice.groups import GroupTable
from medveil.lattice.merged import Combinations
from medveil.lattice.scratch import Scratch
from medveil.lattice.space import Levels
from medveil.lattice.tables import PackedTable
from medveil.privacy.count import fits_table
from medveil.privacy.judging import judge, tabulate
from medveil.privacy.model import PrivacyModel, Reference
from medveil.privacy.rules import HOLDS, UNSURE, Rule, unlimited

DIRECT = 1 << 20
"""Key spaces up to here have an entry for each key, others are hashed."""


@dataclass(frozen=True)
class Judged:
    """The classes of a node, until the next is checked: of each the `first` combination, whose
    codes are in `codes`, its records, and how many of them can stay.

    `holds` is None where only the models can tell, or where `certain`, the records that cannot stay, are too many; of
    those it is then a lower bound.
    """

    codes: NDArray[np.int32]
    first: NDArray[np.int64]
    records: NDArray[np.int64]
    most: NDArray[np.int64]
    certain: int
    holds: NDArray[np.bool_] | None


class Rules:
    """The rules of models that are all about the same classes."""

    def __init__(
        self,
        models: Sequence[PrivacyModel],
        rules: Sequence[Rule],
        domains: Mapping[str, int],
        hierarchies: Sequence[Hierarchy],
    ) -> None:
        self._least = max(rule.least for rule in rules)
        self._by_attribute: dict[str, list[tuple[PrivacyModel, Rule, NDArray[np.float64]]]] = {}
        for model, rule in zip(models, rules, strict=True):
            if rule.attribute is not None:
                limits = rule.limits if rule.limits.size else unlimited(domains[rule.attribute])
                self._by_attribute.setdefault(rule.attribute, []).append((model, rule, limits))
        self._domains = domains
        self._groups = GroupTable(hierarchies)
        self._scratch = Scratch()

    @classmethod
    def of(
        cls, models: Sequence[PrivacyModel], cells: Cells, hierarchies: Sequence[Hierarchy], reference: Reference
    ) -> Rules | None:
        """The rules of these models; None where one has none, or where counts do not add up."""
        if cells.subjects is not None or cells.population is not None:
            return None
        if any(model.sensitive_attribute not in {None, *cells.sensitive} for model in models):
            return None
        rules = [rule for rule in (model.rule(reference) for model in models) if rule is not None]
        if len(rules) < len(models):
            return None
        return cls(models, rules, {name: len(cells.domains[name]) for name in cells.sensitive}, hierarchies)

    def judge(self, combinations: Combinations, levels: Levels, allowed: int) -> Judged | None:
        """Check a node; None where a histogram would be too large a table."""
        room = self._scratch.room
        classes, first, sizes = self._classes(combinations.table, levels)
        number = len(first)
        most, verdicts = room("most", number, np.int64), room("verdicts", number, np.int8)
        certain = kernels.leave_small(sizes, self._least, most, verdicts)
        if certain > allowed:
            return Judged(combinations.codes, first, sizes, most, certain, None)
        for attribute, rules in self._by_attribute.items():
            width = self._domains[attribute]
            if not fits_table(number, width, len(combinations.counts)):
                return None
            table = room("table", number * width, np.int64).reshape(number, width)
            tabulate(classes, combinations.of_cell, combinations.values[attribute], combinations.counts, table)
            for model, rule, limits in rules:
                certain = judge(
                    table,
                    sizes,
                    limits,
                    rule.summed,
                    rule.excess,
                    rule.beyond,
                    rule.distinct,
                    rule.complete,
                    model.absorbing or (allowed == 0 and model.monotone),
                    self._least,
                    allowed,
                    most,
                    verdicts,
                    room("held", width, np.int64),
                    room("ceilings", width, np.float64),
                )
                if certain > allowed:
                    return Judged(combinations.codes, first, sizes, most, certain, None)
        unsure = bool((verdicts == UNSURE).any())
        return Judged(combinations.codes, first, sizes, most, certain, None if unsure else verdicts == HOLDS)

    def _classes(
        self, table: PackedTable, levels: Levels
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The class of each combination, the first combination of each class, and its records."""
        room = self._scratch.room
        starts, cells = table.packing.starts, len(table)
        sizes = room("sizes", cells, np.int64)
        lookup = room("lookup", int(starts[-1]), np.int32)
        key_space = self._groups.look_up(levels, table.packing, DIRECT, lookup)
        if key_space:
            classes, first = room("classes", cells, np.int32), room("first", cells, np.int64)
            seen = room("seen", key_space, np.int32)
            number = kernels.number_classes(table.packs, lookup, starts, table.counts, seen, classes, first, sizes)
            return classes, first[:number], sizes[:number]
        classes, first = rank(*table.keys(levels))
        sizes = sizes[: len(first)]
        sizes[:] = 0
        add_counts(classes, table.counts, sizes)
        return classes, first, sizes
