"""The method h-ceiling: generalization under a cap, counterfeits where a class is too small, a catalog of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, NoReturn

import numpy as np
from pydantic import Field

from medveil.errors import PolicyError, UnreachableError
from medveil.methods.h_ceiling.boxes import Recoding, Scale, cut_boxes
from medveil.methods.h_ceiling.clusters import grow_clusters
from medveil.methods.h_ceiling.figures import figures
from medveil.methods.h_ceiling.holdings import Holdings, Tuples, sensitive_tuples
from medveil.methods.h_ceiling.plan import Plan, mean_error
from medveil.methods.h_ceiling.planner import Planner
from medveil.methods.h_ceiling.publish import Filled, draft, refuse_taken_name
from medveil.methods.h_ceiling.search import NodeSearch
from medveil.methods.method import Method
from medveil.methods.optimal import generalized, space_of
from medveil.methods.problem import Problem, label_array
from medveil.release.catalog import CATALOG, CLASS_ID
from medveil.release.draft import Basis, Counting, Draft, Promise
from medveil.run import Run, Stage

CEILINGS = tuple(step / 20 for step in range(1, 21))
"""The ceilings that local recoding tries where none is given."""

MOST_NODES = 10**6
"""The most combinations of levels that are looked at."""

MOST_LEAVES = 4000
"""The most values of a column that clustering takes: it looks at pairs of them."""


class HCeiling(Method):
    """No record is generalized more strongly than h; classes that are then too small are filled with counterfeits.

        D(r) = mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1) <= h   for every record r

    A catalog, published with the table, tells how many counterfeits of which sensitive value are in which group of
    classes, so that recipients can account for them, but not which records they are (Lemma 1). Of all combinations of
    levels under the ceiling the one with the least reconstruction error RCE is taken.

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing.
    """

    name: ClassVar[str] = "h-ceiling"

    h: Annotated[
        float | None,
        Field(ge=0, le=1, description="The strongest generalization of a record; where left out, the best."),
    ] = None
    max_counterfeits: Annotated[
        float, Field(ge=0, le=1, description="The most counterfeits, as a share of the input's records.")
    ] = 0.05
    padding: Annotated[
        Literal["concealed", "published"],
        Field(description="concealed: sizes do not tell which classes were filled. published: filled to exactly k."),
    ] = "concealed"
    counterfeits: Annotated[
        Literal["hideable", "uniform"],
        Field(description="Their sensitive values: chosen so that they can be hidden, or drawn evenly as published."),
    ] = "hideable"
    posterior: Annotated[
        float,
        Field(
            ge=0.5,
            lt=1,
            description="With concealed padding: how sure anyone may be at most that a record is a counterfeit.",
        ),
    ] = 0.9
    recoding: Annotated[
        Literal["full-domain", "mondrian", "clustering"],
        Field(description="full-domain: one level a column. mondrian, clustering: levels differ by box, none above h."),
    ] = "full-domain"

    def why_not(self, problem: Problem) -> str | None:
        if not problem.schema.sensitive:
            return "it needs a sensitive attribute, by which its catalog lists the counterfeits"
        if problem.cells.population is not None:
            return "counterfeits cannot be compared with a population"
        if problem.schema.plain and not problem.engine.has_rows:
            return "counterfeits take plain columns from records, and the engine only counts records"
        if self.recoding == "clustering":
            if problem.cells.subjects is not None:
                return "clustering counts records, not the people of a subject column; mondrian and full-domain do"
            for name, hierarchy in problem.hierarchies.items():
                if len(hierarchy.levels[0].groups) > MOST_LEAVES:
                    return f"clustering takes columns of at most {MOST_LEAVES:,} values, and '{name}' has more"
        return super().why_not(problem)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        refuse_taken_name(problem)
        planner = Planner(
            problem.k,
            problem.requirements,
            problem.reference,
            concealed=self.padding == "concealed",
            uniform=self.counterfeits == "uniform",
            most=self._most(),
        )
        allowed = math.floor(self.max_counterfeits * problem.cells.records + 1e-9)
        if self.recoding == "full-domain":
            filled, degree, report = self._search(problem, planner, allowed, run)
        else:
            filled, degree, report = self._recode(problem, planner, allowed, run)
        spent = figures(filled.holdings, filled.plan, [problem.hierarchies[name].size for name in problem.cells.quasi])
        h = self.h if self.h is not None else degree
        return draft(
            problem,
            filled,
            self._promises(problem, filled.plan, h),
            self.description(degree=degree),
            {"h_ceiling": {**spent, **report}},
            run.random,
        )

    def _most(self) -> int:
        """How many filled classes may stand beside one that is not: t / (t + 1) <= posterior."""
        return max(math.floor(self.posterior / (1.0 - self.posterior) + 1e-9), 1)

    def _search(
        self, problem: Problem, planner: Planner, allowed: int, run: Run
    ) -> tuple[Filled, float, dict[str, Any]]:
        space = space_of(problem)
        if space.size > MOST_NODES:
            raise PolicyError(
                f"There are {space.size:,} combinations of levels, more than h-ceiling looks at.",
                "Hold some columns between 'min_level' and 'max_level', or take 'recoding: mondrian'.",
            )
        search = NodeSearch(problem.cells, sensitive_tuples(problem.cells), space, planner)
        h = 1.0 if self.h is None else self.h
        found = search.best(h, allowed, run.random, lambda share: run.step(Stage.SEARCH, share))
        if found is None:
            self._refuse(search, h, allowed, problem.cells.records, run)
        levels = dict(zip(problem.cells.quasi, found.levels, strict=True))
        filled = Filled(found.holdings, found.plan, generalized(problem, found.levels), levels)
        return filled, found.degree, {"nodes": found.nodes, "counted": found.counted, "planned": found.planned}

    def _refuse(self, search: NodeSearch, h: float, allowed: int, records: int, run: Run) -> NoReturn:
        """Say how close one can get: the least h with so many counterfeits, the fewest counterfeits under this h."""
        least = search.least_degree(
            allowed, run.random, lambda share: run.step(Stage.SEARCH, share, "Finding the least h")
        )
        fewest = search.fewest_counterfeits(
            h, run.random, lambda share: run.step(Stage.SEARCH, share, "Finding the fewest counterfeits")
        )
        raise UnreachableError(*_words(least, fewest, h, allowed, records))

    def _recode(
        self, problem: Problem, planner: Planner, allowed: int, run: Run
    ) -> tuple[Filled, float, dict[str, Any]]:
        tuples = sensitive_tuples(problem.cells)
        scale = Scale([problem.hierarchies[name] for name in problem.cells.quasi])
        best: tuple[float, Recoding, Holdings, Plan] | None = None
        for h in CEILINGS if self.h is None else (self.h,):
            made = self._fill(problem, planner, tuples, scale, h, allowed, run)
            if made is not None and (best is None or mean_error(made[1], made[2]) < best[0]):
                best = (mean_error(made[1], made[2]), *made)
        if best is None:
            self._refuse_recoding(problem, planner, tuples, scale, allowed, run)
        _, recoding, holdings, plan = best
        filled = Filled(holdings, plan, _labels(problem, recoding), None)
        span = np.maximum(np.array([hierarchy.size for hierarchy in scale.hierarchies]) - 1.0, 1.0)[:, None]
        degree = float(((holdings.points - 1.0) / span).mean(axis=0).max())
        return filled, degree, {}

    def _boxes(self, problem: Problem, scale: Scale, h: float, run: Run) -> Recoding | None:
        bounds = [
            (problem.min_levels.get(name, 0), problem.max_levels.get(name, problem.hierarchies[name].height))
            for name in problem.cells.quasi
        ]
        if self.recoding == "mondrian":
            return cut_boxes(
                problem.cells, scale, bounds, h, problem.k, lambda: run.step(Stage.SEARCH, None, "Cutting boxes")
            )
        return grow_clusters(
            problem.cells,
            scale,
            bounds,
            h,
            problem.k,
            run.random,
            lambda: run.step(Stage.SEARCH, None, "Growing clusters"),
        )

    def _fill(
        self, problem: Problem, planner: Planner, tuples: Tuples, scale: Scale, h: float, allowed: int, run: Run
    ) -> tuple[Recoding, Holdings, Plan] | None:
        recoding = self._boxes(problem, scale, h, run)
        if recoding is None:
            return None
        holdings = Holdings(
            problem.cells, tuples, recoding.class_of_cell, _numbered(scale, recoding), scale.points(recoding)
        )
        plan = planner.plan(holdings, allowed, run.random)
        return None if plan is None else (recoding, holdings, plan)

    def _refuse_recoding(
        self, problem: Problem, planner: Planner, tuples: Tuples, scale: Scale, allowed: int, run: Run
    ) -> NoReturn:
        h = 1.0 if self.h is None else self.h
        made = self._fill(problem, planner, tuples, scale, h, problem.k * problem.cells.records, run)
        fewest = None if made is None else made[2].counterfeits
        larger = [ceiling for ceiling in CEILINGS if ceiling > h]
        least = next((c for c in larger if self._fill(problem, planner, tuples, scale, c, allowed, run)), None)
        raise UnreachableError(*_words(least, fewest, h, allowed, problem.cells.records))

    def _promises(self, problem: Problem, plan: Plan, h: float) -> list[Promise]:
        """What the release claims; k and every other model *with counterfeits* where there are any."""
        kept = problem.promises()
        if plan.counterfeits:
            kept = [
                replace(promise, summary=f"{promise.summary} with counterfeits", counting=Counting.WITH_COUNTERFEITS)
                for promise in kept
            ]
        proved = self.padding == "concealed" and self.counterfeits == "hideable"
        return [
            *kept,
            Promise(self.name, f"no record generalized above {h:g}", {"h": h}, Basis.SOURCE),
            Promise(
                "counterfeit-catalog",
                "counterfeits cannot be told from real records"
                if proved
                else "counterfeits are hidden from readers of the catalog who do not know how classes are filled",
                {"lemma_1": True, **({"told": 0, "posterior": self.posterior} if proved else {})},
                Basis.FILES,
                {
                    "column": CLASS_ID,
                    "catalog": CATALOG,
                    "padding": self.padding,
                    "counterfeits": self.counterfeits,
                    "k": problem.k,
                },
            ),
        ]


def _words(least: float | None, fewest: int | None, h: float, allowed: int, records: int) -> tuple[str, str]:
    """What an unreachable goal says: how close one can get by h alone and by counterfeits alone."""
    remedies = []
    if least is not None and least > h:
        remedies.append(f"with h {math.ceil(least * 10000) / 10000:g} it works")
    if fewest is not None and fewest > records:
        remedies.append(f"under this h it takes {fewest:,} counterfeits, more than there are records")
    elif fewest is not None:
        share = math.ceil(fewest / records * 10000) / 10000
        remedies.append(f"with {fewest:,} counterfeits (max_counterfeits: {share:g}) it works")
    problem = f"With h {h:g} and at most {allowed:,} counterfeits no release can be made."
    if not remedies:
        return problem, "Not even other values of h and max_counterfeits help: loosen what must hold, or 'posterior'."
    text = "; ".join(remedies)
    return problem, f"{text[0].upper()}{text[1:]}."


def _numbered(scale: Scale, recoding: Recoding) -> np.ndarray[Any, np.dtype[np.int32]]:
    """A number for each published label: groups of different levels are different values."""
    starts = [
        np.concatenate(([0], np.cumsum([len(level.labels) for level in hierarchy.levels])))
        for hierarchy in scale.hierarchies
    ]
    return np.stack(
        [
            (start[levels] + groups).astype(np.int32)
            for start, levels, groups in zip(starts, recoding.levels, recoding.groups, strict=True)
        ]
    )


def _labels(problem: Problem, recoding: Recoding) -> list[Any]:
    """What each cell publishes in each quasi-identifier."""
    found = []
    for position, name in enumerate(problem.cells.quasi):
        hierarchy = problem.hierarchies[name]
        starts = np.concatenate(([0], np.cumsum([len(level.labels) for level in hierarchy.levels])))
        everything = [label for level in hierarchy.levels for label in level.labels]
        numbers = (starts[recoding.levels[position]] + recoding.groups[position]).astype(np.int32)
        found.append(label_array(everything, numbers[recoding.class_of_cell]))
    return found
