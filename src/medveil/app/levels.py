"""What each level of a column's hierarchy would hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from medveil.app.changing import changes, published_attributes, published_name
from medveil.app.linked_plan import LinkedPlan
from medveil.app.linking import linked_tables
from medveil.app.preparation import changed_source, open_data, specification
from medveil.cells import make_cells
from medveil.guessing.guess import guess
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.policy import Policy, load_policy
from medveil.run import Run, Stage
from medveil.sources.source import Source
from medveil.table.schema import Role
from medveil.workspace import Workspace

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


def levels(
    policy: Policy | Mapping[str, Any],
    column: str,
    *,
    table: str | None = None,
    data: Any = None,
    run: Run | None = None,
) -> Levels:
    """What the levels of the hierarchy that a policy gives a column would hide of it; `table`: of linked tables, the
    one that the column is in. A column that is derived is counted as what is derived.
    """
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    own = checked.attributes if table is None else checked.tables[table].attributes
    attribute, name = own[column], published_name(column, own[column])
    if attribute.derive is not None:
        attribute = published_attributes({column: attribute})[name]
    run.step(Stage.READ)
    with run.stoppable(), _source(checked, table, workspace, data, run) as source, run.engine(source, [name]) as engine:
        run.step(Stage.COUNT)
        kind = attribute.type or guess(engine.profile(name)).kind
        written = {} if attribute.format is None else {name: attribute.format}
        cells = make_cells(engine.cells([name]), [name], [], {name: kind}, written)
    domain = cells.domains[name]
    counts = np.bincount(cells.codes[0], cells.counts, minlength=len(domain)).astype(np.int64)
    bound = specification(attribute).bind(domain, name, workspace, counts)
    shown = [_level(bound, number, counts) for number in range(len(bound.levels))]
    return Levels(column, int(counts.sum()), tuple(shown if attribute.role is Role.QUASI else shown[:1]))


@contextmanager
def _source(policy: Policy, table: str | None, workspace: Workspace, data: Any, run: Run) -> Iterator[Source]:
    """The records that are counted, whose columns have their published names."""
    if table is not None:
        with linked_tables(LinkedPlan(policy), workspace, run, published=False) as tables:
            yield tables.changed(table)
    elif changes(policy):
        with changed_source(policy, open_data(policy, workspace, data), workspace, run) as (source, _):
            yield source
    else:
        yield open_data(policy, workspace, data)


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
