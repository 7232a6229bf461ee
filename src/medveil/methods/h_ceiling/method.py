"""The method h-ceiling: generalization under a cap, counterfeits where a class is too small, a catalog of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.errors import PolicyError, UnreachableError
from medveil.lattice.space import Levels
from medveil.methods.h_ceiling.bundles import (
    Rows,
    SensitiveValues,
    Verdict,
    catalog_entries,
    failing_shares,
    input_reference,
    judge,
    published_rows,
)
from medveil.methods.h_ceiling.claims import how_close, paper_promises, people_promises
from medveil.methods.h_ceiling.figures import figures
from medveil.methods.h_ceiling.objective import Objective, ObjectiveName
from medveil.methods.h_ceiling.paper import Draw, PaperFill, Plan
from medveil.methods.h_ceiling.partition import ROUNDING, ClassPartition
from medveil.methods.h_ceiling.people import Codes, Counts, Residents
from medveil.methods.h_ceiling.planner import Arrangement, PlannedPartition, Planner, Recoding, Settings, seat
from medveil.methods.h_ceiling.publish import (
    FilledRelease,
    RecordOutcomes,
    draft,
    people_of_rows,
    refuse_taken_name,
    residents_of,
    values_of_rows,
)
from medveil.methods.h_ceiling.search import Ceiling, Filled, NodeSearch
from medveil.methods.method import Method
from medveil.methods.optimal import space_of
from medveil.methods.problem import GENERALIZE, Problem
from medveil.privacy.model import PrivacyModel
from medveil.release.catalog import Entry
from medveil.release.draft import Draft
from medveil.run import Run, Stage
from medveil.table.schema import Kind

MOST_NODES = 10**6
"""The most combinations of levels that are looked at."""

MOST_LEAVES = 4000
"""The most values of a column that clustering takes: it looks at pairs of them."""

LARGER_GROUPS = (1, 2, 4, 8)
"""How many times k people groups are tried with where sensitive models make groups fail."""

GONE = {
    "padding": "say 'protection: people' (the default) or 'protection: published' instead",
    "posterior": "'protection: people' bounds what anyone may believe of a person by k and the models alone",
}


class HCeiling(Method):
    """No record is generalized more strongly than h; classes that are then too small are filled with counterfeits.

        D(r) = mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1) <= h   for every record r

    protection: people. Classes of fewer than k people are put, by quasi-identifiers alone, into groups of |R| >= k
    people, and every class of a group publishes the values of all of them. For whoever knows the program, all that is
    published and everybody's quasi-identifiers, a record is a given person's with probability 1/|R| <= 1/k, and real
    with probability r_i/|R|, r_i being the people of its class, as the catalog says (docs/proofs/h-ceiling.md).

    protection: published. The method of the paper: classes are filled to exactly k, and a catalog tells how many
    counterfeits of which value are in which classes so that Lemma 1 holds. That is all it keeps.

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing.
    """

    name: ClassVar[str] = "h-ceiling"
    leaves_open: ClassVar[str] = (
        "Some records are made up, and the catalog says how likely each is to be real: counts must be corrected "
        "by it. Someone who already knows who is in a group learns the values that its people have together."
    )
    guards_sensitive: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True

    h: Annotated[
        float | None,
        Field(ge=0, le=1, description="The strongest generalization of a record (default: the best)."),
    ] = None
    ceiling: Annotated[
        Ceiling, Field(description="record: h bounds every record. mean: h bounds the mean over people.")
    ] = "record"
    protection: Annotated[
        Literal["people", "published"],
        Field(
            description="people: nobody is told, by proof. published: the paper's method, which keeps Lemma 1 alone."
        ),
    ] = "people"
    on_failure: Annotated[
        Literal["leave_out", "refuse"],
        Field(description="What happens to a group that fails a model: its records are left out, or the run ends."),
    ] = "leave_out"
    records: Annotated[
        Literal["all", "shared"],
        Field(
            description="Of several records of a person in a class: all, or as many as k others have (shared), against "
            "those who know how many they have."
        ),
    ] = "all"
    near: Annotated[
        tuple[str, ...],
        Field(description="The quasi-identifiers by which people of a group are near, the most telling first."),
    ] = ()
    never_mix: Annotated[
        tuple[str, ...], Field(description="Quasi-identifiers in which all classes of a group publish the same.")
    ] = ()
    objective: Annotated[
        ObjectiveName,
        Field(description="What is made small: the loss LM, the reconstruction error RCE, or the mean of both."),
    ] = "lm"
    price: Annotated[
        float,
        Field(
            ge=0,
            allow_inf_nan=False,
            description="What a counterfeit costs, where a record left out costs 1: the larger, the fewer.",
        ),
    ] = 2.0
    max_counterfeits: Annotated[
        float, Field(ge=0, le=1, description="The most counterfeits, as a share of the input's records.")
    ] = 0.05
    counterfeits: Annotated[
        Draw | None,
        Field(
            description="With 'protection: published': values that can be hidden (hideable), or drawn evenly (uniform)."
        ),
    ] = None
    recoding: Annotated[
        Recoding,
        Field(description="full-domain: one level a column. mondrian, clustering: levels differ by box, none above h."),
    ] = "full-domain"

    @model_validator(mode="before")
    @classmethod
    def _explain_old_keys(cls, given: Any) -> Any:
        for key, instead in GONE.items():
            if isinstance(given, dict) and key in given:
                raise ValueError(f"'{key}' is gone: {instead}")
        return given

    @model_validator(mode="after")
    def _check_keys(self) -> HCeiling:
        if self.protection == "people" and self.counterfeits is not None:
            raise ValueError("'counterfeits' is for 'protection: published' alone: here values are those of the group")
        return self

    @property
    def hides_who_has_what(self) -> bool:
        return self.protection == "people"

    def why_not(self, problem: Problem) -> str | None:
        if not problem.schema.sensitive:
            return "it needs a sensitive attribute, by which its catalog lists the counterfeits"
        if problem.cells.population is not None:
            return "counterfeits cannot be compared with a population"
        for name in (*self.near, *self.never_mix):
            if name not in problem.cells.quasi:
                return f"'{name}' of 'near' or 'never_mix' is not a quasi-identifier"
        if self.recoding == "clustering":
            for name, hierarchy in problem.hierarchies.items():
                if len(hierarchy.levels[0].groups) > MOST_LEAVES:
                    return f"clustering takes columns of at most {MOST_LEAVES:,} values, and '{name}' has more"
        if problem.stars:
            return "it does not show who is left out as rows of '*': use 'suppressed: removed'"
        if self.hides_who_has_what and self.records == "all" and problem.schema.subject is not None:
            # How many records somebody has belongs to what nobody shall tell (condition C2 of the proof).
            weighed = [name for name in problem.cells.quasi if problem.specifications[name].weighs_records]
            if weighed:
                return (
                    f"the quantiles of '{weighed[0]}' depend on how many records people have, which must decide "
                    "nothing: give 'cuts' or 'widths', or use 'records: shared'"
                )
        models = _sensitive_models(problem)
        limited = [model for model in models if model.on is not None and not model.monotone]
        if limited:
            return f"{limited[0].name} on some columns may fail where it holds for every group"
        return super().why_not(problem)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        refuse_taken_name(problem)
        self._refuse_large_space(problem)
        people = people_of_rows(problem)
        if self.protection == "people":
            return self._protect_people(problem, residents_of(problem, people), run)
        residents = residents_of(problem, None)
        own = np.arange(len(residents.place_of_row)) if people is None else people
        return self._publish_as_printed(problem, residents, own, run)

    def _refuse_large_space(self, problem: Problem) -> None:
        size = space_of(problem).size
        if self.recoding == "full-domain" and size > MOST_NODES:
            raise PolicyError(
                f"There are {size:,} combinations of levels, more than h-ceiling looks at.",
                "Hold some columns between 'min_level' and 'max_level', or use 'recoding: mondrian'.",
            )

    def _objective(self, problem: Problem) -> Objective:
        quasi = problem.cells.quasi
        return Objective(
            self.objective,
            self.price,
            [problem.weight(name) for name in quasi],
            [problem.cells.domains[name].kind in (Kind.NUMBER, Kind.DATE) for name in quasi],
            len(problem.schema.sensitive),
        )

    def settings(self, problem: Problem, k: int, failing: NDArray[np.float64]) -> Settings:
        """What the planner is told for groups of k people."""
        quasi = problem.cells.quasi
        order = [*self.near, *(name for name in quasi if name not in self.near)]
        return Settings(
            k,
            1.0 if self.h is None else self.h,
            self.ceiling,
            self.recoding,
            self._objective(problem),
            [quasi.index(name) for name in order],
            [quasi.index(name) for name in self.never_mix],
            [
                (problem.min_levels.get(name, 0), problem.max_levels.get(name, problem.hierarchies[name].height))
                for name in quasi
            ],
            failing,
        )

    def _allowed(self, problem: Problem) -> int:
        return math.floor(self.max_counterfeits * problem.cells.records + 1e-9)

    def _protect_people(self, problem: Problem, residents: Residents, run: Run) -> Draft:
        models, values = _sensitive_models(problem), values_of_rows(problem)
        reference = input_reference(values, problem.reference.hierarchies)
        failing = failing_shares(values, problem.k, models, reference, run.random)
        outcome = self._plan(problem, residents, failing, run)
        arrangement = seat(residents, outcome.filled, problem.k, run.random, shared=self.records == "shared")
        # From here on it matters who has what; whatever is random has been drawn.
        held = judge(arrangement, values, models, reference)
        self._refuse_failing(problem, arrangement, held)
        made = _publication(problem, residents, arrangement, values, held, outcome.levels)
        degree = _degree(arrangement.partition, self.ceiling, _kept_people(arrangement, held))
        h = degree if self.h is None else self.h
        if degree > h + ROUNDING:
            raise UnreachableError(
                f"With the failing groups left out the mean degree is {degree:.4f}, above h {h:g}.",
                "Use a larger h, or looser models.",
            )
        real = outcome.filled.plan.real(outcome.filled.partition)
        tuple_of_row, _ = values.tuples(np.arange(len(residents.person_of_row)))
        spent = figures(made, self._objective(problem), real, problem.k, tuple_of_row)
        report = {**spent, "groups_left_out": int(np.count_nonzero(~held)), **outcome.nodes}
        return draft(
            problem,
            values,
            made,
            people_promises(problem, self.ceiling, h),
            self.description(degree=degree),
            {"h_ceiling": report},
        )

    def _plan(self, problem: Problem, residents: Residents, failing: NDArray[np.float64], run: Run) -> PlannedPartition:
        """The best of groups of k people and, where values dealt out at random often fail, of larger ones."""
        allowed = self._allowed(problem)
        best: PlannedPartition | None = None
        sizes = LARGER_GROUPS if failing[min(problem.k, len(failing) - 1)] > 0 else LARGER_GROUPS[:1]
        planners = [
            Planner(residents.crowd, self.settings(problem, times * problem.k, failing), run.random, _told(run))
            for times in sizes
        ]
        for planner in planners:
            outcome = planner.plan(allowed)
            if outcome is not None and (best is None or outcome.filled.key < best.filled.key):
                best = outcome
        if best is None:
            least, fewest = planners[0].remedies(allowed)
            raise UnreachableError(*how_close(least, fewest, planners[0].settings.h, allowed, problem.cells.records))
        return best

    def _refuse_failing(self, problem: Problem, arrangement: Arrangement, held: Verdict) -> None:
        left_out = int(np.count_nonzero(~held))
        small = int(arrangement.people[arrangement.group < 0].sum())
        if not held.any():
            raise UnreachableError(
                f"Not one of {len(held):,} groups keeps every model.",
                problem.beyond_everybody() or f"{GENERALIZE[0].upper()}{GENERALIZE[1:]}, or ask for less.",
            )
        if self.on_failure == "refuse" and (left_out or small):
            raise UnreachableError(
                f"{left_out:,} of {len(held):,} groups fail a model, and {small:,} people are too few to be grouped.",
                "'on_failure: leave_out' leaves them out; a larger k, looser models or a shorter 'never_mix' help.",
            )

    def _publish_as_printed(self, problem: Problem, residents: Residents, people: Counts, run: Run) -> Draft:
        values = values_of_rows(problem)
        objective = self._objective(problem)
        paper = PaperFill(
            residents,
            people,
            values,
            problem.k,
            self.counterfeits or "hideable",
            objective,
            run.random,
            _sensitive_models(problem),
            problem.reference,
        )
        filled, levels, report = self._search_as_printed(problem, residents, paper, run)
        partition, plan = filled.partition, filled.plan
        ids = run.random.permutation(len(partition)) + 1
        donors = paper.donors(partition, plan)
        class_of_row = paper.class_of_row(partition)
        rows = Rows(
            np.concatenate((np.arange(len(people)), donors)),
            np.concatenate((class_of_row, np.repeat(plan.classes, plan.counts))),
        )
        made = FilledRelease(
            partition,
            np.arange(len(partition)),
            ids,
            rows,
            _paper_entries(values, plan, paper.tuples, ids),
            plan.counterfeits,
            RecordOutcomes(np.ones(len(people), dtype=np.bool_), class_of_row),
            None if levels is None else dict(zip(problem.cells.quasi, levels, strict=True)),
        )
        degree = _degree(partition, self.ceiling, partition.people)
        spent = figures(made, objective, np.ones(len(partition)), problem.k, paper.tuple_of_row)
        doubt = paper.doubt(partition, paper.holding(partition), plan)
        spent |= {name: spent[name] + doubt for name in ("rce", "rce_by_distance")}
        return draft(
            problem,
            values,
            made,
            paper_promises(problem, self.ceiling, degree if self.h is None else self.h),
            self.description(degree=degree),
            {"h_ceiling": {**spent, **report}},
        )

    def _search_as_printed(
        self, problem: Problem, residents: Residents, paper: PaperFill, run: Run
    ) -> tuple[Filled[Plan], Levels | None, dict[str, int]]:
        settings = self.settings(problem, problem.k, np.zeros(1))
        allowed = self._allowed(problem)
        if self.recoding == "full-domain":
            search = NodeSearch(residents.crowd, space_of(problem), paper.objective, paper.lack, paper.fill)
            found = search.best(settings.h, self.ceiling, allowed, lambda share: run.step(Stage.SEARCH, share))
            if found is None:
                least = search.least_degree(
                    self.ceiling, allowed, lambda share: run.step(Stage.SEARCH, share, "Finding the least h")
                )
                fewest = search.fewest_counterfeits(
                    settings.h,
                    self.ceiling,
                    problem.k * problem.cells.records,
                    lambda share: run.step(Stage.SEARCH, share, "Finding the fewest counterfeits"),
                )
                raise UnreachableError(*how_close(least, fewest, settings.h, allowed, problem.cells.records))
            counts = {"nodes": found.nodes, "counted": found.counted, "planned": found.planned}
            return found.filled, found.levels, counts
        planner = Planner(residents.crowd, settings, run.random, _told(run))
        partitions = list(planner.partitions(planner.ceilings()))
        best = _cheapest([paper.fill(partition, allowed) for partition in partitions])
        if best is None:
            any_number = problem.k * problem.cells.records
            dearer = _cheapest([paper.fill(partition, any_number) for partition in partitions])
            fewest = None if dearer is None else dearer.counterfeits
            raise UnreachableError(*how_close(None, fewest, settings.h, allowed, problem.cells.records))
        return best, None, {}


def _told(run: Run) -> Callable[[float | None, str], None]:
    """How the planner tells how far it is."""
    return lambda share, detail: run.step(Stage.SEARCH, share, detail)


def _cheapest(filled: Sequence[Filled[Plan] | None]) -> Filled[Plan] | None:
    return min((one for one in filled if one is not None), key=lambda one: one.key, default=None)


def _sensitive_models(problem: Problem) -> list[PrivacyModel]:
    """The models that are about sensitive values; k people are in every group anyway."""
    return [model for model in problem.models if not model.asks_size_alone]


def _degree(partition: ClassPartition, ceiling: Ceiling, people: Counts) -> float:
    """How strongly so many people of each class are generalized: the worst of them, or on average."""
    if ceiling == "record":
        return float(partition.degrees[people > 0].max())
    return float((partition.degrees * people).sum() / people.sum())


def _kept_people(arrangement: Arrangement, held: Verdict) -> Counts:
    """How many people of each class of the partition are published."""
    kept = (arrangement.group >= 0) & np.append(held, False)[arrangement.group]
    return np.bincount(
        arrangement.of_partition, np.where(kept, arrangement.people, 0), minlength=len(arrangement.partition)
    ).astype(np.int64)


def _publication(
    problem: Problem,
    residents: Residents,
    arrangement: Arrangement,
    values: SensitiveValues,
    held: Verdict,
    levels: Levels | None,
) -> FilledRelease:
    rows = published_rows(arrangement, held)
    kept = np.zeros(len(residents.person_of_row), dtype=np.bool_)
    inside = arrangement.group_of_line >= 0
    inside[inside] = held[arrangement.group_of_line[inside]]
    kept[arrangement.lines[inside]] = True
    class_of_person = np.zeros(len(residents.home), dtype=np.int64)
    class_of_person[arrangement.person] = arrangement.class_of_line
    return FilledRelease(
        arrangement.partition,
        arrangement.of_partition,
        arrangement.ids,
        rows,
        catalog_entries(arrangement, values, held),
        len(rows) - int(np.count_nonzero(kept)),
        RecordOutcomes(kept, class_of_person[residents.person_of_row]),
        None if levels is None else dict(zip(problem.cells.quasi, levels, strict=True)),
    )


def _paper_entries(values: SensitiveValues, plan: Plan, tuples: Codes, ids: Counts) -> list[Entry]:
    """The catalog's rows, by what they publish."""
    domains = [values.domains[name].values for name in values.codes]
    listed = plan.listed
    entries = []
    for i in range(len(listed)):
        numbers = ids[listed.classes[listed.offsets[i] : listed.offsets[i + 1]]]
        texts = tuple(domain[code] for domain, code in zip(domains, tuples[:, listed.tuples[i]], strict=True))
        entries.append(Entry(tuple(sorted(numbers.tolist())), texts, int(listed.counts[i])))
    return sorted(entries, key=lambda e: (e.class_ids, [(value is None, value or "") for value in e.values]))
