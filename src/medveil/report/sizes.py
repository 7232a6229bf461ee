"""How many people share what is published of them: sizes of classes before and after, and the risk that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from medveil.report.groups import OPEN, Groups, between, shown
from medveil.report.words import few, percent, risk

EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000)

Sizes = NDArray[np.int64]


@dataclass(frozen=True)
class Exposure:
    """What class sizes say about an attacker who knows everybody's quasi-identifiers.

    highest: 1 / (smallest class). average: classes / people. unique, at_risk: people in classes of one, and in
    classes where the risk 1 / size is above the threshold.
    """

    people: int
    classes: int
    highest: float
    average: float
    unique: int
    at_risk: int


def exposure(sizes: Sizes, threshold: float) -> Exposure | None:
    """None where nobody is there."""
    total = int(sizes.sum())
    if not total:
        return None
    return Exposure(
        people=total,
        classes=len(sizes),
        highest=1.0 / float(sizes.min()),
        average=len(sizes) / total,
        unique=int(np.count_nonzero(sizes == 1)),
        at_risk=int(sizes[1.0 / sizes > threshold].sum()),
    )


def exposure_rows(found: Sequence[Exposure | None], threshold: float, least: int) -> list[list[str]]:
    """The lines of a table, a column for each."""

    def line(name: str, *cells: str) -> list[str]:
        return [name, *cells]

    none = "nobody"
    return [
        line("Highest risk of being found", *(risk(f.highest) if f else none for f in found)),
        line("Average risk of being found", *(risk(f.average) if f else none for f in found)),
        line("People who are alone in their group", *(few(f.unique, f.people, least) if f else none for f in found)),
        line(
            f"People whose risk is above {percent(threshold)}",
            *(few(f.at_risk, f.people, least) if f else none for f in found),
        ),
        line("Groups of people who look alike", *(f"{f.classes:,}" if f else none for f in found)),
        line("People in a group, on average", *(f"{f.people / f.classes:,.1f}" if f else none for f in found)),
    ]


def size_groups(before: Sizes | None, after: Sizes, k: int, least: int) -> Groups:
    """How many people are in classes of which size; none of fewer than `least` people is shown."""
    there = [sizes for sizes in (before, after) if sizes is not None and len(sizes)]
    smallest = min((int(sizes.min()) for sizes in there), default=1)
    largest = max((int(sizes.max()) for sizes in there), default=1)
    edges = [edge for edge in sorted({*EDGES, k}) if edge <= largest]
    edges = edges[int(np.searchsorted(edges, smallest, "right")) - 1 :]
    ends = [(f"{low:,}", f"{high - 1:,}") for low, high in pairwise(edges)] + [(f"{edges[-1]:,}", OPEN)]
    names = [between(low, high) for low, high in ends]

    def held(sizes: Sizes) -> NDArray[np.float64]:
        return np.bincount(np.searchsorted(edges, sizes, "right") - 1, sizes, minlength=len(edges)).astype(np.float64)

    first, second = None if before is None else held(before), held(after)
    people = second if first is None else np.where(first > 0, first, second)
    found = Groups(tuple(names), first, second, people, ordered=True, ends=tuple(ends))
    return shown(found, least)
