"""Generalization by cell: only what violates moves up, and takes in as little else as it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.methods.iab.recoding import Measured, Moves, Nodes, TableRecoding
from medveil.methods.iab.table import Flags, FullTable, distinct
from medveil.methods.problem import label_array
from medveil.privacy.count import count_classes

Raised = bytes
"""The level of each combination of shield values in each attribute of the shield."""


class ByCell(TableRecoding[Raised]):
    """A state is a level for every combination of values on the shield, attribute by attribute.

    A step on an attribute moves the combinations that violate a requirement with that attribute up one level there.
    A class that is then still too small takes in classes that lie under it, the nearest and smallest first, as
    whole classes and only if that makes it large enough. Rows that are equal move together, so rows never split.
    """

    def __init__(self, table: FullTable) -> None:
        super().__init__(table)
        self._nodes = [Nodes(table.hierarchies[p], table.top[p]) for p in self.shield]
        codes = [np.ascontiguousarray(table.cells.codes[p]) for p in self.shield]
        numbers, number = distinct(codes, len(table.cells))
        leaves = np.empty((len(codes), number), dtype=np.int32)
        for index, column in enumerate(codes):
            leaves[index, numbers] = column
        # In an order of their own, so that nothing depends on that of the rows.
        order = np.lexsort(leaves[::-1])
        self._leaves = np.ascontiguousarray(leaves[:, order])
        self._combination = np.argsort(order).astype(np.int32)[numbers]
        self._records = np.bincount(self._combination, table.cells.counts, minlength=number).astype(np.int64)
        others = [
            table.hierarchies[p].levels[table.bottom[p]].groups[column]
            for p, column in enumerate(table.cells.codes)
            if p not in self.shield
        ]
        self._others, _ = distinct([*others, table.rest], len(table.cells))
        self._shields = [
            tuple(self.shield.index(position) for position in requirement.shield) for requirement in table.requirements
        ]
        self._people = self._people_of_combinations()

    def _people_of_combinations(self) -> list[set[int]] | None:
        subjects = self.table.cells.subjects
        if subjects is None:
            return None
        people: list[set[int]] = [set() for _ in self._records]
        for cell, combination in enumerate(self._combination):
            people[combination].update(subjects.codes[subjects.offsets[cell] : subjects.offsets[cell + 1]].tolist())
        return people

    def _uniform(self, levels: Sequence[int]) -> Raised:
        return np.stack(
            [
                nodes.settled(np.full(len(leaves), levels[position], dtype=np.int8), leaves)
                for position, nodes, leaves in zip(self.shield, self._nodes, self._leaves, strict=True)
            ]
        ).tobytes()

    def root(self) -> Raised:
        return self._uniform(self.table.bottom)

    def summit(self) -> Raised:
        return self._uniform(self.table.top)

    def _levels(self, state: Raised) -> NDArray[np.int8]:
        return np.frombuffer(state, dtype=np.int8).reshape(self._leaves.shape)

    def _ids(self, levels: NDArray[np.int8]) -> list[NDArray[np.int32]]:
        """For each attribute of the shield, the label of each combination."""
        return [n.ids[at, leaves] for n, at, leaves in zip(self._nodes, levels, self._leaves, strict=True)]

    def _classes(self, levels: NDArray[np.int8], shield: Sequence[int]) -> tuple[NDArray[np.int32], int]:
        """The class of each combination on the attributes of one requirement."""
        ids = self._ids(levels)
        return distinct([ids[i] for i in shield], len(self._records))

    def _violating(self, levels: NDArray[np.int8]) -> list[Flags]:
        """For each requirement, the combinations that violate it."""
        found = []
        for index, shield in enumerate(self._shields):
            classes, number = self._classes(levels, shield)
            found.append((self._sizes(classes, number) < self._k(index))[classes])
        return found

    def _k(self, index: int) -> int:
        return self.table.requirements[index].model.least_class_size or 1

    def _sizes(self, classes: NDArray[np.int32], number: int) -> NDArray[np.int64]:
        """The records of each class, or its people."""
        if self._people is None:
            return np.bincount(classes, self._records, minlength=number).astype(np.int64)
        return count_classes(self.table.cells, classes[self._combination], number).sizes.copy()

    def measure(self, state: Raised) -> Measured:
        levels = self._levels(state)
        published, _ = distinct(self._ids(levels), len(self._records))
        rows, number = distinct([published[self._combination], self._others], len(self._others))
        flags = self._violating(levels)
        violating = np.zeros(number, dtype=np.bool_)
        for flag in flags:
            violating[rows[flag[self._combination]]] = True
        return Measured(
            number,
            int(np.count_nonzero(violating)),
            tuple(index for index, flag in enumerate(flags) if flag.any()),
        )

    def steps(self, state: Raised, measured: Measured, moves: Moves) -> Iterator[tuple[int, Raised]]:  # noqa: ARG002
        """There is no step that is not about all violating rows."""
        flags = self._violating(self._levels(state))
        for position in self.attributes(measured.violated, Moves.VIOLATING):
            index = self.shield.index(position)
            levels = self._levels(state).copy()
            moving = np.zeros(len(self._records), dtype=np.bool_)
            for flag, shield in zip(flags, self._shields, strict=True):
                if index in shield:
                    moving |= flag
            moving &= levels[index] < self._nodes[index].top
            if not moving.any():
                continue
            levels[index, moving] += 1
            self._settle(levels)
            for requirement, shield in enumerate(self._shields):
                if index in shield:
                    self._take_in(levels, requirement, moving)
            yield position, levels.tobytes()

    def _settle(self, levels: NDArray[np.int8]) -> None:
        for index, nodes in enumerate(self._nodes):
            levels[index] = nodes.settled(levels[index], self._leaves[index])

    def _take_in(self, levels: NDArray[np.int8], requirement: int, moved: Flags) -> None:
        """Let each class of moved combinations that is too small take in classes under it, until it is large enough."""
        shield, k = list(self._shields[requirement]), self._k(requirement)
        classes, number = self._classes(levels, shield)
        sizes = self._sizes(classes, number)
        needy = moved & (sizes < k)[classes]
        for target in np.unique(levels[shield][:, needy], axis=1).T:
            # Two classes at the same levels cover different combinations, so each is dealt with on its own.
            covering = np.all(levels[shield] <= target[:, None], axis=0)
            ids = [self._nodes[i].ids[level, self._leaves[i]] for i, level in zip(shield, target, strict=True)]
            covered_by, _ = distinct(ids, len(covering))
            order = np.argsort(covered_by, kind="stable")
            begins = np.searchsorted(covered_by[order], np.arange(covered_by.max() + 2))
            # There are no more people than records.
            enough = np.bincount(covered_by, self._records * covering) >= k
            here = needy & np.all(levels[shield] == target[:, None], axis=0) & enough[covered_by]
            for place in np.unique(covered_by[here]):
                group = order[begins[place] : begins[place + 1]]
                group = group[covering[group]]
                own = int(classes[group[here[group]][0]])
                if sizes[own] >= k:
                    continue
                taken, size = self._nearest(group, levels[shield][:, group], target, classes, sizes, own, k)
                for index, level in zip(shield, target, strict=True):
                    levels[index, taken] = level
                sizes[classes[taken]] = 0
                classes[taken] = own
                sizes[own] = size

    def _nearest(
        self,
        group: NDArray[np.intp],
        levels: NDArray[np.int8],
        target: NDArray[np.int8],
        classes: NDArray[np.int32],
        sizes: NDArray[np.int64],
        own: int,
        k: int,
    ) -> tuple[NDArray[np.intp], int]:
        """Of the combinations that one class covers, those of the classes that it takes in, and how large it is then;
        none where all together are not enough.
        """
        steps = (target[:, None] - levels).sum(axis=0, dtype=np.int64)
        # A class's combinations stand at the same levels, so that any of them tells its distance.
        distance = {int(c): int(s) for c, s in zip(classes[group], steps, strict=True)}
        near = sorted((c for c in distance if c != own), key=lambda c: (distance[c], sizes[c], c))
        members = [own]
        for candidate in near:
            members.append(candidate)
            if self._together(group, classes, sizes, members) >= k:
                taken = group[np.isin(classes[group], members[1:])]
                return taken, self._together(group, classes, sizes, members)
        return group[:0], int(sizes[own])

    def _together(
        self, group: NDArray[np.intp], classes: NDArray[np.int32], sizes: NDArray[np.int64], members: Sequence[int]
    ) -> int:
        """The records, or people, of several classes."""
        if self._people is None:
            return int(sizes[list(members)].sum())
        people: set[int] = set()
        return len(people.union(*(self._people[c] for c in group[np.isin(classes[group], members)])))

    def labels(self, state: Raised, codes: NDArray[np.int32]) -> list[pa.Array]:
        levels = self._levels(state)
        of_row = self._find(codes)
        found = []
        for position, leaves in enumerate(codes):
            if position in self.shield:
                index = self.shield.index(position)
                nodes = self._nodes[index]
                found.append(label_array(nodes.labels, nodes.ids[levels[index, of_row], leaves]))
            else:
                level = self.table.hierarchies[position].levels[self.table.bottom[position]]
                found.append(label_array(level.labels, level.groups[leaves]))
        return found

    def _find(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The combination of each of these cells, all of which are among those of the table."""
        known = len(self._records)
        both, number = distinct(
            [np.concatenate([self._leaves[i], codes[p]]) for i, p in enumerate(self.shield)], known + codes.shape[1]
        )
        assert number == known
        combination = np.zeros(number, dtype=np.int32)
        combination[both[:known]] = np.arange(known, dtype=np.int32)
        return np.asarray(combination[both[known:]], dtype=np.int32)
