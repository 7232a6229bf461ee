"""The full-domain generalization with the least loss, proved optimal by search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from medveil.lattice.checker import Checker
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.projections import pairs_of
from medveil.lattice.queries import QueryChecker, why_not_by_query
from medveil.lattice.search import MOST_LISTED, FoundNode, search
from medveil.lattice.space import Space
from medveil.methods.method import Method
from medveil.methods.problem import Problem, label_array
from medveil.release.draft import Draft
from medveil.release.figures import BarFigure, Figure
from medveil.run import Run, Stage

LossName = Literal["lm", "discernibility", "average-class-share"]


class Optimal(Method):
    """Every value of a column is generalized to the same level; records of classes that fail are suppressed.

    Among all combinations of levels (the nodes of a lattice) under which the suppressed share stays within the limit,
    the one with the least loss is taken. The loss LM of a record is the weighted mean over quasi-identifiers of
    (leaves covered - 1) / (leaves - 1), 1 for a suppressed record; of a release, the mean over records
    (Iyengar 2002, Transforming data to satisfy privacy constraints).
    """

    name: ClassVar[str] = "optimal"
    leaves_open: ClassVar[str] = (
        "Values are true, only coarser: someone who already knows a person's sensitive values may find the "
        "person by them."
    )
    one_level: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True
    labels_cells: ClassVar[bool] = True
    asks_engine: ClassVar[bool] = True

    suppression: Annotated[
        float, Field(ge=0, le=1, description="The largest share of records that may be suppressed.")
    ] = 0.0
    loss: Annotated[
        LossName | Annotated[dict[LossName, Annotated[float, Field(gt=0, allow_inf_nan=False)]], Field(min_length=1)],
        Field(description="What is minimized: one loss, or a mix such as {lm: 0.7, discernibility: 0.3}."),
    ] = "lm"
    time_limit: Annotated[
        float,
        Field(gt=0, allow_inf_nan=False, description="Seconds after which the best release found so far is taken."),
    ] = 600.0

    @property
    def may_suppress(self) -> float:
        return self.suppression

    def suppressing(self, share: float) -> Self:
        return self.model_copy(update={"suppression": share})

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:  # noqa: ARG003
        search = internal.get("search")
        if not search:
            return []
        return [
            BarFigure(
                "The search for the best levels",
                "Of all combinations of levels only some had to be looked at; the others were ruled out by those.",
                "combinations of levels",
                ["all combinations", "looked at"],
                {"combinations": [float(search["nodes"]), float(search["checks"])]},
            )
        ]

    def why_not(self, problem: Problem) -> str | None:
        elsewhere = problem.cells.elsewhere
        reason = None if elsewhere is None else why_not_by_query(problem.requirements, len(problem.schema.quasi))
        if elsewhere is not None and reason is not None:
            return f"{elsewhere.too_many}, and {reason}"
        return super().why_not(problem)

    def warnings(self, problem: Problem) -> list[str]:
        elsewhere = problem.cells.elsewhere
        if elsewhere is None:
            return []
        space = space_of(problem)
        pairs = sum(1 for _ in pairs_of(problem.requirements, len(space)))
        plan = (
            f"Classes are counted where the records are, since {elsewhere.too_many}. The plan: {pairs} "
            f"{'query' if pairs == 1 else 'queries'} for pairs of columns, then one for each combination of levels "
            f"that is looked at, usually a few dozen out of {space.size:,}. Measures and advice that need all distinct "
            "records are left out."
        )
        return [plan]

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        space = space_of(problem)
        elsewhere = problem.cells.elsewhere
        if elsewhere is None:
            return self._among_cells(problem, space, run)
        columns = [elsewhere.records_of(name) for name in problem.schema.quasi]
        checker = QueryChecker(elsewhere.coded, space, problem.requirements, columns, problem.schema.sensitive)
        # Seconds say little of how far a search is that waits for queries: it ends early only where the policy says so,
        # or where no search would ever end.
        limited = "time_limit" in self.model_fields_set or space.size > MOST_LISTED
        found = self._search(problem, checker, self.time_limit if limited else None, run)
        return problem.draft_levels(
            found.levels, checker.asked, self._told(found), cells=elsewhere, internal=_steps(found)
        )

    def _among_cells(self, problem: Problem, space: Space, run: Run) -> Draft:
        evaluator = Evaluator(
            problem.cells,
            space,
            problem.requirements,
            reference=problem.reference,
            counts_classes=self.loss != "lm",
        )
        found = self._search(problem, evaluator, self.time_limit, run)
        return problem.draft(
            generalized(problem, found.levels),
            evaluator.kept_at(found.levels),
            self._told(found),
            levels=dict(zip(problem.cells.quasi, found.levels, strict=True)),
            internal=_steps(found),
        )

    def _search(self, problem: Problem, checker: Checker, time_limit: float | None, run: Run) -> FoundNode:
        weights = [problem.weight(name) for name in problem.cells.quasi]
        chosen: str | dict[str, float] = (
            {str(name): share for name, share in self.loss.items()} if isinstance(self.loss, dict) else self.loss
        )
        return search(
            checker,
            checker.space,
            make_loss(chosen, checker.space, checker.columns, weights),
            self.suppression,
            time_limit=time_limit,
            progress=lambda share: run.step(Stage.SEARCH, share),
            cancelled=run.cancelled,
        )

    def _told(self, found: FoundNode) -> dict[str, Any]:
        return self.description(loss=found.loss, optimal=found.proved)


def _steps(found: FoundNode) -> dict[str, Any]:
    """How the search went, which depends on originals that the same release may have."""
    return {"search": {"bound": found.bound, "nodes": found.nodes, "checks": found.checks}}


def space_of(problem: Problem) -> Space:
    """The lattice of a problem, within its minimum and maximum levels."""
    quasi = problem.cells.quasi
    return Space.of(
        [problem.hierarchies[name] for name in quasi],
        [problem.min_levels.get(name) for name in quasi],
        [problem.max_levels.get(name) for name in quasi],
        quasi,
    )


def generalized(problem: Problem, levels: tuple[int, ...]) -> list[pa.Array]:
    """What is published for each cell in each quasi-identifier at these levels."""

    def column(name: str, codes: NDArray[np.int32], level: int) -> pa.Array:
        chosen = problem.hierarchies[name].levels[level]
        return label_array(chosen.labels, chosen.groups[codes])

    return [
        column(name, codes, level)
        for name, codes, level in zip(problem.cells.quasi, problem.cells.codes, levels, strict=True)
    ]
