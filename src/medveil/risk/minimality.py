"""Minimality, run: an attacker who knows that nothing was generalized without need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.combine import Codes, combine
from medveil.evaluation.matching import matching_classes
from medveil.privacy.count import count_classes
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import draw_targets
from medveil.table.domain import Domain

LARGEST_CLASS = 200
MOST_CLASSES = 60
SHUFFLES = 300
"""How many ways of handing a class's sensitive values to its members are tried."""


class Minimality(Risk):
    """How often an attacker who knows how the method decides guesses a sensitive value rightly.

    The attacker holds the exact quasi-identifiers of everybody, the policy, and the knowledge that no class was made
    larger than needed: had it been split in any one attribute, a part would have failed a model. So of all ways to hand
    the values of a class to its members, only those count in which every such split fails; the attacker says what the
    target has most often in them. The guesser says the most common value of the class. Classes of up to 200 records;
    of full-domain methods, which decide for all classes at once, the attacker believes more than is certain.

    Wong, Fu, Wang and Pei 2007, Minimality attack in privacy preserving data publishing.
    """

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Attack: minimality"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        models = [m for m in comparison.problem.models if m.needs_sensitive and m.basis == "files" and m.on is None]
        if not comparison.sensitive_coverage:
            return Skipped("there is no sensitive attribute")
        if not models:
            return Skipped("no model of the policy looks at sensitive values, so minimality tells nothing of them")
        random = comparison.random(self.name)
        targets = draw_targets(comparison, random)
        offsets, classes = targets.classes
        alone = np.flatnonzero(np.diff(offsets) == 1)
        of_target = classes[offsets[:-1][alone]]
        name = str(models[0].sensitive_attribute or next(iter(comparison.sensitive_coverage)))
        truth = targets.values(name)
        known = _Classes(comparison)
        hits = guessed = tried = 0
        # Targets one after the other, not classes, so that people are what is drawn.
        order = random.permutation(len(of_target))
        _, first = np.unique(of_target[order], return_index=True)
        ends = np.sort(first)
        order = order[: ends[MOST_CLASSES]] if len(ends) > MOST_CLASSES else order
        alone, of_target = alone[order], of_target[order]
        for number in np.unique(of_target).tolist():
            group = known.members(number)
            if group is None:
                continue
            said = _reason(comparison, group, name, random)
            usual = int(np.bincount(group.values[name]).argmax())
            mine = alone[of_target == number]
            place = np.searchsorted(group.cells, targets.cells[mine])
            hits += int(np.count_nonzero(said[place] == truth[mine]))
            guessed += int(np.count_nonzero(usual == truth[mine]))
            tried += len(mine)
        if not tried:
            return Skipped(f"no target has a class of its own of at most {LARGEST_CLASS} records")
        rate, low, high = counted_rate(hits, tried)
        note = f"The figure is that of '{name}'."
        return RiskFinding(rate, guessed / tried, low, high, EXACT, tried, counted=comparison.counted, note=note)


@dataclass(frozen=True)
class _Group:
    """A class as the attacker sees it: members of whom all but the sensitive values is known, and those values.

    labels: the published label code in each quasi-identifier. cells, codes: the cell of each member, ascending, and its
    quasi-identifiers. values: for each sensitive attribute the values of the class, in no order.
    """

    labels: NDArray[np.int32]
    cells: Codes
    codes: NDArray[np.int32]
    values: dict[str, Codes]


class _Classes:
    """Who is in which class, and what is published there."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        cells = comparison.problem.cells
        offsets, classes = matching_classes(comparison, cells.codes)
        cell = np.repeat(np.arange(len(cells)), np.diff(offsets))
        order = np.argsort(classes, kind="stable")
        numbers = np.arange(len(comparison.classes) + 1)
        self.cells, self.cell_starts = cell[order], np.searchsorted(classes[order], numbers)
        self.rows = np.argsort(comparison.classes.of_row, kind="stable")
        self.row_starts = np.searchsorted(comparison.classes.of_row[self.rows], numbers)

    def members(self, number: int) -> _Group | None:
        """A class, or None where it is too large or its members are not certain."""
        cells = self.comparison.problem.cells
        own = np.sort(self.cells[self.cell_starts[number] : self.cell_starts[number + 1]])
        member = np.repeat(own, cells.counts[own])
        rows = self.rows[self.row_starts[number] : self.row_starts[number + 1]]
        if len(member) != len(rows) or len(rows) > LARGEST_CLASS:
            return None
        values = {}
        for name, coverage in self.comparison.sensitive_coverage.items():
            labels = coverage.codes[rows]
            if np.any(coverage.held.totals[labels] != 1):
                return None
            values[name] = coverage.held.starts[coverage.held.offsets[labels]].astype(np.int64)
        return _Group(self.comparison.classes.labels[:, number], member, cells.codes[:, member], values)


def _reason(comparison: Comparison, group: _Group, name: str, random: np.random.Generator) -> Codes:
    """What the attacker says of each member."""
    number = len(group.cells)
    handed = random.permuted(np.tile(np.arange(number), (SHUFFLES, 1)), axis=1)
    possible = np.ones(SHUFFLES, dtype=np.bool_)
    for parts in _splits(comparison, group):
        possible &= _fails(comparison, group, handed, parts)
    counted = handed[possible] if possible.any() else handed
    # Members with the same quasi-identifiers cannot be told apart: what is likely for one is likely for all.
    _, alike = combine(list(group.codes), [len(d) for d in _domains(comparison)])
    size = int(group.values[name].max()) + 1
    keys = np.tile(alike, len(counted)) * size + group.values[name][counted].reshape(-1)
    table = np.bincount(keys, minlength=(int(alike.max()) + 1) * size).reshape(-1, size)
    return np.asarray(table.argmax(axis=1)[alike])


def _domains(comparison: Comparison) -> list[Domain]:
    cells = comparison.problem.cells
    return [cells.domains[name] for name in cells.quasi]


def _splits(comparison: Comparison, group: _Group) -> Iterator[Codes]:
    """The part of each member if the class were split in one attribute: by the next lower level of the hierarchy, or
    in the middle where the label is not a group of it.
    """
    for j, (name, coverage) in enumerate(comparison.coverage.items()):
        label, codes = coverage.labels[group.labels[j]], group.codes[j]
        levels = comparison.problem.hierarchies[name].levels
        level = next((number for number, one in enumerate(levels) if label in one.labels), None)
        finer = codes > np.median(codes) if level is None else levels[max(level - 1, 0)].groups[codes]
        _, parts = np.unique(finer, return_inverse=True)
        if parts.max(initial=0) > 0:
            yield parts.reshape(-1).astype(np.int64)


def _fails(comparison: Comparison, group: _Group, handed: Codes, parts: Codes) -> NDArray[np.bool_]:
    """Under which ways to hand out the values some part of the class fails a model."""
    problem = comparison.problem
    width = int(parts.max()) + 1
    classes = (np.arange(len(handed))[:, None] * width + parts[None, :]).reshape(-1)
    cells = Cells(
        quasi=(),
        codes=np.zeros((0, len(classes)), dtype=np.int32),
        counts=np.ones(len(classes), dtype=np.int64),
        sensitive={name: values[handed].reshape(-1).astype(np.int32) for name, values in group.values.items()},
        domains=problem.cells.domains,
    )
    counted = count_classes(cells, classes, len(handed) * width)
    holds = np.ones(len(handed) * width, dtype=np.bool_)
    for model in problem.models:
        if model.basis == "files" and model.on is None:
            holds &= model.holds(counted, problem.reference)
    return np.asarray(~holds.reshape(len(handed), width).all(axis=1))
