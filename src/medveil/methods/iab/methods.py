"""The paper's method, the two that it is compared with, and a faster way to the same optimum."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from medveil.errors import UnreachableError
from medveil.methods.iab import search as searching
from medveil.methods.iab.by_cell import ByCell
from medveil.methods.iab.by_level import ByLevel
from medveil.methods.iab.by_subtree import BySubtree
from medveil.methods.iab.fast import search_fast
from medveil.methods.iab.recoding import TableRecoding
from medveil.methods.iab.table import FullTable, full_table
from medveil.methods.iab.tree import effort_in_words, tree_figure, tree_of
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes
from medveil.release.draft import Draft
from medveil.release.figures import Figure, Remark
from medveil.run import Run, Stage

Generalization = Literal["levels", "subtree", "cell"]
TimeLimit = Annotated[
    float, Field(gt=0, description="Seconds after which the best table found so far is taken.", allow_inf_nan=False)
]


class _RowSearch(Method):
    """What the four methods share: a table with as many distinct rows as possible, and nothing suppressed."""

    leaves_open: ClassVar[str] = (
        "Values are true, only coarser: someone who already knows a person's sensitive values may find the "
        "person by them."
    )

    time_limit: TimeLimit = 120.0

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "it does not use a population"
        return super().why_not(problem)

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:  # noqa: ARG003
        made: list[Figure] = []
        if internal.get("search"):
            made.append(Remark(effort_in_words(internal["search"])))
        if internal.get("search-tree", {}).get("tables"):
            made.append(tree_figure(internal["search-tree"]))
        return made

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        started = time.perf_counter()
        run.step(Stage.SEARCH, None, "Counting distinct rows")
        table = full_table(problem)
        recoding = self.recoding(table)
        _refuse_unreachable(recoding)
        state, found, internal = self.find(recoding, run)
        levels = recoding.levels(state)
        names = problem.cells.quasi
        internal["search"] = {**found, "seconds": round(time.perf_counter() - started, 3)}
        return problem.draft(
            recoding.labels(state, problem.cells.codes),
            np.ones(len(problem.cells), dtype=np.bool_),
            self.description(rows=found["rows"], optimal=found["optimal"]),
            levels=None if levels is None else dict(zip(names, levels, strict=True)),
            internal=internal,
        )

    @abstractmethod
    def recoding(self, table: FullTable) -> TableRecoding[Any]: ...

    @abstractmethod
    def find(self, recoding: TableRecoding[Any], run: Run) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The state to publish, what is told of the search, and what else the steward gets."""


class _TreeSearch(_RowSearch):
    """A search that can draw its tree."""

    generalization: Annotated[
        Generalization,
        Field(
            description="How far one step goes: `levels` moves a whole column up one level, `subtree` only the values "
            "under one parent, `cell` only the rows that violate a requirement."
        ),
    ] = "levels"

    draws_tree: ClassVar[bool] = True
    order: ClassVar[searching.Order]
    proves_optimum: ClassVar[bool] = True

    def why_not(self, problem: Problem) -> str | None:
        others = [model.name for model in problem.models if not model.asks_size_alone]
        if self.generalization == "cell" and others:
            return f"by cell it keeps k-anonymity only, not {others[0]}"
        return super().why_not(problem)

    def recoding(self, table: FullTable) -> TableRecoding[Any]:
        chosen: dict[Generalization, type[TableRecoding[Any]]] = {
            "levels": ByLevel,
            "subtree": BySubtree,
            "cell": ByCell,
        }
        return chosen[self.generalization](table)

    def find(self, recoding: TableRecoding[Any], run: Run) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        searched = searching.search(
            recoding,
            self.order,
            time_limit=self.time_limit,
            tell=lambda generated: run.step(Stage.SEARCH, None, f"Searching: {generated:,} tables"),
        )
        if searched.best is None:
            raise UnreachableError(
                "No generalization within the levels allowed meets every requirement.",
                "Ask for less, allow higher levels, or use a method that suppresses records.",
            )
        root, best = searched.nodes[0].measured, searched.best.measured
        told = {
            "tables_generated": searched.generated,
            "tables_expanded": searched.expanded,
            "rows_before": root.rows,
            "rows": best.rows,
            "violating_rows_before": root.violating,
            "violating_rows": best.violating,
            "optimal": searched.finished and self.proves_optimum,
        }
        return searched.best.state, told, {"search-tree": tree_of(searched, recoding, self.name)}


class Iab(_TreeSearch):
    """Intelligent Anonymity Balance: the table that satisfies every requirement `<shield, k>` with most distinct rows.

    Best-first search over generalized tables: the table with most rows is generalized next, of several the one with
    the fewest violating rows. Generalizing never adds rows, so a table without violations is not generalized further,
    and one with no more rows than the best table without violations is given up. Rows are distinct full rows of what is
    published; a row violates `<shield, k>` if fewer than k people share its values on the shield (`on` of k-anonymity).
    Nothing is suppressed (Arca, Hewett 2021, Analytics on anonymity for privacy retention in smart health data).
    """

    name: ClassVar[str] = "iab"
    order: ClassVar[searching.Order] = searching.MOST_ROWS


class Exhaustive(_TreeSearch):
    """Every possible generalized table; of those that satisfy every requirement the one with most distinct rows.

    The paper's Method 1, for comparison: `iab` ends with as many rows and generates no more tables
    (Arca, Hewett 2021, Analytics on anonymity for privacy retention in smart health data).
    """

    name: ClassVar[str] = "exhaustive"
    order: ClassVar[searching.Order] = searching.EVERYTHING


class Greedy(_TreeSearch):
    """Always generalizes the table with the fewest violating rows, and takes the first that has none.

    The paper's Method 2, for comparison: quick, and often with fewer rows than `iab`
    (Arca, Hewett 2021, Analytics on anonymity for privacy retention in smart health data).
    """

    name: ClassVar[str] = "greedy"
    order: ClassVar[searching.Order] = searching.FEWEST_VIOLATIONS
    proves_optimum: ClassVar[bool] = False


class IabFast(_RowSearch):
    """As many distinct rows as `iab`, found most general first: whole columns, and far fewer tables.

    A table that violates a requirement rules out every more specific one; one that violates none rules out every more
    general one, which has no more rows; and no table has more rows than its groups have combinations.
    """

    name: ClassVar[str] = "iab-fast"

    def why_not(self, problem: Problem) -> str | None:
        additive = problem.schema.subject is None
        for model in problem.models:
            if not model.survives_merging(additive=additive):
                return f"generalizing may break {model.name} where it held; use iab"
        return super().why_not(problem)

    def recoding(self, table: FullTable) -> TableRecoding[Any]:
        return ByLevel(table)

    def find(self, recoding: TableRecoding[Any], run: Run) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        root = recoding.measure(recoding.root())
        found = search_fast(
            recoding.table, time_limit=self.time_limit, tell=lambda share: run.step(Stage.SEARCH, share)
        )
        assert found.levels is not None
        told = {
            "tables_checked": found.checked,
            "tables_counted": found.counted,
            "rows_before": root.rows,
            "rows": found.rows,
            "violating_rows_before": root.violating,
            "violating_rows": 0,
            "optimal": found.finished,
        }
        return found.levels, told, {}


def _refuse_unreachable(recoding: TableRecoding[Any]) -> None:
    """Where generalizing as far as the levels allow does not do, and less cannot: how close one gets."""
    table = recoding.table
    summit = recoding.measure(recoding.summit())
    if summit.violating == 0 or not table.merges:
        return
    everybody = count_classes(table.cells, np.zeros(len(table.cells), dtype=np.int32), 1)
    people = int(everybody.sizes[0])
    asked = max((r.model.least_class_size or 0 for r in table.requirements if r.model.asks_size_alone), default=0)
    if asked > people:
        raise UnreachableError(
            f"k-anonymity with k = {asked} cannot hold: the table has {people} people.",
            f"Ask for a k of at most {people}.",
        )
    raise UnreachableError(
        f"Even with every column as general as its levels allow, {summit.violating} of {summit.rows} distinct rows "
        "violate a requirement.",
        "Ask for less, allow higher levels ('max_level'), or use a method that suppresses records.",
    )
