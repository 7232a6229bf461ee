"""Rows like those of two large survey sets, drawn over the leaves of their public hierarchies.

The sets themselves are not public. What is kept of them: the attributes, the domains, the number of rows, and that age
goes with marital status and education (and, in the time-use set, birthplace with citizenship). Everything is drawn
with a fixed seed, so that optima can be compared between machines and versions.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Hierarchy, build

IHIS = ("YEAR", "QUARTER", "REGION", "PERNUM", "AGE", "MARSTAT", "SEX", "RACEA", "EDUC")
IHIS_ROWS = 1_193_504
ATUS = (
    "Region",
    "Age",
    "Sex",
    "Race",
    "Marital status",
    "Citizenship status",
    "Birthplace",
    "Highest level of school completed",
    "Labor force status",
)
ATUS_ROWS = 539_253

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class LargeSet:
    """Columns of leaf codes, and for each its leaves and hierarchy."""

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    leaves: tuple[tuple[str, ...], ...]
    hierarchies: tuple[Hierarchy, ...]


def read_hierarchy(path: Path) -> tuple[tuple[str, ...], Hierarchy]:
    """The leaves of a file `leaf;level 1;...;*`, and the hierarchy over them; its lines are the whole domain."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.reader(file, delimiter=";") if line]
    leaves = tuple(line[0] for line in lines)
    columns = list(zip(*(line[1:] for line in lines), strict=True))
    return leaves, build(leaves, columns, None, float(len(leaves)), path.stem)


def ihis_like(folder: Path, rows: int = IHIS_ROWS, seed: int = 1) -> LargeSet:
    """Interviews of a health survey: the year of the interview, who in the household, and six facts about them."""
    leaves, hierarchies = _read(folder, "ihis", IHIS)
    size = {name: len(values) for name, values in zip(IHIS, leaves, strict=True)}
    random = np.random.default_rng(seed)
    # The survey ran in the last third of the domain of years.
    year = size["YEAR"] - 1 - random.integers(0, 15, rows)
    age = _ages(random, rows, size["AGE"])
    drawn = {
        "YEAR": year,
        "QUARTER": random.integers(0, size["QUARTER"], rows),
        "REGION": random.choice(size["REGION"], rows, p=[0.18, 0.22, 0.36, 0.24]),
        "PERNUM": np.minimum(random.geometric(0.38, rows) - 1, size["PERNUM"] - 1),
        "AGE": age,
        "MARSTAT": _by_age(random, age, size["MARSTAT"], sharpness=1.1),
        "SEX": random.integers(0, size["SEX"], rows),
        "RACEA": _long_tail(random, rows, size["RACEA"], 2.2),
        "EDUC": _by_age(random, age, size["EDUC"], sharpness=0.6),
    }
    return LargeSet(IHIS, tuple(drawn[name].astype(np.int32) for name in IHIS), leaves, hierarchies)


def atus_like(folder: Path, rows: int = ATUS_ROWS, seed: int = 2) -> LargeSet:
    """Answers of a time-use survey: nine facts about a person."""
    leaves, hierarchies = _read(folder, "atus", ATUS)
    size = {name: len(values) for name, values in zip(ATUS, leaves, strict=True)}
    random = np.random.default_rng(seed)
    age = _ages(random, rows, size["Age"])
    birthplace = _long_tail(random, rows, size["Birthplace"], 1.9)
    citizenship = np.where(
        birthplace == 0,
        np.where(random.random(rows) < 0.97, 0, random.integers(0, size["Citizenship status"], rows)),
        random.integers(0, size["Citizenship status"], rows),
    )
    drawn = {
        "Region": random.choice(size["Region"], rows, p=[0.22, 0.18, 0.36, 0.24]),
        "Age": age,
        "Sex": random.choice(size["Sex"], rows, p=[0.46, 0.53, 0.01]),
        "Race": _long_tail(random, rows, size["Race"], 2.2),
        "Marital status": _by_age(random, age, size["Marital status"], sharpness=1.1),
        "Citizenship status": citizenship,
        "Birthplace": birthplace,
        "Highest level of school completed": _by_age(
            random, age, size["Highest level of school completed"], sharpness=0.6
        ),
        "Labor force status": _by_age(random, age, size["Labor force status"], sharpness=0.8),
    }
    return LargeSet(ATUS, tuple(drawn[name].astype(np.int32) for name in ATUS), leaves, hierarchies)


def _read(
    folder: Path, name: str, attributes: Sequence[str]
) -> tuple[tuple[tuple[str, ...], ...], tuple[Hierarchy, ...]]:
    pairs = [read_hierarchy(folder / name / f"{name}_hierarchy_{attribute}.csv") for attribute in attributes]
    return tuple(leaves for leaves, _ in pairs), tuple(hierarchy for _, hierarchy in pairs)


def _ages(random: np.random.Generator, rows: int, size: int) -> Codes:
    """Ages of a population: flat to about 60, then fewer and fewer."""
    weights = 1.0 / (1.0 + np.exp((np.arange(size) - 68.0) / 9.0))
    return random.choice(size, rows, p=weights / weights.sum()).astype(np.int32)


def _long_tail(random: np.random.Generator, rows: int, size: int, power: float) -> Codes:
    """Values of which the first few are common and most are rare."""
    weights = np.arange(1, size + 1) ** -power
    return random.choice(size, rows, p=weights / weights.sum()).astype(np.int32)


def _by_age(random: np.random.Generator, age: Codes, size: int, sharpness: float) -> Codes:
    """A value whose distribution shifts with the ten years of age that a person is in."""
    decades = age // 10
    drawn = np.empty(len(age), dtype=np.int32)
    for decade in range(int(decades.max()) + 1):
        members = np.flatnonzero(decades == decade)
        order = (np.arange(size) + 2 * decade) % size
        weights = np.exp(-sharpness * np.arange(size))[np.argsort(order)] + 0.002
        drawn[members] = random.choice(size, len(members), p=weights / weights.sum())
    return drawn
