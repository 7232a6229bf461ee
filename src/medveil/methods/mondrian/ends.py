"""Where the published ranges of an ordered attribute may end: at declared cuts, or at round places between values.

An end that is the smallest or largest value of a class is somebody's own value.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Level
from medveil.hierarchy.numberline import roundest_between
from medveil.table.domain import read_number
from medveil.table.labels import Span, parse_label, range_label, span_label
from medveil.table.schema import Kind

Floats = NDArray[np.float64]
REACH = 0.1
"""The share of the column's span by which an end may lie off the outermost value of a class, within its gap."""


@dataclass(frozen=True)
class Ends:
    """For each code, where a range that begins or ends with it does so: the text, and the place on the line.

    low: None where the range is open below. high: the same above; `closed`: whether it includes its end.
    alone: how far each code reaches by itself: a value nowhere, a group from its start to its end.
    """

    low: tuple[str | None, ...]
    high: tuple[str | None, ...]
    closed: tuple[bool, ...]
    starts: Floats
    stops: Floats
    alone: Floats
    numeric: bool

    def label(self, first: int, last: int) -> str:
        """The range from one code to another."""
        low, high = self.low[first], self.high[last]
        if self.numeric or low is None or high is None:
            return span_label(low, high, high_closed=self.closed[last])
        return range_label(low, high, numeric=False)


def find_ends(kind: Kind, texts: Sequence[str], numbers: Floats, first: Level | None) -> Ends:
    """The ends of ranges over codes, which stand in their order.

    texts, numbers: the value of each code, and its place on the line; first: the hierarchy's first level above the
    codes, over them. Where its groups are ranges of numbers, ranges end where they do; elsewhere between neighbours.
    """
    if first is not None and kind is Kind.NUMBER:
        declared = declared_ends([first.labels[first.groups[code]] for code in range(len(texts))])
        if declared is not None:
            return replace(declared, alone=np.zeros(len(texts)))
    if kind is Kind.NUMBER:
        return _rounded_numbers(numbers)
    if kind is Kind.DATE:
        return _rounded_days(numbers)
    # Codes have an order, but nothing between them.
    return Ends(tuple(texts), tuple(texts), (True,) * len(texts), numbers, numbers, np.zeros(len(texts)), numeric=False)


def declared_ends(labels: Sequence[str | None]) -> Ends | None:
    """The ends of groups that are ranges of numbers, by their labels; None where one of them is not."""
    spans = [span for label in labels if (span := _span(label)) is not None]
    if len(spans) < len(labels) or not spans:
        return None
    known = [float(end) for span in spans for end in (span.low, span.high) if end is not None]
    lowest, highest = min(known), max(known)
    starts = np.array([lowest if span.low is None else float(span.low) for span in spans])
    stops = np.array([highest if span.high is None else float(span.high) for span in spans])
    return Ends(
        tuple(span.low for span in spans),
        tuple(span.high for span in spans),
        tuple(span.high_closed for span in spans),
        starts,
        stops,
        stops - starts,
        numeric=True,
    )


def _span(label: str | None) -> Span | None:
    """The one range of numbers that a label stands for; a number is a range of its own."""
    if label is None:
        return None
    cover = parse_label(label)
    if len(cover.spans) == 1:
        return cover.spans[0] if cover.spans[0].numeric else None
    number = read_number(label)
    return None if number is None or cover.spans else Span(number, number)


def _rounded_numbers(numbers: Floats) -> Ends:
    """Round numbers from each value outwards, before the next value and not far off."""
    reach = REACH * float(numbers[-1]) - REACH * float(numbers[0]) if len(numbers) else 0.0
    with np.errstate(over="ignore"):  # beyond the largest number is as far as one can look
        below = np.maximum(np.concatenate([[-np.inf], numbers[:-1]]), np.nextafter(numbers - reach, -np.inf))
        above = np.minimum(np.concatenate([numbers[1:], [np.inf]]), np.nextafter(numbers + reach, np.inf))
    starts = [roundest_between(low, value) for low, value in zip(below.tolist(), numbers.tolist(), strict=True)]
    stops = [-roundest_between(-high, -value) for high, value in zip(above.tolist(), numbers.tolist(), strict=True)]
    whole = bool(np.all(np.mod(numbers, 1) == 0))
    return Ends(
        tuple(_text(number, whole=whole) for number in starts),
        tuple(_text(number, whole=whole) for number in stops),
        (True,) * len(numbers),
        np.array(starts, dtype=np.float64),
        np.array(stops, dtype=np.float64),
        np.zeros(len(starts)),
        numeric=True,
    )


def _text(number: float, *, whole: bool) -> str:
    return str(int(number)) if whole else repr(number + 0.0)


def _rounded_days(days: Floats) -> Ends:
    """The first or last day of a year, else of a month, from each day outwards and before the next day of the data."""
    numbers = [int(day) for day in days]
    reach = int(REACH * (numbers[-1] - numbers[0])) if numbers else 0
    starts, stops = [], []
    for place, day in enumerate(numbers):
        before = max(numbers[place - 1] + 1 if place else day - reach, day - reach)
        after = min(numbers[place + 1] - 1 if place + 1 < len(numbers) else day + reach, day + reach)
        date = _date(day)
        firsts = [_day(date.replace(month=1, day=1)), _day(date.replace(day=1))]
        lasts = [_day(date.replace(month=12, day=31)), _last_of_month(date)]
        starts.append(next((first for first in firsts if first >= before), day))
        stops.append(next((last for last in lasts if last <= after), day))
    return Ends(
        tuple(_date(day).isoformat() for day in starts),
        tuple(_date(day).isoformat() for day in stops),
        (True,) * len(numbers),
        np.array(starts, dtype=np.float64),
        np.array(stops, dtype=np.float64),
        np.zeros(len(starts)),
        numeric=False,
    )


_EPOCH = dt.date(1970, 1, 1)


def _date(day: int) -> dt.date:
    return _EPOCH + dt.timedelta(days=day)


def _day(date: dt.date) -> int:
    return (date - _EPOCH).days


def _last_of_month(date: dt.date) -> int:
    if date.month == 12:
        return _day(date.replace(day=31))
    return _day(date.replace(month=date.month + 1, day=1)) - 1
