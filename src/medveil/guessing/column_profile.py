"""What is counted of a column before anybody guesses what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from medveil.guessing.values import Pattern, are_numbers, are_whole, find_kind, shares_of_patterns
from medveil.table.domain import read_number
from medveil.table.schema import Kind

SAMPLE = 2_000
"""As many distinct values as a sample needs."""


@dataclass(frozen=True)
class ColumnProfile:
    """What was counted of one column. `sample` are distinct values that are not missing, all or some thousand; like the
    least and greatest number they are values of people, and not shown.
    """

    name: str
    rows: int
    distinct: int
    missing: int
    sample: Sequence[str] = field(repr=False)
    longest: int = 0
    average_length: float = 0.0
    lowest: float | None = field(default=None, repr=False)
    highest: float | None = field(default=None, repr=False)

    @property
    def present(self) -> int:
        """The records with a value."""
        return self.rows - self.missing

    @property
    def uniqueness(self) -> float:
        """Distinct values per record with a value: 1 where every record has its own."""
        return self.distinct / self.present if self.present else 0.0

    @cached_property
    def kind(self) -> Kind:
        """The kind that the values alone speak for."""
        return find_kind(self.sample)

    @cached_property
    def are_numbers(self) -> bool:
        return are_numbers(self.sample)

    @cached_property
    def are_whole(self) -> bool:
        return self.are_numbers and are_whole(self.sample)

    @cached_property
    def patterns(self) -> Mapping[Pattern, float]:
        """The share of the values that look like each kind of identifier."""
        return shares_of_patterns(self.sample)


def profile(name: str, values: Iterable[str | None]) -> ColumnProfile:
    """The profile of a column that is at hand; None is missing. Larger tables are counted by the engine instead."""
    listed = list(values)
    present = [value for value in listed if value is not None]
    distinct = sorted(set(present))
    sample = distinct[:: max(1, len(distinct) // SAMPLE)]
    numbers = [float(number) for value in distinct if (number := read_number(value)) is not None]
    return ColumnProfile(
        name=name,
        rows=len(listed),
        distinct=len(distinct),
        missing=len(listed) - len(present),
        sample=sample,
        longest=max(map(len, present), default=0),
        average_length=sum(map(len, present)) / len(present) if present else 0.0,
        lowest=min(numbers, default=None),
        highest=max(numbers, default=None),
    )
