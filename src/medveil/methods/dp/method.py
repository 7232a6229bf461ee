"""What differentially private methods share: what they refuse, and how noisy cells become a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine import Publication
from medveil.errors import PolicyError
from medveil.lattice.space import Levels
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.losses import true_counts
from medveil.methods.dp.outcome import Part
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
MOST_COMBINATIONS = 2**22
"""So many combinations of several informative attributes at most: each is planned for."""
DROWNED = "epsilon, or a part of it, is so small that the release would be millions of rows of noise"

Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


class DifferentiallyPrivate(Method):
    """A method whose releases are differentially private by proof, or that is compared with such."""

    proves: ClassVar[frozenset[str]] = frozenset({DifferentialPrivacy.name})

    @property
    def several_informative(self) -> bool:
        """Whether it takes several sensitive attributes."""
        return False

    def why_not(self, problem: Problem) -> str | None:
        if not problem.cells.quasi:
            return "there is no quasi-identifier"
        if [model.name for model in problem.models] != [DifferentialPrivacy.name]:
            return "it keeps differential-privacy, which must be the only model"
        if not problem.schema.sensitive:
            return "it needs a sensitive attribute, the informative one"
        if len(problem.schema.sensitive) > 1 and not self.several_informative:
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
    """The declared domain of a problem; with several informative attributes a value is a combination of theirs."""
    space = space_of(problem)
    if space.size > MOST_NODES:
        raise PolicyError(
            f"The lattice has {space.size:,} nodes, more than {MOST_NODES:,} that could all be scored.",
            "Bound levels with 'min_level' and 'max_level', or give hierarchies fewer levels.",
        )
    return Grid(space, math.prod(informative_sizes(problem)))


def informative_sizes(problem: Problem) -> tuple[int, ...]:
    """How many values each informative attribute has."""
    return tuple(len(problem.cells.domains[name]) for name in problem.schema.sensitive)


def informative_declared(problem: Problem) -> bool:
    """Whether the policy declares the domain of every informative attribute."""
    return all(name in problem.reference.hierarchies for name in problem.schema.sensitive)


def public_grid(problem: Problem) -> Grid:
    """The grid as far as the policy alone knows it: what is refused must not depend on the data."""
    return grid_of(problem) if informative_declared(problem) else Grid(space_of(problem), MOST_VALUES)


def drowned(epsilon: Mapping[str, float], records: int) -> bool:
    """Whether a part of the budget is so small that no data can be seen through its noise."""
    return any(part * MOST_SCALE < records for part in epsilon.values())


def table_of(problem: Problem, grid: Grid) -> Table:
    """The records of a problem, counted on its grid."""
    cells = problem.cells
    values = np.zeros(len(cells), dtype=np.int64)
    for name, size in zip(problem.schema.sensitive, informative_sizes(problem), strict=True):
        values = values * size + cells.sensitive[name]
    return grid.base(cells.codes, values.astype(np.int32), cells.counts)


def value_labels(problem: Problem, name: str) -> tuple[str | None, ...]:
    """What is published for each value of an informative attribute."""
    declared = problem.reference.hierarchies.get(name)
    return declared.levels[0].labels if declared is not None else problem.cells.domains[name].values


def whole_table(grid: Grid, levels: Levels, keys: Integers, counts: Integers) -> Part:
    """Cells that are not divided into strata."""
    return Part(levels, 1, np.arange(grid.values, dtype=np.int32), keys, counts)


def privacy_unit(problem: Problem, spending: Spending) -> str:
    """Who is protected, in words."""
    if problem.schema.subject is None:
        return "one record, added or removed"
    return f"one subject with at most {spending.max_records_per_subject} records, added or removed"


def noisy_published(
    problem: Problem, grid: Grid, parts: Sequence[Part], released: Codes, stars: Integers
) -> Publication:
    """The rows: each published cell as often as its noisy count says, and the rows of `*` of each released value."""
    filled = [part for part in parts if len(part.keys)]
    starred = np.flatnonzero(stars)
    labels = [_constant(ANYTHING, len(starred)) for _ in problem.schema.quasi]
    tables = [_labelled_part(problem, grid, part) for part in filled]
    tables.append(_labelled(problem, labels, released[starred]))
    counts = np.concatenate([*(part.counts for part in filled), stars[starred]])
    return problem.engine.expand(pa.concat_tables(tables), counts)


def _labelled_part(problem: Problem, grid: Grid, part: Part) -> pa.Table:
    codes, _ = Grid(grid.space, max(len(part.values), 1)).decoded(part.levels, part.keys)
    labels = [
        pa.array(hierarchy.levels[level].labels, pa.string()).take(pa.array(groups))
        for hierarchy, level, groups in zip(grid.hierarchies, part.levels, codes, strict=True)
    ]
    return _labelled(problem, labels, part.informative)


def _labelled(problem: Problem, dimensions: Sequence[pa.Array], values: Codes) -> pa.Table:
    """Labels of dimensions, and the informative values behind combinations."""
    informative = []
    rest = values.astype(np.int64)
    for name, size in reversed(list(zip(problem.schema.sensitive, informative_sizes(problem), strict=True))):
        rest, own = np.divmod(rest, max(size, 1))
        informative.append(pa.array(list(value_labels(problem, name)), pa.string()).take(pa.array(own)))
    return pa.table([*dimensions, *reversed(informative)], names=[*problem.schema.quasi, *problem.schema.sensitive])


def _constant(label: str, length: int) -> pa.Array:
    return pa.array([label], pa.string()).take(pa.array(np.zeros(length, dtype=np.int32)))


def noisy_draft(
    problem: Problem,
    published: Publication,
    levels: Sequence[int | None],
    method: Mapping[str, Any],
    internal: Mapping[str, Any],
    *,
    companions: Mapping[str, pa.Table] | None = None,
    guaranteed: bool = True,
) -> Draft:
    """The draft of noisy cells. Nothing of what recipients get is counted on the input.

    levels: the level of each dimension, None where it differs by stratum.
    """
    known = {name: level for name, level in zip(problem.schema.quasi, levels, strict=True) if level is not None}
    return Draft(
        published=published,
        promises=problem.promises() if guaranteed else [],
        attributes=problem.attributes(known),
        method=method,
        rows={},
        companions=companions or {},
        internal={"differential-privacy": {**internal, "preparation": dict(problem.preparation)}},
        status=Status.FOR_PUBLICATION if guaranteed else Status.WITHOUT_GUARANTEE,
    )


def against_truth(grid: Grid, table: Table, parts: Sequence[Part], stars: Integers) -> dict[str, int]:
    """What noise did to the records, for the steward alone."""
    true = np.concatenate([np.zeros(0, dtype=np.int64), *(true_counts(grid, table, part) for part in parts)])
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(part.counts for part in parts)])
    records = int(table.counts.sum())
    return {
        "records": records,
        "records suppressed": records - int(true.sum()),
        "rows inserted": int(np.maximum(counts - true, 0).sum()),
        "rows removed": int(np.maximum(true - counts, 0).sum()),
        "cells published without a record": int(np.count_nonzero(true == 0)),
        "rows of *": int(stars.sum()),
    }
