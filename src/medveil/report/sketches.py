"""Bars and trees, laid out on a sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medveil.report.drawing import Drawing
from medveil.report.palette import AFTER, BEFORE, RULE, SERIES, SOFT
from medveil.report.words import short

WIDTH = 420.0
LABELS = 150.0
VALUES = 62.0
BAR, GAP, LEGEND = 11.0, 9.0, 22.0


def _colours(number: int) -> Sequence[str]:
    return {1: (AFTER,), 2: (BEFORE, AFTER)}.get(number, SERIES)


def _legend(sheet: Drawing, names: Sequence[str], colours: Sequence[str]) -> None:
    left = LABELS
    for name, colour in zip(names, colours, strict=False):
        sheet.rectangle(left, 3.0, 9.0, 9.0, colour)
        sheet.text(left + 13.0, 8.0, name)
        left += 30.0 + 5.6 * len(name)


def bars(
    names: Sequence[str],
    shown: Sequence[tuple[str, Sequence[float]]],
    written: Callable[[float], str],
    most: float | None,
) -> Drawing:
    colours = _colours(len(shown))
    many = len(shown) > 1
    top = LEGEND if many else 4.0
    step = BAR * len(shown) + GAP
    sheet = Drawing(WIDTH, top + step * len(names) + 2.0)
    if many:
        _legend(sheet, [series for series, _ in shown], colours)
    largest = most or max((value for _, values in shown for value in values[: len(names)]), default=0.0) or 1.0
    room = WIDTH - LABELS - VALUES
    sheet.line((LABELS, top), (LABELS, top + step * len(names) - GAP + 3.0), RULE)
    for row, label in enumerate(names):
        upper = top + row * step
        sheet.text(LABELS - 6.0, upper + BAR * len(shown) / 2, short(label), anchor="end")
        for place, (_, values) in enumerate(shown):
            length = room * min(max(values[row], 0.0) / largest, 1.0)
            sheet.rectangle(LABELS, upper + place * BAR + 1.0, length, BAR - 2.0, colours[place])
            value = written(values[row])
            sheet.text(LABELS + length + 4.0, upper + (place + 0.5) * BAR, value, size=8.5, colour=SOFT)
    return sheet


def tree(nodes: Sequence[tuple[int | None, int, bool]]) -> Drawing:
    depths = max((depth for _, depth, _ in nodes), default=0)
    breadth = [sum(depth == level for _, depth, _ in nodes) for level in range(depths + 1)]
    sheet = Drawing(WIDTH, 34.0 * (depths + 1) + 10.0)
    seen = [0] * (depths + 1)
    places: list[tuple[float, float]] = []
    for _, depth, _ in nodes:
        seen[depth] += 1
        places.append((WIDTH * seen[depth] / (breadth[depth] + 1), 14.0 + 34.0 * depth))
    for (x, y), (parent, _, chosen) in zip(places, nodes, strict=True):
        if parent is not None:
            sheet.line(places[parent], (x, y), AFTER if chosen else RULE, 2.0 if chosen else 0.8)
    for (x, y), (_, _, chosen) in zip(places, nodes, strict=True):
        size = 8.0 if chosen else 5.0
        sheet.rectangle(x - size / 2, y - size / 2, size, size, AFTER if chosen else BEFORE)
    return sheet
