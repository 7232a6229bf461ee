"""What each level of a column's hierarchy would hide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from medveil.app.preparation import open_data, specification
from medveil.cells import make_cells
from medveil.guessing.guess import guess
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.policy import Policy, load_policy
from medveil.run import Run, Stage
from medveil.table.schema import Role

LEAST = 10
"""A label is shown only where at least so many records have it."""
SHOWN = 40
"""No more labels of a level are listed."""


@dataclass(frozen=True)
class HidingLevel:
    """One level: how many groups there are, how many records the smallest has, how many records are in groups of
    fewer than `LEAST`, and the mean loss LM of a record, from 0 to 1. labels: what would be published, most frequent
    first, with the share of records; never those of the values themselves, nor of small groups.
    """

    number: int
    groups: int
    smallest: int
    exposed: int
    loss: float
    labels: tuple[tuple[str, float], ...] = ()
    unlisted: int = 0


@dataclass(frozen=True)
class Levels:
    """The levels of one column, from its values to the root."""

    column: str
    records: int
    levels: tuple[HidingLevel, ...]


def levels(policy: Policy | Mapping[str, Any], column: str, *, data: Any = None, run: Run | None = None) -> Levels:
    """What the levels of the hierarchy that a policy gives a column would hide of it."""
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    attribute = checked.attributes[column]
    run.step(Stage.READ)
    source = open_data(checked, workspace, data)
    with run.stoppable(), run.engine(source, [column]) as engine:
        run.step(Stage.COUNT)
        kind = attribute.type or guess(engine.profile(column)).kind
        written = {} if attribute.format is None else {column: attribute.format}
        cells = make_cells(engine.cells([column]), [column], [], {column: kind}, written)
    domain = cells.domains[column]
    counts = np.bincount(cells.codes[0], cells.counts, minlength=len(domain)).astype(np.int64)
    bound = specification(attribute).bind(domain, column, workspace, counts)
    shown = [_level(bound, number, counts) for number in range(len(bound.levels))]
    return Levels(column, int(counts.sum()), tuple(shown if attribute.role is Role.QUASI else shown[:1]))


def _level(bound: Hierarchy, number: int, counts: np.ndarray[Any, np.dtype[np.int64]]) -> HidingLevel:
    level = bound.levels[number]
    sizes = np.bincount(level.groups, counts, minlength=len(level.labels)).astype(np.int64)
    there = np.flatnonzero(sizes)
    records = max(int(counts.sum()), 1)
    listed: list[tuple[str, float]] = []
    if number:
        order = there[np.argsort(-sizes[there], kind="stable")]
        listed = [(level.labels[i] or "(missing)", float(sizes[i] / records)) for i in order if sizes[i] >= LEAST]
    return HidingLevel(
        number,
        len(there),
        int(sizes[there].min()) if len(there) else 0,
        int(sizes[there][sizes[there] < LEAST].sum()),
        float((bound.losses[number] * counts).sum() / records),
        tuple(listed[:SHOWN]),
        len(there) - min(len(listed), SHOWN) if number else 0,
    )
