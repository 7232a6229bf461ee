"""A first hierarchy for a column, for the steward to look at and change."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass

import numpy as np

from medveil.hierarchy.dates import Dates, Period
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.mask import ALPHABETS, Mask
from medveil.hierarchy.numberline import present
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.domain import Domain
from medveil.table.schema import Kind

FEW = 6
"""As many distinct values need no levels between them and the root."""
FIRST_INTERVALS = 20
"""About how many intervals the first level should have."""
OLDEST = 119
DAYS_OF_A_QUARTER = 92
DAYS_OF_TWENTY_YEARS = 20 * 366


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a proposal rests on. `lowest` and `highest`: of numbers, or of dates in days, where they are known;
    `whole`: that all numbers are; `lengths` and `characters`: those of the texts; `concept`: what the column is about,
    a word such as `zip`, where its name says so.
    """

    kind: Kind
    distinct: int
    lowest: float | None
    highest: float | None
    whole: bool
    lengths: frozenset[int]
    characters: frozenset[str]
    concept: str = ""

    @property
    def span(self) -> float | None:
        return None if self.lowest is None or self.highest is None else self.highest - self.lowest


def facts_of(domain: Domain, concept: str = "") -> ColumnFacts:
    """The facts of a column all of whose values are at hand."""
    counted = domain.kind in {Kind.NUMBER, Kind.DATE} and bool(domain.present)
    numbers = present(domain.numbers) if counted else np.empty(0)
    return ColumnFacts(
        kind=domain.kind,
        distinct=len(domain.present),
        lowest=float(numbers.min()) if counted else None,
        highest=float(numbers.max()) if counted else None,
        whole=bool(np.all(np.mod(numbers, 1) == 0)),
        lengths=frozenset(map(len, domain.present)),
        characters=frozenset("".join(domain.present)),
        concept=concept,
    )


def propose(facts: ColumnFacts, *, declare_domain: bool) -> HierarchySpec | None:
    """Intervals for numbers, periods for dates, a mask for codes of one length, and otherwise nothing.

    None: nothing is worth having between a value and `*`. With `declare_domain` intervals come with round ends between
    which the data lie; without it nothing but rounded widths is taken from the data. Zip codes and dates identify
    people however few there are.
    """
    if facts.kind is Kind.DATE:
        return _dates(facts)
    if facts.concept == "zip":
        return _mask(facts)
    if facts.distinct <= FEW:
        return None
    return _intervals(facts, declare_domain=declare_domain) if facts.kind is Kind.NUMBER else _mask(facts)


def nice_width(span: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least span / 20.

    >>> [nice_width(span) for span in (100, 73, 400, 1, 0.3, 110)]
    [5, 5, 20, 0.05, 0.02, 10]
    """
    target = span / FIRST_INTERVALS
    power = math.floor(math.log10(target) + 1e-9)
    factor = next(factor for factor in (1, 2, 5, 10) if factor * 10.0**power >= target * (1 - 1e-9))
    return factor * 10**power if power >= 0 else round(factor * 10.0**power, -power)


def _intervals(facts: ColumnFacts, *, declare_domain: bool) -> HierarchySpec | None:
    """Four widths, each twice the one before, over a domain with round ends that holds the data."""
    least, greatest = facts.lowest, facts.highest
    if least is None or greatest is None or not 1e-9 < greatest - least < 1e15:
        return None
    if facts.concept.startswith("age") and least >= 0 and greatest <= OLDEST and facts.whole:
        return _ages(greatest, coded=facts.concept == "age-over-89")
    width = nice_width(greatest - least + (1 if facts.whole else 0))
    if facts.whole:
        width = max(int(width), 2)
    # Small positive numbers, such as ages, lengths of stay and doses, are counted from 0.
    grid = 2 * width
    low = 0 if 0 <= least <= (greatest - least) / 2 else math.floor(least / grid) * grid
    steps = math.floor((greatest - low) / grid) + 1
    high = low + steps * grid - (1 if facts.whole else 0)
    widths = [width * factor for factor in (1, 2, 4, 8) if width * factor < high - low]
    if not facts.whole:
        places = max(-math.floor(math.log10(width)), 0)
        low, high, widths = round(low, places), round(high, places), [round(one, places) for one in widths]
    return Intervals(domain=(low, high), widths=tuple(widths)) if declare_domain else Intervals(widths=tuple(widths))


def _ages(greatest: float, *, coded: bool) -> HierarchySpec:
    """Ages in the same groups everywhere; where some are over 89, those are one group (HIPAA Safe Harbor)."""
    domain, widths = (0, 99 if greatest <= 99 else OLDEST), (5, 10, 20, 40)
    return Intervals(domain=domain, widths=widths, top=90) if coded else Intervals(domain=domain, widths=widths)


def _dates(facts: ColumnFacts) -> HierarchySpec:
    levels: tuple[Period, ...] = ("month", "quarter", "year")
    if facts.concept == "birth" or (facts.span or 0) > DAYS_OF_TWENTY_YEARS:
        levels = ("month", "year", "decade")
    elif facts.span is not None and facts.span < DAYS_OF_A_QUARTER:
        levels = ("week",)
    return Dates(levels=levels)


def _mask(facts: ColumnFacts) -> HierarchySpec | None:
    """A mask where every value has the same length and one small alphabet; words that merely have are left alone."""
    if len(facts.lengths) == 1 and 3 <= min(facts.lengths) <= 16 and facts.characters & set(string.digits):
        if facts.characters <= set(ALPHABETS["digits"]):
            return Mask(length=min(facts.lengths))
        if facts.characters <= set(ALPHABETS["alphanumeric"]):
            return Mask(length=min(facts.lengths), alphabet="alphanumeric")
    return None
