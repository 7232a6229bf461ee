"""What differentially private methods share: what they refuse, and how noisy cells become a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine import Publication
from medveil.errors import PolicyError
from medveil.lattice.space import Levels
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.method import Method
from medveil.methods.optimal import space_of
from medveil.methods.problem import Problem
from medveil.privacy.differential_privacy import DifferentialPrivacy
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.release.figures import BarFigure, Figure
from medveil.release.status import Status
from medveil.run import Run
from medveil.table.labels import ANYTHING

MOST_NODES = 50_000
"""Every node of the lattice is scored, so there must not be more."""
MOST_NOISE_ROWS = 10_000_000
MOST_SCALE = 2.0**40
"""The largest noise, in records, that is drawn."""
MOST_VALUES = 2**31
"""Informative values that are not declared are taken for so many where the data must not decide."""
DROWNED = "epsilon, or a part of it, is so small that the release would be millions of rows of noise"

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyTable:
    """Cells of a grid with how many rows each is published as, and the rows of `*` for each informative value."""

    levels: Levels
    keys: Integers
    counts: Integers
    stars: Integers
    labels: Sequence[str | None]
    """What is published for each informative value."""


class DifferentiallyPrivate(Method):
    """A method whose releases are differentially private by proof, or that is compared with such."""

    proves: ClassVar[frozenset[str]] = frozenset({DifferentialPrivacy.name})

    def why_not(self, problem: Problem) -> str | None:
        if not problem.cells.quasi:
            return "there is no quasi-identifier"
        if [model.name for model in problem.models] != [DifferentialPrivacy.name]:
            return "it keeps differential-privacy, which must be the only model"
        if len(problem.schema.sensitive) != 1:
            return "it needs exactly one sensitive attribute, the informative one"
        if problem.schema.plain:
            return "a plain column would be published as it is, which no noise hides"
        return None

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:
        """How epsilon was divided, and, for the steward alone, what the noise did."""
        made: list[Figure] = []
        if spent := reported.get("spent"):
            made.append(
                BarFigure(
                    "How the privacy budget was spent",
                    "Epsilon by part of the method: the more a part gets, the less noise it adds.",
                    "part",
                    list(spent),
                    {"epsilon": [float(part) for part in spent.values()]},
                    unit="number",
                )
            )
        noise = internal.get("differential-privacy", {})
        counts = {name: float(number) for name, number in noise.items() if isinstance(number, int)}
        if counts:
            made.append(
                BarFigure(
                    "What the noise did",
                    "Rows that noise inserted or removed, and records that were suppressed; only you may know these "
                    "numbers.",
                    "what",
                    list(counts),
                    {"rows": list(counts.values())},
                    people=True,
                )
            )
        return made

    def spending(self, problem: Problem) -> Spending:
        """What the problem's one model allows a release to spend."""
        (spending,) = [model.spends for model in problem.models if model.spends is not None]
        return spending


def refuse_seed(run: Run) -> None:
    """Noise that can be repeated can be subtracted."""
    if run.seeded:
        raise PolicyError("Under differential privacy a run cannot be seeded.", "Leave 'seed' out.")


def grid_of(problem: Problem) -> Grid:
    """The declared domain of a problem."""
    space = space_of(problem)
    if space.size > MOST_NODES:
        raise PolicyError(
            f"The lattice has {space.size:,} nodes, more than {MOST_NODES:,} that could all be scored.",
            "Bound levels with 'min_level' and 'max_level', or give hierarchies fewer levels.",
        )
    return Grid(space, len(problem.cells.domains[problem.schema.sensitive[0]]))


def informative_declared(problem: Problem) -> bool:
    """Whether the policy declares the domain of the informative attribute."""
    return problem.schema.sensitive[0] in problem.reference.hierarchies


def public_grid(problem: Problem) -> Grid:
    """The grid as far as the policy alone knows it: what is refused must not depend on the data."""
    grid = grid_of(problem)
    return grid if informative_declared(problem) else Grid(grid.space, MOST_VALUES)


def drowned(epsilon: Mapping[str, float], records: int) -> bool:
    """Whether a part of the budget is so small that no data can be seen through its noise."""
    return any(part * MOST_SCALE < records for part in epsilon.values())


def table_of(problem: Problem, grid: Grid) -> Table:
    """The records of a problem, counted on its grid."""
    cells = problem.cells
    return grid.base(cells.codes, cells.sensitive[problem.schema.sensitive[0]], cells.counts)


def value_labels(problem: Problem) -> tuple[str | None, ...]:
    """What is published for each informative value."""
    name = problem.schema.sensitive[0]
    declared = problem.reference.hierarchies.get(name)
    return declared.levels[0].labels if declared is not None else problem.cells.domains[name].values


def privacy_unit(problem: Problem, spending: Spending) -> str:
    """Who is protected, in words."""
    if problem.schema.subject is None:
        return "one record, added or removed"
    return f"one subject with at most {spending.max_records_per_subject} records, added or removed"


def noisy_published(problem: Problem, grid: Grid, noisy: NoisyTable) -> Publication:
    """The rows: each published cell as often as its noisy count says, and the rows of `*`."""
    codes, values = grid.decoded(noisy.levels, noisy.keys)
    starred = np.flatnonzero(noisy.stars)
    columns = []
    for hierarchy, level, groups in zip(grid.hierarchies, noisy.levels, codes, strict=True):
        labels = pa.array([*hierarchy.levels[level].labels, ANYTHING], pa.string())
        stars = np.full(len(starred), len(labels) - 1, dtype=np.int32)
        columns.append(labels.take(pa.array(np.concatenate([groups, stars]))))
    informative = pa.array(list(noisy.labels), pa.string())
    columns.append(informative.take(pa.array(np.concatenate([values, starred]))))
    table = pa.table(columns, names=[*problem.schema.quasi, *problem.schema.sensitive])
    return problem.engine.expand(table, np.concatenate([noisy.counts, noisy.stars[starred]]))


def noisy_draft(
    problem: Problem,
    grid: Grid,
    noisy: NoisyTable,
    method: Mapping[str, Any],
    internal: Mapping[str, Any],
    *,
    guaranteed: bool = True,
) -> Draft:
    """The draft of noisy cells. Nothing of what recipients get is counted on the input."""
    return Draft(
        published=noisy_published(problem, grid, noisy),
        promises=problem.promises() if guaranteed else [],
        attributes=problem.attributes(dict(zip(problem.schema.quasi, noisy.levels, strict=True))),
        method=method,
        rows={},
        internal={"differential-privacy": {**internal, "preparation": dict(problem.preparation)}},
        status=Status.FOR_PUBLICATION if guaranteed else Status.WITHOUT_GUARANTEE,
    )


def against_truth(table: Table, keys: Integers, noisy: NoisyTable) -> dict[str, int]:
    """What noise did to the records, for the steward alone: `keys` are the cells of `table`."""
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], noisy.keys)
    there = np.zeros(len(noisy.keys), dtype=np.bool_)
    inside = place < len(keys)
    there[inside] = keys[order][place[inside]] == noisy.keys[inside]
    true = np.zeros(len(noisy.keys), dtype=np.int64)
    true[there] = table.counts[order][place[there]]
    return {
        "records": int(table.counts.sum()),
        "records suppressed": int(table.counts.sum() - true.sum()),
        "rows inserted": int(np.maximum(noisy.counts - true, 0).sum()),
        "rows removed": int(np.maximum(true - noisy.counts, 0).sum()),
        "cells published without a record": int(np.count_nonzero(~there)),
        "rows of *": int(noisy.stars.sum()),
    }
