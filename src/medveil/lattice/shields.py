"""Requirements on several sets of quasi-identifiers, the shields: what each leaves out, and all of them together.

What a shield makes of a node depends on the levels of its own quasi-identifiers alone, which it shares with many other
nodes. So each shield counts on cells of its own, in which everything outside of it is one, and its verdicts are kept as
sets of cells: that a node fails is then found by joining a few sets, without counting anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.kernels import add_counts
from medveil.codes.rank import fold, rank, rank_combinations
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes
from medveil.privacy.model import PrivacyModel, Reference, Requirement

CellSet = NDArray[np.bool_]
Kept = Callable[[Classes, Sequence[PrivacyModel]], NDArray[np.int64]]
"""How many records of each class any more specific node keeps at most."""

BYTES_KEPT = 1 << 28
"""Memory for sets of cells, and for where each shield has each cell; more is counted anew."""


@dataclass(frozen=True)
class ShieldView:
    """What one shield makes of its levels.

    `failing`: the cells in classes that fail, as bits; `gone`: those in classes of which no more specific node keeps a
    record; None for no cells at all. `certain`: how many records every more specific node suppresses at least.
    `possible`: that no class fails which only the population fills.
    """

    failing: NDArray[np.uint8] | None
    gone: NDArray[np.uint8] | None
    certain: int
    possible: bool


@dataclass(frozen=True)
class ShieldsView:
    """What all shields make of a node: `failing` cells in the first round, and as for one shield the others."""

    failing: CellSet
    gone: CellSet
    certain: int
    possible: bool


@dataclass(frozen=True)
class Batch:
    """Shields of the same models at some node, counted together: their classes one after the other.

    The classes of shield i are `bounds[i]:bounds[i + 1]`; `of_own[i]` is the class, from 0 on, of each of the cells
    that shield i counts on.
    """

    shields: Sequence[Shield]
    bounds: NDArray[np.int64]
    of_own: Sequence[NDArray[np.int32]]
    joint: bool

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        return self.shields[0].models

    def of_shield(self, number: int, by_class: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What was found for the classes of one shield."""
        return by_class[self.bounds[number] : self.bounds[number + 1]]

    def of_cells(self, number: int, by_class: NDArray[np.bool_]) -> CellSet:
        """The same, for each cell the one of its class."""
        by_own = self.of_shield(number, by_class)[self.of_own[number]]
        return by_own[self.shields[number].place] if self.joint else by_own


class Shield:
    """One set of quasi-identifiers with the models that must hold on it, and the cells as it tells them apart."""

    def __init__(self, positions: tuple[int, ...], models: Sequence[PrivacyModel], cells: Cells) -> None:
        self.positions = positions
        self.models = tuple(models)
        self._cells = cells

    @cached_property
    def _projected(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        codes = [np.ascontiguousarray(self._cells.codes[position], dtype=np.int32) for position in self.positions]
        return rank_combinations([*codes, *self._cells.sensitive.values()], None, len(self._cells))

    @property
    def place(self) -> NDArray[np.int32]:
        """Where each cell is among those of the shield."""
        return self._projected[0]

    @cached_property
    def cells(self) -> Cells:
        """The cells over the shield and the sensitive attributes alone."""
        first = self._projected[1]
        return replace(
            self._cells,
            codes=np.ascontiguousarray(self._cells.codes[:, first]),
            counts=self.counts(None, np.ascontiguousarray(self._cells.counts, dtype=np.int64)),
            sensitive={name: codes[first] for name, codes in self._cells.sensitive.items()},
        )

    def counts(self, members: NDArray[np.intp] | None, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of these cells (all where None), added up by cell of the shield."""
        place, first = self._projected
        sums = np.zeros(len(first), dtype=np.int64)
        add_counts(place if members is None else place[members], counts, sums)
        return sums

    def classes_at(
        self, cells: Cells, hierarchies: Sequence[Hierarchy], levels: Sequence[int]
    ) -> tuple[NDArray[np.int32], int]:
        """The class of each of the cells (the shield's or all) at a node, and how many there are."""
        at = [hierarchies[position].levels[levels[position]] for position in self.positions]
        codes = [cells.codes[position] for position in self.positions]
        keys = fold(codes, [level.groups for level in at], [len(level.labels) for level in at], len(cells))
        class_of_cell, first = rank(*keys)
        return class_of_cell, len(first)


class Shields:
    """All shields of a search over the same cells."""

    def __init__(self, cells: Cells, hierarchies: Sequence[Hierarchy], requirements: Sequence[Requirement]) -> None:
        self._all = cells
        self._hierarchies = tuple(hierarchies)
        positions = sorted({r.shield for r in requirements}, key=lambda shield: (len(shield), shield))
        self._shields = [Shield(p, [r.model for r in requirements if r.shield == p], cells) for p in positions]
        self._views: dict[tuple[Levels, Levels], ShieldView] = {}
        self._joint = (
            cells.subjects is None and cells.population is None and 4 * len(cells) * len(self._shields) <= BYTES_KEPT
        )
        """Whether shields count on cells of their own, several at a time; people do not add up, and need all cells."""

    def _batches(self, shields: Sequence[Shield], levels: Levels) -> list[Batch]:
        """The shields at a node, those of the same models together."""
        found: dict[tuple[int, ...], list[Shield]] = {}
        for shield in shields:
            alike = tuple(id(model) for model in shield.models) if self._joint else shield.positions
            found.setdefault(alike, []).append(shield)
        return [self._batch(alike, levels) for alike in found.values()]

    def _batch(self, shields: Sequence[Shield], levels: Levels) -> Batch:
        cells = [shield.cells if self._joint else self._all for shield in shields]
        found = [s.classes_at(own, self._hierarchies, levels) for s, own in zip(shields, cells, strict=True)]
        bounds = np.cumsum([0, *(number for _, number in found)])
        return Batch(shields, bounds, [of_own for of_own, _ in found], self._joint)

    def _count(self, batch: Batch, kept: CellSet | None = None) -> Classes:
        """The classes of what is kept. Suppression takes records away, never people of the population."""
        number = int(batch.bounds[-1])
        if not self._joint:
            cells = self._all
            if kept is not None and cells.population is not None:
                cells, kept = replace(cells, counts=np.where(kept, cells.counts, 0)), None
            return count_classes(cells, batch.of_own[0], number, kept)
        counts = [shield.cells.counts for shield in batch.shields]
        if kept is not None:
            out = np.flatnonzero(~kept)
            lost = np.ascontiguousarray(self._all.counts[out], dtype=np.int64)
            counts = [own - shield.counts(out, lost) for own, shield in zip(counts, batch.shields, strict=True)]
        joined = replace(
            self._all,
            codes=self._all.codes[:, :0],
            counts=np.concatenate(counts),
            sensitive={
                name: np.concatenate([shield.cells.sensitive[name] for shield in batch.shields])
                for name in self._all.sensitive
            },
        )
        numbered = [own + np.int32(begin) for own, begin in zip(batch.of_own, batch.bounds[:-1].tolist(), strict=True)]
        return count_classes(joined, np.concatenate(numbered), number)

    def view(self, levels: Levels, allowed: int, reference: Reference, most_kept: Kept) -> ShieldsView:
        """What the shields make of a node; where one rules it out for certain, that one's number and nothing else."""
        nothing = np.zeros(len(self._all), dtype=np.bool_)
        places = [(s.positions, tuple(levels[p] for p in s.positions)) for s in self._shields]
        certain = 0
        for size in sorted({len(positions) for positions, _ in places}):
            missing = [
                s
                for s, place in zip(self._shields, places, strict=True)
                if len(place[0]) == size and place not in self._views
            ]
            for batch in self._batches(missing, levels):
                self._look(batch, levels, reference, most_kept)
            certain = max(certain, *(self._views[place].certain for place in places if len(place[0]) == size))
            if certain > allowed:
                return ShieldsView(nothing, nothing, certain, possible=True)
        views = [self._views[place] for place in places]
        gone = _union([view.gone for view in views], len(nothing))
        failing = _union([view.failing for view in views], len(nothing))
        certain = max(certain, int(self._all.counts[gone].sum()))
        return ShieldsView(failing, gone, certain, all(view.possible for view in views))

    def _look(self, batch: Batch, levels: Levels, reference: Reference, most_kept: Kept) -> None:
        """Keep what the shields of a batch make of their levels."""
        classes = self._count(batch)
        holds, possible = _verdict(classes, batch.models, reference)
        stay = most_kept(classes, batch.models)
        gone = (stay == 0) & (classes.records > 0)
        certain = np.concatenate(([0], np.cumsum(classes.records - stay)))
        if len(self._views) * len(self._all) // 4 > BYTES_KEPT:
            self._views.clear()
        for number, shield in enumerate(batch.shields):
            self._views[shield.positions, tuple(levels[p] for p in shield.positions)] = ShieldView(
                _bits(batch, number, ~holds),
                _bits(batch, number, gone),
                int(certain[batch.bounds[number + 1]] - certain[batch.bounds[number]]),
                possible,
            )

    def suppress(
        self, levels: Levels, reference: Reference, failing: CellSet | None = None, most: float = np.inf
    ) -> tuple[CellSet, bool]:
        """The cells that stay, and whether it was possible: a class that only the population fills and that fails
        cannot be mended.

        What one shield leaves out makes classes of the others smaller: all are looked at again until nothing changes.
        `failing`: what the first look leaves out, where it is known. Once more than `most` records are left out, the
        caller knows enough.
        """
        kept = np.ones(len(self._all), dtype=np.bool_) if failing is None else ~failing
        batches = self._batches(self._shields, levels)
        while True:
            staying = kept.copy()
            for batch in batches:
                holds, possible = _verdict(self._count(batch, kept), batch.models, reference)
                if not possible:
                    return staying, False
                for number in range(len(batch.shields)):
                    if not batch.of_shield(number, holds).all():
                        staying &= batch.of_cells(number, holds)
            if np.array_equal(kept, staying):
                return kept, True
            kept = staying
            if most < np.inf and int(self._all.counts[~kept].sum()) > most:
                return kept, True


def _verdict(classes: Classes, models: Sequence[PrivacyModel], reference: Reference) -> tuple[NDArray[np.bool_], bool]:
    """Which classes hold every model, and whether none fails that has no records, which only a population brings."""
    holds = np.ones(len(classes), dtype=np.bool_)
    for model in models:
        holds &= model.holds(classes, reference)
    return holds, classes.population is None or bool(np.all(holds[classes.records == 0]))


def _bits(batch: Batch, number: int, classes: NDArray[np.bool_]) -> NDArray[np.uint8] | None:
    """The cells of some classes of one shield, a bit each; None for no class."""
    return np.packbits(batch.of_cells(number, classes)) if batch.of_shield(number, classes).any() else None


def _union(sets: Sequence[NDArray[np.uint8] | None], cells: int) -> CellSet:
    present = [one for one in sets if one is not None]
    if not present:
        return np.zeros(cells, dtype=np.bool_)
    return np.unpackbits(np.bitwise_or.reduce(present), count=cells).astype(np.bool_)
