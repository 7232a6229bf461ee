"""Where intervals begin and end: for each point, the start and the stop of the interval that it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.assemble import HierarchyDraft
from medveil.hierarchy.hierarchy import ROOT
from medveil.hierarchy.numberline import Ends, Floats, NumberLine, exact, number_text, roundest_between
from medveil.table.labels import range_label

Spans = tuple[Floats, Floats]
Cuts = Sequence[Sequence[float]]


@dataclass(frozen=True)
class SpanDraft:
    """A level, and whether it is a single group from one end of the domain to the other."""

    level: HierarchyDraft
    single: bool


def cut_spans(line: NumberLine, points: Floats, cuts: Sequence[float]) -> Spans:
    """Intervals that begin at the domain's start and at each cut."""
    position = np.searchsorted(np.array(cuts, dtype=np.float64), points, side="right")
    return np.array([line.low, *cuts])[position], np.array([*cuts, line.end])[position]


def width_spans(line: NumberLine, points: Floats, widths: Sequence[float], counted_from: Ends | None) -> list[Spans]:
    """Intervals of equal width, counted from the domain's start; where that is not declared, from a multiple of the
    widest width. Wider intervals are whole numbers of the narrowest ones, so rounding cannot undo the nesting.
    """
    narrow = exact(widths[0])
    anchor = exact(counted_from[0]) if counted_from else _multiple(exact(line.low), exact(widths[-1]), ROUND_FLOOR)
    index = _index(points, anchor, narrow)
    if not line.whole:
        # The last interval is closed: the domain's end does not begin another one.
        last = (exact(line.high) - anchor) / narrow
        index = np.minimum(index, int(last.to_integral_value(ROUND_CEILING)) - 1)
    levels = []
    for width in widths:
        ratio = int(exact(width) / narrow)
        group = index // ratio
        starts = _edges(group * ratio, anchor, narrow)
        stops = _edges((group + 1) * ratio, anchor, narrow)
        levels.append((starts, stops))
    return levels


def _multiple(number: Decimal, width: Decimal, rounding: str) -> Decimal:
    return (number / width).to_integral_value(rounding) * width


def _edges(index: NDArray[np.int64], anchor: Decimal, width: Decimal) -> Floats:
    """The numbers anchor + index * width, each rounded once: 3 * 0.1 is the number that is written 0.3.

    Both are whole numbers of the last decimal place in use, and dividing two whole numbers rounds once.
    """
    places = max(0, *(-int(number.normalize().as_tuple().exponent) for number in (anchor, width)))
    unit = Decimal(10) ** places
    return np.asarray((float(anchor * unit) + index * float(width * unit)) / float(unit), dtype=np.float64)


def _index(points: Floats, anchor: Decimal, width: Decimal) -> NDArray[np.int64]:
    """The number of the interval that each point lies in."""
    index = np.floor_divide(points - float(anchor), float(width)).astype(np.int64)
    # The quotient may be rounded over an edge; the edges themselves decide.
    index += points >= _edges(index + 1, anchor, width)
    index -= points < _edges(index, anchor, width)
    return index


def data_ends(
    numbers: Sequence[float], cuts: Cuts | None, widths: Sequence[float] | None, *, whole: bool
) -> tuple[float, float]:
    """The domain where none is declared: the data with the cuts, or the intervals of the first width that hold them."""
    every = [*numbers, *(cuts[0] if cuts else ())] or [0.0]
    low, high = float(min(every)), float(max(every))
    if widths is None:
        return low, high
    width = exact(widths[0])
    start = _multiple(exact(low), width, ROUND_FLOOR)
    stop = _multiple(exact(high), width, ROUND_FLOOR) + width
    return float(start), float(stop - 1 if whole else stop)


def quantile_cuts(
    numbers: Floats, counts: NDArray[np.int64] | None, groups: Sequence[int], ends: Ends | None
) -> list[list[float]]:
    """For each level the cuts between groups of about as many records; fewer where many share one value.

    The i-th of n - 1 cuts lies between the two values that divide the records most nearly at i/n, at the roundest
    number between them. A level's cuts are every so many of the first level's. Values outside a declared domain do
    not count.
    """
    low, high = ends or (-np.inf, np.inf)
    there = (numbers >= low) & (numbers <= high)
    values = numbers[there]
    weights = np.ones(len(values)) if counts is None else counts[there].astype(np.float64)
    before = np.cumsum(weights) - weights
    most = groups[0]
    if len(values) < 2:
        return [[] for _ in groups]
    wanted = np.arange(1, most) * (weights.sum() / most)
    after = np.clip(np.searchsorted(before, wanted), 1, len(values) - 1)
    nearer = (after > 1) & (wanted - before[after - 1] < before[after] - wanted)
    cuts = [roundest_between(float(values[at - 1]), float(values[at])) for at in after - nearer]
    return [sorted(set(cuts[most // few - 1 :: most // few])) for few in groups]


def draft_of(
    line: NumberLine,
    points: Floats,
    spans: Spans,
    codes: tuple[float | None, float | None],
    step: float,
    places: int,
    *,
    open_ended: bool,
) -> SpanDraft:
    """One level with its top and bottom groups. `points` are the known values, then the domain's ends, then codes.

    `open_ended`: the domain's ends are the data's own and must not stand in a label.
    """
    # A code that moved to the end of an interval which reaches beyond the domain stops with the domain.
    top = None if codes[0] is None else max(codes[0], line.low)
    bottom = None if codes[1] is None else min(codes[1], line.end)
    starts, stops = np.maximum(spans[0], line.low), np.minimum(spans[1], line.end)
    if bottom is not None:
        below = points < bottom
        starts, stops = np.where(below, line.low, np.maximum(starts, bottom)), np.where(below, bottom, stops)
    if top is not None:
        above = points >= top
        starts, stops = np.where(above, top, starts), np.where(above, line.end, np.minimum(stops, top))
    if top is not None and bottom is not None and bottom > top:
        starts, stops = np.full_like(starts, line.low), np.full_like(stops, line.end)
    begin, first, inverse = np.unique(starts, return_index=True, return_inverse=True)
    end = stops[first]
    inverse = inverse.reshape(-1).astype(np.int64)
    groups = np.full(len(line.known), -1, dtype=np.int64)
    groups[line.known] = inverse[: len(line.points)]

    open_ended = open_ended or top is not None or bottom is not None

    def text(low: float, high: float) -> str:
        if open_ended and low <= line.low and high >= line.end:
            return ROOT
        if top is not None and low >= top:
            return f"{number_text(top, places, whole=line.whole)}+"
        if bottom is not None and high <= bottom:
            return f"<{number_text(bottom, places, whole=line.whole)}"
        if line.whole:
            return range_label(str(int(low)), str(int(high) - 1), numeric=True)
        bracket = "]" if high >= line.end else ")"
        return f"[{number_text(low, places, whole=False)}-{number_text(high, places, whole=False)}{bracket}"

    labels = [text(low, high) for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
    covered = np.maximum((end - begin) / step, 1.0)
    first_end, last_end = inverse[len(line.points) : len(line.points) + 2].tolist()
    return SpanDraft(HierarchyDraft(groups, labels, covered), single=first_end == last_end)
