"""From a generalization and a plan to what is published: release with class ids, counterfeits, catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine import Publication, with_rows
from medveil.errors import PolicyError
from medveil.methods.h_ceiling.holdings import Counts, Holdings
from medveil.methods.h_ceiling.plan import Plan
from medveil.methods.problem import Problem, label_array
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, to_table
from medveil.release.draft import Draft, Promise, PublishedAttribute
from medveil.table.schema import Kind, Role


@dataclass(frozen=True)
class Filled:
    """A generalization with its plan: `labels` per cell for each quasi-identifier, `levels` where there are such."""

    holdings: Holdings
    plan: Plan
    labels: Sequence[pa.Array]
    levels: Mapping[str, int] | None


def refuse_taken_name(problem: Problem) -> None:
    """The method publishes a column of its own, so no other may have its name."""
    if CLASS_ID in {name.lower() for name in problem.published}:
        raise PolicyError(
            f"The method publishes a column '{CLASS_ID}' of its own, but the data have one.",
            "Rename yours, or leave it out.",
        )


def draft(
    problem: Problem,
    filled: Filled,
    promises: Sequence[Promise],
    method: Mapping[str, Any],
    internal: Mapping[str, Any],
    random: np.random.Generator,
) -> Draft:
    """The draft: class ids are in random order, and so tell nothing about classes."""
    holdings, plan = filled.holdings, filled.plan
    ids = random.permutation(len(holdings)).astype(np.int32) + np.int32(1)
    entries = _entries(problem, holdings, plan, ids)
    everything = [*filled.labels, *_sensitive(problem)]
    kept = np.ones(len(problem.cells), dtype=np.bool_)
    made = PublishedAttribute(CLASS_ID, Role.PLAIN, Kind.CODE, made=True)
    return Draft(
        published=_published(problem, filled, everything, ids, random),
        promises=promises,
        attributes=[made, *problem.attributes(filled.levels)],
        method=method,
        rows={"input": problem.cells.records, "suppressed": 0, "counterfeit": plan.counterfeits},
        companions={CATALOG: to_table(entries)},
        internal=internal,
        links=(lambda path: problem.engine.write_links(problem.raw, problem.counted, everything, kept, path))
        if problem.schema.subject
        else None,
    )


def _sensitive(problem: Problem) -> list[pa.Array]:
    cells = problem.cells
    return [label_array(cells.domains[name].values, codes) for name, codes in cells.sensitive.items()]


def _published(
    problem: Problem,
    filled: Filled,
    everything: Sequence[pa.Array],
    ids: NDArray[np.int32],
    random: np.random.Generator,
) -> Publication:
    """The real records, each with its class, and the counterfeits among them."""
    number = pa.array(ids[filled.holdings.class_of_cell])
    kept = np.ones(len(problem.cells), dtype=np.bool_)
    return problem.engine.publish(
        problem.raw,
        problem.counted,
        everything,
        kept,
        problem.schema.plain,
        made={CLASS_ID: number},
        beside=_counterfeits(problem, filled, everything, ids, random),
    )


def _counterfeits(
    problem: Problem,
    filled: Filled,
    everything: Sequence[pa.Array],
    ids: NDArray[np.int32],
    random: np.random.Generator,
) -> pa.Table | None:
    """The counterfeits row by row: class id, the class's labels, sensitive values, a donor's plain columns."""
    holdings, plan = filled.holdings, filled.plan
    if not plan.counterfeits:
        return None
    member = np.zeros(len(holdings), dtype=np.int64)
    member[holdings.class_of_cell] = np.arange(len(problem.cells))
    holder = np.zeros(len(holdings.tuples), dtype=np.int64)
    holder[holdings.tuples.of_cell] = np.arange(len(problem.cells))
    classes, tuples = np.repeat(plan.classes, plan.counts), np.repeat(plan.tuples, plan.counts)
    quasi = len(filled.labels)
    columns: list[pa.Array] = [pa.array(ids[classes])]
    columns += [label.take(pa.array(member[classes])) for label in everything[:quasi]]
    columns += [label.take(pa.array(holder[tuples])) for label in everything[quasi:]]
    if problem.schema.plain:
        donors = _donors(problem, holdings, plan, random)
        table = with_rows(problem.engine).take(donors, problem.schema.plain)
        columns += [column.combine_chunks() for column in table.columns]
    return pa.table(columns, names=[CLASS_ID, *problem.counted, *problem.schema.plain])


def _donors(problem: Problem, holdings: Holdings, plan: Plan, random: np.random.Generator) -> Counts:
    """For each counterfeit a record of the source whose plain columns it takes: one of the same sensitive values in
    the class that it copies, the same ones for every class that copies it.

    From anywhere else a value that only one record has would tell the copy from the original for certain.
    """
    width = len(holdings.tuples)
    cell_of_row = problem.cell_of_row
    lines = np.flatnonzero(np.isin(holdings.class_of_cell, plan.rows.classes)[cell_of_row])
    keys = holdings.class_of_cell[cell_of_row[lines]].astype(np.int64) * width
    keys += holdings.tuples.of_cell[cell_of_row[lines]]
    order = np.lexsort((random.random(len(lines)), keys))
    keys, lines = keys[order], lines[order]

    def held(number: int, value: int) -> Counts:
        first, last = np.searchsorted(keys, (number * width + value, number * width + value + 1))
        return np.asarray(lines[first:last], dtype=np.int64)

    if plan.donors is not None:
        parts = zip(plan.donors.tolist(), plan.tuples.tolist(), plan.counts.tolist(), strict=True)
        return np.concatenate([held(donor, value)[:count] for donor, value, count in parts])
    row_of = {
        (number, value): row
        for row, number, value in zip(
            plan.rows.numbers.tolist(),
            plan.rows.classes.tolist(),
            plan.rows.tuples[plan.rows.numbers].tolist(),
            strict=True,
        )
    }
    found = []
    for number, value, count in zip(plan.classes.tolist(), plan.tuples.tolist(), plan.counts.tolist(), strict=True):
        row = row_of[number, value]
        listed = plan.rows.classes[plan.rows.offsets[row] : plan.rows.offsets[row + 1]].tolist()
        others = np.concatenate([held(other, value) for other in listed if other != number])
        found.append(random.permutation(others)[:count])
    return np.concatenate(found)


def _entries(problem: Problem, holdings: Holdings, plan: Plan, ids: NDArray[np.int32]) -> list[Entry]:
    """The catalog's rows, by what they publish."""
    domains = [problem.cells.domains[name].values for name in problem.cells.sensitive]
    rows = plan.rows
    entries = []
    for i in range(len(rows)):
        listed = ids[rows.classes[rows.offsets[i] : rows.offsets[i + 1]]]
        values = tuple(
            domain[code] for domain, code in zip(domains, holdings.tuples.codes[:, rows.tuples[i]], strict=True)
        )
        entries.append(Entry(tuple(sorted(listed.tolist())), values, int(rows.counts[i])))
    return sorted(
        entries, key=lambda entry: (entry.class_ids, [(value is None, value or "") for value in entry.values])
    )
