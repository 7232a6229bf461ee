"""How many people of a population fit each published class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes, combine
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.matching import match

POPULATION = "population"
"""Under this name a comparison remembers the figure."""


def population_of_classes(comparison: Comparison) -> Codes | None:
    """The people of the population whose quasi-identifiers each class covers; None without a population.

    One whom several classes cover is counted in each: an attacker cannot rule any of them out.
    """
    cells = comparison.problem.cells
    if cells.population is None:
        return None
    if POPULATION not in comparison.memory:
        members = np.flatnonzero(cells.population > 0)
        codes, people = cells.codes[:, members], cells.population[members]
        offsets, classes = match(codes, comparison.classes.labels, list(comparison.coverage.values()))
        counts = np.repeat(people, np.diff(offsets))
        found = np.bincount(classes, counts, minlength=len(comparison.classes)).astype(np.int64)
        comparison.memory[POPULATION] = found
    known: Codes = comparison.memory[POPULATION]
    return known


def strangers(comparison: Comparison) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """People of the population who are not in the data: their codes, and how many have them; None without one."""
    cells = comparison.problem.cells
    if cells.population is None:
        return None
    every = np.concatenate([cells.codes, cells.codes], axis=1)
    number = np.concatenate([cells.population, -cells.counts])
    first, place = combine(list(every), [len(cells.domains[name]) for name in cells.quasi], every.shape[1])
    left = np.bincount(place, number, minlength=len(first)).astype(np.int64)
    return every[:, first[left > 0]], left[left > 0]
