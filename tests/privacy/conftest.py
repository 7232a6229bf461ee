from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from medveil.cells import Cells, Subjects
from medveil.privacy.count import count_classes, reference_of
from medveil.table.domain import domain_of
from medveil.table.schema import Kind


def build_cells(rows, quasi, sensitive, *, subject=None, kinds=None, population=None):
    """Cells of a table typed in as a list of dicts: one Python loop, nothing of the engine."""
    kinds = kinds or {}
    population = list(population or ())
    domains = {
        name: domain_of(
            [row[name] for row in [*rows, *(population if name in quasi else ())]], kinds.get(name, Kind.CATEGORY)
        )
        for name in [*quasi, *sensitive]
    }
    code = {name: {value: i for i, value in enumerate(domain.values)} for name, domain in domains.items()}
    found: dict[tuple, list] = {}
    for row in rows:
        key = (tuple(code[q][row[q]] for q in quasi), tuple(code[s][row[s]] for s in sensitive))
        cell = found.setdefault(key, [0, set(), 0])
        cell[0] += 1
        if subject:
            cell[1].add(row[subject])
    for row in population:
        cell = found.setdefault((tuple(code[q][row[q]] for q in quasi), (-1,) * len(sensitive)), [0, set(), 0])
        cell[2] += 1
    people = sorted({person for _, those, _ in found.values() for person in those})
    number = {person: i for i, person in enumerate(people)}
    lists = [sorted(number[person] for person in cell[1]) for cell in found.values()]
    return Cells(
        tuple(quasi),
        np.array([key[0] for key in found], dtype=np.int32).reshape(len(found), len(quasi)).T.copy(),
        np.array([cell[0] for cell in found.values()], dtype=np.int64),
        {s: np.array([key[1][j] for key in found], dtype=np.int32) for j, s in enumerate(sensitive)},
        domains,
        Subjects(
            np.cumsum([0, *map(len, lists)]).astype(np.int64),
            np.array([person for those in lists for person in those], dtype=np.int32),
            len(people),
        )
        if subject
        else None,
        np.array([cell[2] for cell in found.values()], dtype=np.int64) if population else None,
    )


def class_of_cell(cells: Cells, shield: Sequence[int] | None = None):
    columns = list(range(len(cells.quasi)) if shield is None else shield)
    _, inverse = np.unique(cells.codes[columns].T, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    return inverse, int(inverse.max()) + 1


def classes_of(cells: Cells, shield: Sequence[int] | None = None):
    return count_classes(cells, *class_of_cell(cells, shield))


@pytest.fixture(scope="session")
def tables():
    """How tests get from rows typed in to counted classes."""
    return SimpleNamespace(
        cells=build_cells, class_of_cell=class_of_cell, classes=classes_of, count=count_classes, reference=reference_of
    )
