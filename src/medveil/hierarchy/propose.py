"""A first hierarchy for a column, for the steward to look at and change."""

from __future__ import annotations

import math
import string

import numpy as np

from medveil.hierarchy.dates import Dates, Period
from medveil.hierarchy.flat import Flat
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


def propose(domain: Domain, column: str) -> HierarchySpec:  # noqa: ARG001
    """Intervals for numbers, periods for dates, a mask for codes of one length, and otherwise the value and `*`."""
    if len(domain.present) <= FEW:
        return Flat()
    if domain.kind is Kind.NUMBER:
        return _intervals(domain)
    if domain.kind is Kind.DATE:
        return _dates(domain)
    return _mask(domain) or Flat()


def nice_width(span: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least span / 20.

    >>> [nice_width(span) for span in (100, 73, 400, 1, 0.3, 110)]
    [5, 5, 20, 0.05, 0.02, 10]
    """
    target = span / FIRST_INTERVALS
    power = math.floor(math.log10(target) + 1e-9)
    factor = next(factor for factor in (1, 2, 5, 10) if factor * 10.0**power >= target * (1 - 1e-9))
    return factor * 10**power if power >= 0 else round(factor * 10.0**power, -power)


def _intervals(domain: Domain) -> HierarchySpec:
    """Four widths, each twice the one before, over a domain with round ends that holds the data."""
    numbers = present(domain.numbers)
    least, greatest = float(np.min(numbers)), float(np.max(numbers))
    whole = bool(np.all(np.mod(numbers, 1) == 0))
    width = nice_width(greatest - least + (1 if whole else 0))
    if whole:
        width = max(int(width), 2)
    # Small positive numbers, such as ages, lengths of stay and doses, are counted from 0.
    grid = 2 * width
    low = 0 if 0 <= least <= (greatest - least) / 2 else math.floor(least / grid) * grid
    steps = math.floor((greatest - low) / grid) + 1
    high = low + steps * grid - (1 if whole else 0)
    widths = [width * factor for factor in (1, 2, 4, 8) if width * factor < high - low]
    if not whole:
        places = max(-math.floor(math.log10(width)), 0)
        low, high, widths = round(low, places), round(high, places), [round(one, places) for one in widths]
    return Intervals(domain=(low, high), widths=tuple(widths))


def _dates(domain: Domain) -> HierarchySpec:
    days = present(domain.numbers)
    span = float(np.max(days) - np.min(days))
    levels: tuple[Period, ...] = ("month", "quarter", "year")
    if span < 92:
        levels = ("week",)
    elif span > 20 * 366:
        levels = ("month", "year", "decade")
    return Dates(levels=levels)


def _mask(domain: Domain) -> HierarchySpec | None:
    """A mask where every value has the same length and one small alphabet; words that merely have are left alone."""
    values = domain.present
    lengths = {len(value) for value in values}
    characters = set("".join(values))
    if len(lengths) != 1 or not 3 <= min(lengths) <= 16 or not characters & set(string.digits):
        return None
    for name in ("digits", "alphanumeric"):
        if characters <= set(ALPHABETS[name]):
            return Mask(length=min(lengths), alphabet=name)
    return None
