"""The method: the paper's six parts, one after the other, and what makes its release hold what it promises."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.engine import with_rows
from medveil.engine.links import write_links
from medveil.errors import PolicyError
from medveil.hierarchy.flat import Range
from medveil.methods.fixed_interval.analysis import Rule, Spread, outliers
from medveil.methods.fixed_interval.attributes import EPOCH, Column
from medveil.methods.fixed_interval.classes import Ids, cut, order_rows, read_rows, split
from medveil.methods.fixed_interval.cleaning import Impossible, Missing, Records, clean, require
from medveil.methods.fixed_interval.intervals import ColumnIntervals, Statistic, ends_of, fit, make_grid
from medveil.methods.fixed_interval.making import MadeClasses, make, unknown_in
from medveil.methods.fixed_interval.promises import promises, published_attributes
from medveil.methods.fixed_interval.publication import (
    CODE_BOOK,
    INTERVALS,
    PublishedColumn,
    code_book,
    hand_out_ids,
    interval_table,
    publish_means,
    publish_sets,
)
from medveil.methods.fixed_interval.ranking import Normalization, rank
from medveil.methods.fixed_interval.selecting import FeatureSelection, redundant, select
from medveil.methods.fixed_interval.steward import account, accounted, class_table, picture
from medveil.methods.method import Method
from medveil.methods.problem import Problem, label_array
from medveil.release.draft import Draft
from medveil.release.figures import Figure
from medveil.release.status import Status
from medveil.run import Run, Stage
from medveil.table.schema import Kind

Count = Annotated[int, Field(ge=1)]
Width = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Threshold = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
DEFAULT_INTERVALS = 10
MOST_DECLARED = 10_000
"""A declared domain of more values is not written into the code book: the ids of those that occur are drawn."""


class FixedInterval(Method):
    """Similar records form classes; a class is published as interval means for its numbers and sets of ids for its
    categories, sensitive ones included. `codebook.csv` says which id stands for what, and on how many people each mean
    rests.

        w = (B - A) / N                 the width of a column's intervals, from A to B, N of them
        mean(G) = sum of x in G / n     what is published for a class whose own mean lies in interval G

    Records are ranked by the cosine similarity of their quasi-identifiers to the vector of ones and cut into classes of
    at least k people. Classes are joined with their neighbours where they fall short of k or another model, and
    intervals where fewer than `minimum_support` people are behind a mean. A model on some of the quasi-identifiers is
    required of whole classes: more than is asked for, and enough.

    Majeed 2018, Attribute-centric anonymization scheme for improving user privacy and utility of publishing e-health
    data.
    """

    name: ClassVar[str] = "fixed-interval"
    leaves_open: ClassVar[str] = (
        "Means and ids stand in place of values: someone who knows several people of a group may work out the value of "
        "the last one, and ids keep who has the same value as whom."
    )
    needs_k: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True

    intervals: Annotated[
        Count | dict[str, Count], Field(description="The number of intervals, or one for each column of numbers.")
    ] = DEFAULT_INTERVALS
    width: Annotated[
        Width | dict[str, Width] | None,
        Field(description="The width of the intervals, instead of their number; may be given by column."),
    ] = None
    threshold: Annotated[
        Threshold | dict[str, Threshold],
        Field(description="The paper's T: a class of a smaller range is widened; may be given by column. 0 is never."),
    ] = 0.0
    widen: Annotated[
        float,
        Field(gt=0, allow_inf_nan=False, description="A narrow class is widened to this many times the threshold."),
    ] = 1.0
    statistic: Annotated[
        Statistic | dict[str, Statistic],
        Field(
            description="What of an interval is published: its mean, its median, or in percent how many people have a "
            "lower number; may be given by column."
        ),
    ] = "mean"
    outliers: Annotated[
        Rule,
        Field(description="Records left out of their class: by Tukey's fences, by the modified z-score, or none."),
    ] = "none"
    minimum_support: Annotated[
        Count | None,
        Field(description="The fewest people behind each published mean (default: k; fewer than k is unsafe)."),
    ] = None
    missing: Annotated[
        Missing | dict[str, Missing], Field(description="Missing values: keep, drop or impute; may be given by column.")
    ] = "keep"
    ranges: Annotated[
        dict[str, tuple[Number, Number]],
        Field(
            default_factory=dict,
            description="The numbers that are possible, [low, high] by column; others are taken for missing.",
        ),
    ]
    rules: Annotated[
        tuple[Impossible, ...],
        Field(description="Impossible combinations, `when: {sex: M, pregnant: yes}`: their records are dropped."),
    ] = ()
    redundant: Annotated[
        Literal["keep", "drop"],
        Field(description="Records that repeat another of the same person in every published column: keep or drop."),
    ] = "keep"
    normalize: Annotated[
        Normalization,
        Field(description="The scale on which records are compared: as they are, by range, or standardized."),
    ] = "none"
    features: Annotated[
        FeatureSelection | None,
        Field(description="Publish only the quasi-identifiers that tell something of a target column."),
    ] = None
    codes_as_numbers: Annotated[
        tuple[str, ...],
        Field(description="Columns of codes such as 412-791 that are read as numbers, by their digits."),
    ] = ()

    @model_validator(mode="after")
    def _one_way_to_cut(self) -> FixedInterval:
        if self.width is not None and "intervals" in self.model_fields_set:
            by_column = [set(way) for way in (self.width, self.intervals) if isinstance(way, dict)]
            if len(by_column) < 2 or set.intersection(*by_column):
                raise ValueError("give intervals or width, not both for one column")
        return self

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "which people of a population a mean covers is not known"
        domains = problem.cells.domains
        if not any(
            domains[name].kind in {Kind.NUMBER, Kind.DATE} or name in self.codes_as_numbers
            for name in problem.cells.quasi
        ):
            return "no quasi-identifier is a number"
        for name in problem.cells.quasi:
            height = problem.hierarchies[name].height
            if problem.min_levels.get(name, 0) > 0 or problem.max_levels.get(name, height) < height:
                return f"the levels of '{name}' are limited or coded, but means and sets of ids have no levels"
        return super().why_not(problem)

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:  # noqa: ARG003
        return accounted(internal["fixed_interval"]) if "fixed_interval" in internal else []

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        reason = self.why_refused(problem)
        if reason is not None:
            raise PolicyError(f"The method '{self.name}' does not fit: {reason}.", "Choose another method.")
        run.step(Stage.SEARCH, 0.0, "Cleaning")
        records = clean(
            problem,
            ranges=self.ranges,
            rules=self.rules,
            missing=self.missing,
            codes_as_numbers=self.codes_as_numbers,
        )
        self._check_columns(records)
        run.step(Stage.SEARCH, 0.1, "Ranking")
        rows = read_rows(problem, records)
        left_out: list[str] = []
        if self.features is not None:
            records, left_out = select(problem, records, rows, self.features)
        repeated = redundant(problem, rows) if self.redundant == "drop" else np.zeros(len(rows.cells), dtype=np.bool_)
        ranking = rank(records, self.normalize)
        run.step(Stage.SEARCH, 0.3, "Forming classes")
        order, units = order_rows(rows, ranking, np.flatnonzero(records.kept[rows.cells] & ~repeated))
        class_of_row, number = cut(rows, order, units, problem.k)
        records, formed, cell_of_row = split(records, rows, class_of_row)
        if self.redundant == "drop":
            records = records.without(formed < 0, "redundant record")
        far_off = self._outliers(records, formed, number)
        far = np.logical_or.reduce([np.zeros(len(formed), dtype=np.bool_), *far_off.values()])
        records = records.without(far, "outlier")
        intervals: dict[str, ColumnIntervals] = {}
        ids = {
            column.name: hand_out_ids(column, records.kept, self._declared(problem, column.name), run.random)
            for column in records.attributes
            if not column.is_number
        }

        def publish(classes: Ids, number: int, spreads: Mapping[str, Spread]) -> dict[str, PublishedColumn]:
            run.step(Stage.SEARCH, 0.6, "Publishing classes")
            for column in records.attributes:
                if column.is_number and column.name not in intervals:
                    intervals[column.name] = self._intervals(problem, records, column)
            return {
                column.name: self._means(column, intervals[column.name], classes, number, spreads[column.name])
                if column.is_number
                else publish_sets(column, classes, number, ids[column.name])
                for column in records.attributes
            }

        made = make(problem, records, np.where(far, np.int32(-1), formed), number, publish)
        run.step(Stage.SEARCH, 0.8, "Preparing the release")
        status = Status.UNSAFE_MEANS if self._support(problem) < max(problem.k, 2) else Status.FOR_PUBLICATION
        internal = {
            "fixed_interval": {
                **account(records, made, intervals, self._threshold, status),
                "columns that tell too little of the target": left_out,
            },
            "classes": class_table(records, made, formed, far, self._threshold),
            "classes.svg": picture(records, made, formed, far_off, self.outliers),
        }
        return self._draft(problem, records, made, made.classes[cell_of_row], status, internal)

    def _by_column(self, given: Any, name: str, default: Any) -> Any:
        """A parameter that may be given by column."""
        return given.get(name, default) if isinstance(given, Mapping) else given

    def _threshold(self, name: str) -> float:
        return float(self._by_column(self.threshold, name, 0.0))

    def _statistic(self, name: str) -> Statistic:
        found: Statistic = self._by_column(self.statistic, name, "mean")
        return found

    def _support(self, problem: Problem) -> int:
        return problem.k if self.minimum_support is None else self.minimum_support

    def _check_columns(self, records: Records) -> None:
        """Refuse parameters by column that name none, or none of numbers."""
        numbers = [column.name for column in records.attributes if column.is_number]
        known = [column.name for column in records.attributes]
        for column in records.attributes:
            if column.is_number and column.written.date and self._statistic(column.name) == "percentage":
                raise PolicyError(
                    f"'{column.name}' holds dates, which are not published as percentages.",
                    "Give 'statistic' by column, such as {age: percentage}.",
                )
        for where in ("intervals", "width", "threshold", "statistic", "missing"):
            given = getattr(self, where)
            for name in given if isinstance(given, Mapping) else ():
                require(name, known, where)
                if name not in numbers and where != "missing":
                    raise PolicyError(
                        f"'{where}' names '{name}', whose values are not numbers.",
                        f"Declare '{name}' as 'type: number', or name it under 'codes_as_numbers'.",
                    )

    def _outliers(self, records: Records, classes: Ids, number: int) -> dict[str, NDArray[np.bool_]]:
        """The cells whose records stand far off their class, by the quasi-identifier in which they do."""
        counts = records.cells.counts
        return {
            column.name: outliers(self.outliers, column, classes, number, counts, self._threshold(column.name))
            for column in records.quasi
            if column.is_number
        }

    def _intervals(self, problem: Problem, records: Records, column: Column) -> ColumnIntervals:
        """The intervals of a column, from its declared ends, or from those of the data, which stay in the house."""
        declared = self.ranges.get(column.name) or declared_ends(problem, column.name)
        held = np.bincount(column.codes[records.kept], minlength=len(column.values)) > 0
        grid = make_grid(
            declared or ends_of(column, held),
            self._by_column(self.intervals, column.name, DEFAULT_INTERVALS),
            self._by_column(self.width, column.name, None),
            column.written.unit,
            column.name,
            declared=declared is not None,
        )
        return fit(column, records.cells, records.kept, grid, self._support(problem))

    def _declared(self, problem: Problem, name: str) -> list[str] | None:
        """The declared values of a category, unless they are too many for a code book."""
        specification = problem.specifications.get(name)
        values = specification.leaves(name, problem.workspace) if specification is not None else None
        return values if values is not None and len(values) <= MOST_DECLARED else None

    def _means(
        self, column: Column, intervals: ColumnIntervals, classes: Ids, number: int, found: Spread
    ) -> PublishedColumn:
        return publish_means(
            column,
            intervals,
            found,
            unknown_in(column, classes, number),
            statistic=self._statistic(column.name),
            threshold=self._threshold(column.name),
            widen=self.widen,
        )

    def _draft(
        self,
        problem: Problem,
        records: Records,
        made: MadeClasses,
        class_of_row: Ids,
        status: Status,
        internal: Mapping[str, Any],
    ) -> Draft:
        kept = class_of_row >= 0
        names = [column.name for column in records.attributes]
        statistics = {c.name: self._statistic(c.name) for c in records.attributes if c.is_number}
        published = [made.published[name] for name in names]
        # The last label of each column is the missing value: what became of a record that was left out.
        labels = [
            label_array(p.labels, np.where(kept, p.codes[class_of_row], np.int32(len(p.labels) - 1))) for p in published
        ]
        entries = [entry for p in published for entry in p.entries]
        support, parameters = self._support(problem), self.model_dump(mode="json")

        def links(path: Path) -> None:
            write_links(path, kept, pa.table(labels, names=names))
            pq.write_table(interval_table(entries), path.with_name(INTERVALS))

        told = {**parameters, "rules": len(self.rules), "minimum_support": support}
        return Draft(
            published=with_rows(problem.engine).publish_rows(
                names, labels, kept, problem.schema.plain, stars=problem.stars
            ),
            promises=promises(problem, records, support, parameters, statistics),
            attributes=published_attributes(problem, records, statistics),
            method={
                "name": self.name,
                "parameters": told,
                **({} if status is Status.FOR_PUBLICATION else {"warning": status.value}),
            },
            rows={"input": records.cells.records, "suppressed": int(np.count_nonzero(~kept))},
            companions={CODE_BOOK: code_book(entries)},
            internal=internal,
            links=links,
            status=status,
        )


def declared_ends(problem: Problem, name: str) -> tuple[float, float] | None:
    """The least and greatest value that the policy declares for a column, whatever the data hold; dates as days."""
    domain = getattr(problem.specifications.get(name), "domain", None)
    ends = domain.range if isinstance(domain, Range) else domain
    if not isinstance(ends, tuple) or len(ends) != 2:
        return None
    numbers = [float(end.toordinal() - EPOCH) if isinstance(end, dt.date) else end for end in ends]
    return (float(numbers[0]), float(numbers[1])) if all(isinstance(n, int | float) for n in numbers) else None
