"""Relocation: outliers get the quasi-identifiers of a neighbouring class. A baseline, and an untruthful one."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.errors import UnreachableError
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import Counted, Loss, NodeLossMetric, Nodes, Numbers
from medveil.lattice.search import search
from medveil.lattice.space import Levels
from medveil.methods.method import Method
from medveil.methods.optimal import generalized, space_of
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes
from medveil.release.draft import Draft
from medveil.run import Run, Stage
from medveil.table.arrow import number_array

BLOCK = 1 << 22
"""The most pairs of an outlier and a class that are compared at a time."""


class _GeneralizationAlone(Loss):
    """LM as the method's authors use it: what generalization loses. That a record was moved costs nothing."""

    name = "lm"
    counts_classes = False

    def __init__(self, whole: NodeLossMetric) -> None:
        self._whole = whole

    def bound(self, nodes: Nodes) -> Numbers:
        return self._whole.bound(nodes)

    def bound_hiding(self, nodes: Nodes, suppressed: NDArray[np.int64]) -> Numbers:  # noqa: ARG002 - nothing is hidden
        return self.bound(nodes)

    def bound_between(self, low: Levels, high: Levels, suppressed: int) -> float:  # noqa: ARG002
        return self._whole.bound_between(low, high, 0)

    def value(self, node: Counted) -> float:
        return float(self.bound(np.array(node.levels, dtype=np.int8)[:, None])[0])


class Relocation(Method):
    """Every value of a column is generalized to the same level; records of classes that fail are moved to others.

    Among all combinations of levels at which no more than the given share fails, the one with the least LM is taken.
    Each record that fails gets the published quasi-identifiers of the nearest class that does not: nearest is where
    the lowest groups that hold both have the smallest loss in sum. Its sensitive values stay, so the table states of
    somebody what is not true of them: the number of such records is reported as untruthful.

    Nergiz and Gok 2014, Hybrid k-anonymity; what Lee, Kim, Kim and Chung 2017 argue with.
    """

    name: ClassVar[str] = "relocation"
    leaves_open: ClassVar[str] = (
        "Some records have values of others in place of their own: a record need not be true of anybody, and the "
        "release does not say which."
    )

    relocation: Annotated[
        float, Field(ge=0, le=1, description="The largest share of records whose quasi-identifiers may be changed.")
    ] = 0.05
    time_limit: Annotated[
        float, Field(gt=0, description="Seconds after which the best release found so far is taken.")
    ] = 600.0

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "moved records count where their people are not, so presence in a population cannot be kept"
        return super().why_not(problem)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        space = space_of(problem)
        evaluator = Evaluator(problem.cells, space, problem.requirements, reference=problem.reference)
        weights = [problem.weight(name) for name in problem.cells.quasi]
        found = search(
            evaluator,
            space,
            _GeneralizationAlone(NodeLossMetric(space, evaluator.columns, weights)),
            self.relocation,
            time_limit=self.time_limit,
            progress=lambda share: run.step(Stage.SEARCH, share),
            cancelled=run.cancelled,
        )
        run.step(Stage.SEARCH, None, "Moving outliers")
        kept = evaluator.kept_at(found.levels)
        target = _nearest(problem, found.levels, kept)
        self._check(problem, evaluator, found.levels, target)
        labels = [label.take(number_array(target)) for label in generalized(problem, found.levels)]
        moved = int(problem.cells.counts[~kept].sum())
        return problem.draft(
            labels,
            np.ones(len(problem.cells), dtype=np.bool_),
            self.description(loss=found.loss, optimal=found.proved, untruthful=moved),
            internal={
                "relocation": {"untruthful": moved, "levels": dict(zip(problem.cells.quasi, found.levels, strict=True))}
            },
        )

    def _check(self, problem: Problem, evaluator: Evaluator, levels: Levels, target: NDArray[np.int64]) -> None:
        """Whether the classes still hold with what was moved into them: k does, shares of values may not."""
        for requirement in problem.requirements:
            class_of_cell, number = evaluator.classes_at(levels, requirement.shield)
            counted = count_classes(problem.cells, class_of_cell[target], number)
            holds = requirement.model.holds(counted, problem.reference)
            if not holds[counted.records > 0].all():
                raise UnreachableError(
                    f"With outliers moved to neighbouring classes {requirement.model.summary()} does not hold.",
                    "Ask for k-anonymity alone, or use a method that suppresses: 'optimal'.",
                )


def _nearest(problem: Problem, levels: Levels, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each cell the cell whose labels it publishes: itself, or for an outlier one of the nearest class."""
    cells = problem.cells
    target = np.arange(len(cells))
    out = np.flatnonzero(~kept)
    if not len(out):
        return target
    hierarchies = [problem.hierarchies[name] for name in cells.quasi]
    here = np.stack(
        [h.levels[level].groups[codes] for h, level, codes in zip(hierarchies, levels, cells.codes, strict=True)]
    )
    _, first = np.unique(here[:, kept], axis=1, return_index=True)
    choice = np.flatnonzero(kept)[first]
    step = max(BLOCK // len(choice), 1)
    for start in range(0, len(out), step):
        some = out[start : start + step]
        apart = np.zeros((len(some), len(choice)))
        for position, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
            apart += _apart(problem, position, hierarchy.height, level, some, choice)
        target[some] = choice[np.argmin(apart, axis=1)]
    return target


def _apart(
    problem: Problem, position: int, height: int, level: int, some: NDArray[np.int64], choice: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The weighted loss of the lowest group, from a level on, that holds both values of an attribute."""
    name = problem.cells.quasi[position]
    hierarchy, codes = problem.hierarchies[name], problem.cells.codes[position]
    found = np.zeros((len(some), len(choice)))
    for at in range(height, level - 1, -1):
        groups = hierarchy.levels[at].groups
        together = groups[codes[some]][:, None] == groups[codes[choice]][None, :]
        found = np.where(together, hierarchy.losses[at][codes[some]][:, None], found)
    return problem.weight(name) * found
