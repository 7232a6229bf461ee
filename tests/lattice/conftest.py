"""The optimal generalization the slow way: every node, every record, dictionaries only."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from medveil.cells import Cells
from medveil.lattice.space import Space
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.model import Reference, Requirement


@dataclass(frozen=True)
class Record:
    """One record, or one person of the population who is not in the data."""

    leaves: tuple[int, ...]
    sensitive: dict[str, int]
    people: frozenset[int]
    count: int
    population: int


def records_of(cells: Cells) -> list[Record]:
    found = []
    for i in range(len(cells)):
        people = frozenset()
        if cells.subjects is not None:
            people = frozenset(cells.subjects.codes[cells.subjects.offsets[i] : cells.subjects.offsets[i + 1]].tolist())
        found.append(
            Record(
                tuple(cells.codes[:, i].tolist()),
                {name: int(codes[i]) for name, codes in cells.sensitive.items()},
                people,
                int(cells.counts[i]),
                0 if cells.population is None else int(cells.population[i]),
            )
        )
    return found


def group_of(space: Space, record: Record, levels: tuple[int, ...], shield: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(space.hierarchies[p].levels[levels[p]].groups[record.leaves[p]]) for p in shield)


def classes_of(members: list[list[tuple[Record, bool]]], names: list[str], *, subjects: bool, population: bool):
    sizes, counts, people_at_large = [], [], []
    pairs = {name: ([0], [], []) for name in names}
    for group in members:
        kept = [record for record, stays in group if stays and record.count]
        counts.append(sum(record.count for record in kept))
        sizes.append(len(frozenset().union(*(r.people for r in kept))) if subjects else counts[-1])
        people_at_large.append(sum(record.population for record, _ in group))
        for name, (offsets, values, numbers) in pairs.items():
            tally = Counter()
            for value in sorted({record.sensitive[name] for record in kept}):
                same = [record for record in kept if record.sensitive[name] == value]
                tally[value] = (
                    len(frozenset().union(*(r.people for r in same))) if subjects else sum(r.count for r in same)
                )
            values.extend(tally.keys())
            numbers.extend(tally.values())
            offsets.append(len(values))
    return Classes(
        np.array(sizes, dtype=np.int64),
        np.array(counts, dtype=np.int64),
        {
            name: Histogram(np.array(o, dtype=np.int64), np.array(v, dtype=np.int32), np.array(c, dtype=np.int64))
            for name, (o, v, c) in pairs.items()
        },
        np.array(people_at_large, dtype=np.int64) if population else None,
    )


def grouped(space: Space, records: list[Record], levels: tuple[int, ...], shield: tuple[int, ...]):
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, record in enumerate(records):
        groups.setdefault(group_of(space, record, levels, shield), []).append(i)
    return list(groups.values())


def kept_at(
    cells: Cells, space: Space, requirements: list[Requirement], reference: Reference, levels: tuple[int, ...]
) -> list[bool] | None:
    """Which cells stay at a node; None where nothing can be published."""
    records = records_of(cells)
    stays = [True] * len(records)
    while True:
        after = list(stays)
        impossible = False
        for requirement in requirements:
            groups = grouped(space, records, levels, requirement.shield)
            classes = classes_of(
                [[(records[i], stays[i]) for i in group] for group in groups],
                list(cells.sensitive),
                subjects=cells.subjects is not None,
                population=cells.population is not None,
            )
            for group, holds, count in zip(
                groups, requirement.model.holds(classes, reference), classes.records, strict=True
            ):
                if not holds and (count or cells.population is not None):
                    impossible |= count == 0
                    for i in group:
                        after[i] = False
        if after == stays:
            published = sum(r.count for r, stay in zip(records, stays, strict=True) if stay)
            return None if impossible or published == 0 else stays
        stays = after


def losses_at(cells: Cells, space: Space, levels: tuple[int, ...], stays: list[bool], weights: list[float]):
    """Every loss of one node, by name, and the suppressed records."""
    records = records_of(cells)
    total = sum(r.count for r in records)
    suppressed = sum(r.count for r, stay in zip(records, stays, strict=True) if not stay)
    lm = float(suppressed)
    for record, stay in zip(records, stays, strict=True):
        if stay:
            for weight, hierarchy, level, leaf in zip(weights, space.hierarchies, levels, record.leaves, strict=True):
                covered = hierarchy.levels[level].covered[hierarchy.levels[level].groups[leaf]]
                lm += record.count * weight / sum(weights) * (covered - 1) / max(hierarchy.size - 1, 1)
    groups = grouped(space, records, levels, tuple(range(len(space))))
    sizes = [sum(records[i].count for i in group if stays[i]) for group in groups]
    sizes = [size for size in sizes if size]
    return {
        "lm": lm / total,
        "discernibility": (sum(size**2 for size in sizes) + suppressed * total) / total**2,
        "average-class-share": ((total - suppressed) ** 2 / len(sizes) + suppressed * total) / total**2,
    }, suppressed


def _every_feasible_node(cells, space, requirements, reference, limit, weights, mix):
    """(loss, levels) pairs of all nodes that satisfy everything, by ascending loss."""
    total = sum(r.count for r in records_of(cells))
    found = []
    for levels in itertools.product(*(range(low, high + 1) for low, high in zip(space.bottom, space.top, strict=True))):
        stays = kept_at(cells, space, requirements, reference, levels)
        if stays is None:
            continue
        losses, suppressed = losses_at(cells, space, levels, stays, weights)
        if suppressed <= limit * total + 1e-9:
            share = sum(mix.values())
            found.append((sum(part / share * losses[name] for name, part in mix.items()), suppressed, levels))
    return sorted(found)


@pytest.fixture(scope="session")
def every_feasible_node():
    return _every_feasible_node
