"""Days, months, quarters, years, decades."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator

from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import MOST_LEAVES, HierarchySpec, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

Period = Literal["day", "week", "month", "quarter", "year", "decade"]
Days = NDArray[np.int64]
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
EPOCH = dt.date(1970, 1, 1).toordinal()
ORDER = ("day", "week", *MONTHS)


def number_of(days: Days, period: str) -> Days:
    """The period's number that each day (since 1970) lies in, counted from the start of 1970; ISO weeks by Mondays."""
    if period == "week":
        return (days + 3) // 7
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return (months + 1970 * 12) // MONTHS[period] - 1970 * 12 // MONTHS[period]


def first_day(number: Days, period: str) -> Days:
    """The first day of a period, in days since 1970."""
    if period == "week":
        return number * 7 - 3
    months = (number + 1970 * 12 // MONTHS[period]) * MONTHS[period] - 1970 * 12
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def label(day: dt.date, period: str) -> str:
    """What is published for the period that begins on this day.

    >>> [label(dt.date(2020, 1, 6), period) for period in ("week", "month", "quarter", "year", "decade")]
    ['2020-W02', '2020-01', '2020-Q1', '2020', '2020s']
    """
    if period == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return {
        "month": f"{day.year:04d}-{day.month:02d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04d}",
        "decade": f"{day.year // 10 * 10:04d}s",
    }[period]


class Dates(HierarchySpec):
    """Periods of growing length. The days themselves are level 0, so `day` as the first level adds none.

    Coverage is counted in days of the domain: a period at its edge covers only the days within. Without a declared
    domain it reaches over the whole periods of the first level that hold the data.

    A `bottom` code makes one group `<1937` of all days before that year, from level 1 on; where decades are published
    it moves to the end of the decade that it lies in: `<1940`.
    """

    name: ClassVar[str] = "dates"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.DATE,)

    type: Literal["dates"] = "dates"
    levels: Annotated[
        tuple[Period, ...],
        describe("The periods from short to long: day, month, quarter, year, decade; or week alone."),
    ] = ("month", "quarter", "year")
    domain: Annotated[tuple[dt.date, dt.date] | None, describe("The first and the last possible day.")] = None
    bottom: Annotated[int | None, describe("Days before this year are one group, such as `<1937`.", ge=1, le=9999)] = (
        None
    )

    @property
    def least_level(self) -> int:
        return int(self.bottom is not None)

    @field_validator("levels")
    @classmethod
    def _nested(cls, levels: tuple[Period, ...]) -> tuple[Period, ...]:
        if not levels:
            raise ValueError("Name at least one level, such as month.")
        if any(ORDER.index(lower) >= ORDER.index(upper) for lower, upper in itertools.pairwise(levels)):
            raise ValueError(f"The levels must go from short to long, each once: {', '.join(ORDER)}.")
        if "week" in levels and levels[-1] != "week":
            raise ValueError(
                "Weeks do not nest in months, quarters, years or decades: some lie in two of them. "
                "Use week as the last level, or leave it out."
            )
        return levels

    @field_validator("domain")
    @classmethod
    def _ordered(cls, domain: tuple[dt.date, dt.date] | None) -> tuple[dt.date, dt.date] | None:
        if domain is not None and domain[0] > domain[1]:
            raise ValueError("The domain ends before it begins. Write the earlier day first.")
        return domain

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        numbers = domain.numbers
        known = ~np.isnan(numbers)
        periods = [period for period in self.levels if period != "day"]
        low, high = self._ends(numbers[known].astype(np.int64), periods)
        known[known] = (numbers[known] >= low) & (numbers[known] <= high)
        days = numbers[known].astype(np.int64)
        drafts = []
        for period in periods:
            year = self._bottom_year(period)
            # Days before the bottom code count as if they were all on the day before it.
            edge = low if year is None else dt.date(year, 1, 1).toordinal() - EPOCH
            moved = days if year is None else np.maximum(days, edge - 1)
            present, inverse = np.unique(number_of(moved, period), return_inverse=True)
            groups = np.full(len(domain), -1, dtype=np.int64)
            groups[known] = inverse.reshape(-1)
            begin, end = first_day(present, period), first_day(present + 1, period)
            coded = (end <= edge) & (year is not None)
            starts = begin.astype("datetime64[D]").tolist()
            labels = [f"<{year:04d}" if old else label(start, period) for start, old in zip(starts, coded, strict=True)]
            covered = np.minimum(end, high + 1) - np.maximum(np.where(coded, low, begin), low)
            drafts.append(HierarchyDraft(groups, labels, covered.astype(np.float64)))
        return assemble(self, domain, column, drafts, known, high - low + 1.0)

    def _bottom_year(self, period: Period) -> int | None:
        """The year before which days are one group at a level: where a period of the level begins."""
        if self.bottom is None or period != "decade":
            return self.bottom
        return -(-self.bottom // 10) * 10

    def _ends(self, days: Days, periods: Sequence[Period]) -> tuple[int, int]:
        """The first and the last day of the domain."""
        if self.domain is not None:
            low, high = (end.toordinal() - EPOCH for end in self.domain)
            return low, high
        if not len(days):
            return 0, 0
        ends = np.array([days.min(), days.max()])
        if not periods:
            return int(ends[0]), int(ends[1])
        first, last = number_of(ends, periods[0])
        edges = first_day(np.array([first, last + 1]), periods[0])
        return int(edges[0]), int(edges[1]) - 1

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        if self.domain is None:
            return None
        low, high = (end.toordinal() for end in self.domain)
        if high - low >= MOST_LEAVES:
            return None
        return [dt.date.fromordinal(day).isoformat() for day in range(low, high + 1)]
