"""From an arrangement or a plan of the paper to what is published: release with class ids, counterfeits, catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from medveil.engine import with_rows
from medveil.engine.links import write_links
from medveil.errors import PolicyError
from medveil.methods.h_ceiling.bundles import Rows, SensitiveValues
from medveil.methods.h_ceiling.partition import ClassPartition
from medveil.methods.h_ceiling.people import Counts, Residents, settle
from medveil.methods.problem import Problem, label_array
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, to_table
from medveil.release.draft import Draft, Promise, PublishedAttribute
from medveil.table.schema import Kind, Role


@dataclass(frozen=True)
class RecordOutcomes:
    """What became of each record of the source: whether it was published, and the class that it was put into."""

    kept: np.ndarray[Any, np.dtype[np.bool_]]
    classes: Counts


@dataclass(frozen=True)
class FilledRelease:
    """What is published.

    rows: every row's record and class; of_partition: the class of the partition that each class is of, and its `ids`.
    levels: where one level a column was published.
    """

    partition: ClassPartition
    of_partition: Counts
    ids: Counts
    rows: Rows
    entries: Sequence[Entry]
    counterfeits: int
    fate: RecordOutcomes
    levels: Mapping[str, int] | None


def refuse_taken_name(problem: Problem) -> None:
    """The method publishes a column of its own, so no other may have its name."""
    if CLASS_ID in {name.lower() for name in problem.published}:
        raise PolicyError(
            f"The method publishes a column '{CLASS_ID}' of its own, but the data have one.",
            "Rename yours, or leave it out.",
        )


def people_of_rows(problem: Problem) -> Counts | None:
    """Whose each record is, in the source's order; None where every record is a person's own."""
    subject = problem.schema.subject
    if subject is None:
        return None
    return np.asarray(with_rows(problem.engine).codes(subject).indices.cast(pa.int64()))


def residents_of(problem: Problem, people: Counts | None) -> Residents:
    """Who lives where: all that the planner is given."""
    quasi = problem.cells.quasi
    codes = np.ascontiguousarray(problem.cells.codes[:, problem.cell_of_row])
    return settle(quasi, [problem.hierarchies[name] for name in quasi], codes, people)


def values_of_rows(problem: Problem) -> SensitiveValues:
    """The sensitive values of every record."""
    cells = problem.cells
    codes = {name: column[problem.cell_of_row] for name, column in cells.sensitive.items()}
    return SensitiveValues(codes, {name: cells.domains[name] for name in codes})


def draft(
    problem: Problem,
    values: SensitiveValues,
    made: FilledRelease,
    promises: Sequence[Promise],
    method: Mapping[str, Any],
    internal: Mapping[str, Any],
) -> Draft:
    """The draft; rows come out sorted by what they publish, so that their order tells nothing."""
    labels = _labels(made)
    of_row = made.rows.classes
    columns: dict[str, pa.Array] = {CLASS_ID: pa.array(made.ids[of_row], pa.int32())}
    for name, label in zip(problem.schema.quasi, labels, strict=True):
        columns[name] = label.take(pa.array(of_row))
    for name, codes in values.codes.items():
        columns[name] = label_array(values.domains[name].values, codes[made.rows.lines])
    if problem.schema.plain:
        taken = with_rows(problem.engine).take(made.rows.lines, problem.schema.plain)
        columns |= {name: taken[name].combine_chunks() for name in problem.schema.plain}
    suppressed = int(np.count_nonzero(~made.fate.kept))

    def links(path: Path) -> None:
        fates = [label.take(pa.array(made.fate.classes)) for label in labels]
        own = [label_array(values.domains[name].values, codes) for name, codes in values.codes.items()]
        numbers = pa.array(made.ids[made.fate.classes], pa.int32())
        write_links(path, made.fate.kept, pa.table([*fates, *own, numbers], names=[*problem.counted, CLASS_ID]))

    return Draft(
        published=problem.engine.publish_table(pa.table(columns)),
        promises=promises,
        attributes=[
            PublishedAttribute(CLASS_ID, Role.PLAIN, Kind.CODE, made=True),
            *problem.attributes(made.levels),
        ],
        method=method,
        rows={"input": problem.cells.records, "suppressed": suppressed, "counterfeit": made.counterfeits},
        companions={CATALOG: to_table(made.entries)},
        internal=internal,
        links=links,
    )


def _labels(made: FilledRelease) -> list[pa.Array]:
    """What each class publishes in each quasi-identifier."""
    partition = made.partition
    found = []
    for attribute, hierarchy in enumerate(partition.crowd.hierarchies):
        starts = np.concatenate(([0], np.cumsum([len(level.labels) for level in hierarchy.levels])))
        everything = [label for level in hierarchy.levels for label in level.labels]
        numbers = starts[partition.levels[attribute]] + partition.groups[attribute]
        found.append(label_array(everything, numbers[made.of_partition].astype(np.int32)))
    return found
