"""The method: clusters of like records under a cap on sensitive values, published as their means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from medveil.errors import InputError, PolicyError, UnreachableError, did_you_mean
from medveil.methods.diversity_aware.assigning import Solvers
from medveil.methods.diversity_aware.caps import Caps, even_caps, make_caps, number_of_clusters
from medveil.methods.diversity_aware.points import UnitColumn, Units, make_distances, read_columns, read_units
from medveil.methods.diversity_aware.publishing import (
    Labels,
    figures,
    means,
    ranges,
    read_published,
    require,
    shares,
    stated,
)
from medveil.methods.diversity_aware.rounds import Clustering, Effort, cluster_at_least, cluster_points
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.release.draft import Draft
from medveil.release.figures import BarFigure, Figure, Remark
from medveil.run import Run, Stage
from medveil.table.domain import Domain, canonical, read_number

_MILP_VARIABLES = 200_000
"""Records times clusters that the mixed-integer program can take."""

_HUGE = re.compile(r"e[+-]?\d{4}|.{100}", re.IGNORECASE | re.DOTALL)
"""Numbers which it would take long to write out as a fraction."""

MOST_STEPS = 20
"""No more steps than this are shown of how clusters became tighter."""


class DiversityAware(Method):
    """Records are put into clusters of at least k, as near to their centers as can be while no cluster holds more than
    its share of any sensitive value. A cluster is published as its means.

        min sum_ij B_ij |x_j - center_i|    B_ij: whether record j is in cluster i
        sum_i B_ij = 1                      each record in one cluster
        k <= sum_j B_ij <= 2k - 1           more would be two clusters; k or k + 1 with `sizes: equal`
        sum_(j of v) B_ij <= alpha N_v / c  N_v: the records with sensitive value v; c: the clusters

    |x - y| is the Manhattan distance of standardized columns. For given centers this is a min-cost flow, which is
    solved exactly and proved by a dual bound; centers then move to the medians of their clusters, and so on, until
    nothing is gained. Where a subject is declared, people are clustered, each with all of his or her records.

    Above `blocks_above` people or records, rounds are made in blocks of neighbours. `cost` in `internal/search.json`
    is the sum of distances to the centers of the last assignment, `bound` what no other assignment to them can go
    below; recipients are not told, since originals that one release may have differ in it.

    Aminifar, Rabbi, Pun and Lamo 2021, Diversity-aware anonymization for structured health data.
    """

    name: ClassVar[str] = "diversity-aware"
    leaves_open: ClassVar[str] = (
        "What is published for a cluster, such as a mean, belongs to all its records: it tells of each of them "
        "what is usual in the cluster, the sensitive value up to its share."
    )
    needs_k: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    guards_sensitive: ClassVar[bool] = True

    diversity: Annotated[
        bool, Field(description="Cap sensitive values; false is the paper's comparison, equal sizes alone.")
    ] = True
    attribute: Annotated[
        str | None, Field(description="The sensitive attribute that is capped; needed where there are several.")
    ] = None
    sensitive_value: Annotated[
        bool | int | float | str | None, Field(description="The one value that is capped (default: all).")
    ] = None
    alpha: Annotated[
        int | float | str | None,
        Field(
            description="How far a cluster may exceed the even share of a value, such as 1.2 or 6/5; by default, "
            "each value has the least cap that can be kept."
        ),
    ] = None
    caps: Annotated[
        Literal["upper", "both"],
        Field(description="upper: at most the cap, as in the paper; both: at least the even share, rounded down, too."),
    ] = "upper"
    excess: Annotated[
        Literal["refuse", "minimize"],
        Field(description="What happens to an alpha that cannot be kept: an error, or the least excess, reported."),
    ] = "refuse"
    sizes: Annotated[
        Literal["at-least-k", "equal"],
        Field(description="at-least-k: clusters of k to 2k - 1 where that costs less; equal: of k and k + 1."),
    ] = "at-least-k"
    distance: Annotated[
        Literal["standardized", "manhattan"],
        Field(description="Manhattan distance of standardized columns, or of the columns as they are."),
    ] = "standardized"
    rounds: Annotated[
        int, Field(ge=1, description="The most rounds of assigning records and moving centers; 1 as in the paper.")
    ] = 50
    starts: Annotated[
        int | None,
        Field(
            ge=1,
            description="How many first groupings are tried, of which the cheapest result is taken; by default, up "
            "to 200, and up to 10,000 records in all. Above `blocks_above` there is one.",
        ),
    ] = None
    solver: Annotated[
        Literal["flow", "milp"],
        Field(description="Min-cost flow, or the paper's mixed-integer program, for small tables."),
    ] = "flow"
    publish: Annotated[
        Literal["means", "ranges"],
        Field(description="means, as in the paper; or the ranges [low-high] and sets that a cluster fills."),
    ] = "means"
    categories: Annotated[
        Literal["mode", "shares"],
        Field(description="What stands for the mean of a category: the most frequent value, or each value's share."),
    ] = "mode"
    digits: Annotated[
        int | None,
        Field(
            ge=0,
            le=15,
            description="Decimals of published means; by default, as few as move none by more than a hundredth of "
            "its column's standard deviation.",
        ),
    ] = None
    blocks_above: Annotated[
        int, Field(ge=1, description="Above this many people or records, rounds are made in blocks of neighbours.")
    ] = 10_000
    whole_up_to: Annotated[
        int, Field(ge=1, description="Up to this many, all are assigned as a whole at the end, with a proved bound.")
    ] = 100_000

    @field_validator("alpha")
    @classmethod
    def _alpha_is_a_positive_number(cls, given: float | str | None) -> float | str | None:
        try:
            sensible = given is None or (not _HUGE.search(str(given)) and Fraction(str(given)) > 0)
        except (ValueError, ZeroDivisionError):
            sensible = False
        if not sensible:
            raise ValueError("'alpha' is a number above 0, such as 1.2 or 6/5")
        return given

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "which people of a population a cluster's mean covers is not known"
        leveled = [name for name in problem.cells.quasi if _is_leveled(problem, name)]
        if leveled:
            return (
                f"'{leveled[0]}' has a top or bottom code, a min_level or a max_level, and cluster means have no levels"
            )
        sensitive = problem.schema.sensitive
        if self.diversity and self.attribute is None and len(sensitive) != 1:
            if not sensitive:
                return "there is no sensitive attribute to spread; 'diversity: false' makes equal clusters alone"
            return f"there are {len(sensitive)} sensitive attributes, and 'attribute' does not say which one to spread"
        if (
            self.diversity
            and self.sensitive_value is None
            and _has_people_of_several_values(problem, self._about(problem))
        ):
            return "some people have several sensitive values: name the one to cap in 'sensitive_value'"
        return super().why_not(problem)

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:
        # What clusters cost is computed from the values of the original: recipients are not told.
        made: list[Figure] = (
            [Remark(gap_in_words({**reported, **internal["search"]}))] if internal.get("search") else []
        )
        costs = internal.get("clusters", {}).get("costs", [])
        if len(costs) > 1:
            places = sorted({*range(0, len(costs), -(-len(costs) // MOST_STEPS)), len(costs) - 1})
            made.append(
                BarFigure(
                    "How clusters became tighter",
                    "The sum of all distances to the centers, step by step: records are assigned, then centers are "
                    "moved.",
                    "step",
                    [f"step {place + 1}" for place in places],
                    {"distance": [float(costs[place]) for place in places]},
                    unit="number",
                )
            )
        return made

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        reason = self.why_not(problem)
        if reason is not None:
            raise PolicyError(f"The method 'diversity-aware' does not fit: {reason}.", "Change it, or the policy.")
        units = read_units(problem)
        columns = read_columns(problem, units)
        points = make_distances(columns, standardized=self.distance == "standardized")
        values, caps_of = self._spread(problem, units)
        clusters = number_of_clusters(units.count, problem.k)
        if self.solver == "milp" and units.count * clusters > _MILP_VARIABLES:
            raise PolicyError(
                f"The solver 'milp' takes up to {_MILP_VARIABLES:,} pairs of a record and a cluster, not "
                f"{units.count * clusters:,}.",
                "Leave 'solver' out: the flow finds the same optimum.",
            )
        effort = Effort(self.rounds, self.starts, self.blocks_above, self.whole_up_to, by_milp=self.solver == "milp")
        ways = ("at-least-k", "equal") if self.sizes == "at-least-k" else ("equal",)
        with Solvers() as solvers:
            for way in ways:
                if way == "equal":
                    caps = caps_of(None)
                    found = cluster_points(points, values, caps, effort, solvers, run)
                else:
                    found, caps = cluster_at_least(points, values, caps_of, problem.k, effort, solvers, run)
                run.step(Stage.SEARCH, None, "Writing clusters")
                labels = [self._publish(column, units, found.cluster, caps.clusters) for column in columns]
                published = read_published(problem, units, labels, found.cluster)
                try:
                    require(published)
                    break
                except UnreachableError:  # shares vary less among clusters of one size
                    if way == ways[-1]:
                        raise
        reached = figures(published)
        by_record = found.cluster[units.of_record]
        draft = problem.draft_rows(
            [label.by_record(by_record) for label in labels],
            np.ones(len(by_record), dtype=np.bool_),
            self.description(**_report(found, caps, self.diversity), privacy=reached),
            internal={
                "search": {
                    "cost": found.cost,
                    "bound": found.bound,
                    "gap": found.gap,
                    "measured_gap": found.measured_gap,
                    "rounds": (len(found.costs) + 1) // 2,
                },
                "clusters": {"costs": list(found.costs), "sizes": np.bincount(np.bincount(found.cluster)).tolist()},
            },
        )
        forms = {column.name: self._form(column) for column in columns}
        return replace(
            draft,
            promises=[*draft.promises, *stated(problem, reached)],
            attributes=[replace(told, form=forms.get(told.name)) for told in draft.attributes],
        )

    def _about(self, problem: Problem) -> str:
        if self.attribute is None:
            return problem.schema.sensitive[0]
        if self.attribute not in problem.schema.sensitive:
            raise PolicyError(
                f"The method spreads '{self.attribute}', which does not have the role sensitive.",
                did_you_mean(self.attribute, problem.schema.sensitive),
            )
        return self.attribute

    def _spread(self, problem: Problem, units: Units) -> tuple[NDArray[np.int32], Callable[[int | None], Caps]]:
        """The capped value of each unit, and the caps of so many clusters of at least k; None: of equal ones."""
        k = problem.k
        if not self.diversity:
            free = np.zeros(units.count, dtype=np.int32)
            return free, lambda c: even_caps(units.count, k, clusters=c, at_least=c is not None)
        name = self._about(problem)
        codes, domain = problem.cells.sensitive[name][problem.cell_of_row], problem.cells.domains[name]
        if self.sensitive_value is None:
            values, number = units.first(codes), len(domain)
            capped = [True] * number
        else:
            has_it = np.asarray(codes == _code_of(self.sensitive_value, domain, name))
            values, number, capped = units.any(has_it).astype(np.int32), 2, [False, True]
        counts = [int(count) for count in np.bincount(values, minlength=number)]
        return values, lambda c: make_caps(
            counts,
            k,
            None if self.alpha is None else Fraction(str(self.alpha)),
            capped=capped,
            both=self.caps == "both",
            minimize_excess=self.excess == "minimize",
            clusters=c,
            at_least=c is not None,
        )

    def _publish(self, column: UnitColumn, units: Units, cluster: NDArray[np.int32], clusters: int) -> Labels:
        if self.publish == "ranges":
            return ranges(column, units, cluster, clusters)
        if self.categories == "shares" and column.numbers is None:
            return shares(column, cluster, clusters)
        return means(column, cluster, clusters, self.digits)

    def _form(self, column: UnitColumn) -> str | None:
        if self.publish == "ranges":
            return None
        if column.numbers is not None:
            return "means"
        return "shares" if self.categories == "shares" else "most frequent values"


def _report(found: Clustering, caps: Caps, diversity: bool) -> dict[str, Any]:
    """What recipients may know of how the clusters were made: what the published table tells too."""
    sizes = np.bincount(found.cluster, minlength=caps.clusters)
    return {
        "clusters": caps.clusters,
        "sizes": [int(size) for size in (sizes.min(), sizes.max())],
        **({"least_alpha": str(caps.alpha), "excess": caps.excess} if diversity else {}),
    }


def _code_of(wanted: bool | float | str, domain: Domain, column: str) -> int:
    """The code of a value that the policy names; YAML reads true and false as truths, the data hold them as words."""
    text = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    if not isinstance(wanted, bool | str):
        # A column of two numbers may be read as categories: then the number is meant, however it is spelled.
        spelled = [v for v in domain.values if v is not None and read_number(v) == read_number(text)]
        text = spelled[0] if len(spelled) == 1 else text
    try:
        (value,) = canonical([text], domain.kind, column)
        return domain.values.index(value)
    except (InputError, ValueError):
        raise PolicyError(
            f"The 'sensitive_value' does not occur in column '{column}'.", "Write it exactly as in the data, in quotes."
        ) from None


def _is_leveled(problem: Problem, name: str) -> bool:
    height = problem.hierarchies[name].height
    return problem.min_levels.get(name, 0) > 0 or problem.max_levels.get(name, height) < height


def _has_people_of_several_values(problem: Problem, attribute: str) -> bool:
    subjects = problem.cells.subjects
    if subjects is None:
        return False
    values = np.repeat(problem.cells.sensitive[attribute], np.diff(subjects.offsets))
    pairs = np.unique(np.stack([subjects.codes.astype(np.int64), values.astype(np.int64)]), axis=1)
    return bool(np.bincount(pairs[0]).max(initial=0) > 1)


def gap_in_words(method: Mapping[str, Any]) -> str:
    """What clusters cost, and how near that is to the least for their centers: proved, or measured on samples."""
    cost, bound, measured = method["cost"], method["bound"], method["measured_gap"]
    begun = f"{method['clusters']:,} clusters of cost {cost:.6g}"
    if bound is not None:
        above = (cost - bound) / cost if cost > bound else 0.0
        return f"{begun}; to the same centers none cost less than {bound:.6g}: at most {above:.1e} of it too much."
    return f"{begun}; in samples, no assignment to the same centers saves more than {measured:.2%} of it."
