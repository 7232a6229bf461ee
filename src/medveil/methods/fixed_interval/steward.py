"""What only the steward sees: how often the recipe was mended, the classes, and the look at them as a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.methods.fixed_interval.attributes import Column, Numbers
from medveil.methods.fixed_interval.classes import Ids
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.fixed_interval.intervals import ColumnIntervals
from medveil.methods.fixed_interval.making import MadeClasses
from medveil.release.figures import BarFigure, Figure
from medveil.release.status import Status

Thresholds = Callable[[str], float]
MOST_BARS = 150
MOST_POINTS = 1_000
WIDTH, HEIGHT, MARGIN = 900, 220, 50


def account(
    records: Records,
    made: MadeClasses,
    intervals: Mapping[str, ColumnIntervals],
    thresholds: Thresholds,
    status: Status,
) -> dict[str, Any]:
    """How many records were left out and why, and how often classes and intervals had to be joined or widened."""
    return {
        "warning": None if status is Status.FOR_PUBLICATION else status.value,
        "records left out": dict(records.dropped),
        "classes": made.number,
        "classes joined away": made.joined,
        "intervals": {
            name: {"cut": len(found.grid), "joined away": found.joined, "least people": int(found.people.min())}
            for name, found in intervals.items()
        },
        "classes under the threshold, widened": {
            name: int(np.count_nonzero(found.narrow(thresholds(name)))) for name, found in made.spreads.items()
        },
    }


def class_table(
    records: Records, made: MadeClasses, formed: Ids, far: NDArray[np.bool_], thresholds: Thresholds
) -> pa.Table:
    """One line a class: its records, its outliers, and for each number its range, quartiles and mean."""
    counts = records.cells.counts
    within = made.classes >= 0
    columns: dict[str, Any] = {
        "class": np.arange(made.number),
        "records": np.bincount(made.classes[within], counts[within], minlength=made.number).astype(np.int64),
        "outliers": np.bincount(_class_of_outliers(made, formed, far), counts[far], minlength=made.number).astype(
            np.int64
        )[: made.number],
    }
    for name, found in made.spreads.items():
        for part in ("low", "lower", "median", "upper", "high", "mean"):
            columns[f"{name}: {_TITLES[part]}"] = getattr(found, part)
        columns[f"{name}: widened"] = found.narrow(thresholds(name))
    return pa.table({title: pa.array(values) for title, values in columns.items()})


_TITLES = {
    "low": "least",
    "lower": "lower quartile",
    "median": "median",
    "upper": "upper quartile",
    "high": "greatest",
    "mean": "mean",
}


def _class_of_outliers(made: MadeClasses, formed: Ids, far: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The class which each outlier was removed from, as it is numbered after joining; one past the last where all of
    its class is gone.
    """
    now = np.full(int(formed.max(initial=0)) + 1, made.number, dtype=np.int64)
    within = made.classes >= 0
    now[formed[within]] = made.classes[within]
    return np.asarray(now[formed[far]], dtype=np.int64)


def picture(records: Records, made: MadeClasses, formed: Ids, far: Mapping[str, NDArray[np.bool_]], rule: str) -> str:
    """The classes in the order of the ranking, as SVG: for each number the range (thin), the middle half (thick) and
    the median of each class, with the records that the rule took for outliers in red (`far`, by column).
    """
    panels = [column for column in records.quasi if column.name in far]
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT * len(panels)}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f"<title>Classes in the order of the ranking; outliers by the rule: {escape(rule)}</title>",
    ]
    for number, column in enumerate(panels):
        beyond = far[column.name]
        place, points = _class_of_outliers(made, formed, beyond), column.effective[column.codes[beyond]]
        count = int(records.cells.counts[beyond].sum())
        title = f"{column.name}: {made.number:,} classes, {count:,} outliers by the rule '{rule}'"
        parts += _panel(column, made, place[:MOST_POINTS], points[:MOST_POINTS], number * HEIGHT, title)
    return "\n".join([*parts, "</svg>"])


def _panel(
    column: Column, made: MadeClasses, place: NDArray[np.int64], points: Numbers, top: int, title: str
) -> list[str]:
    found = made.spreads[column.name]
    bars = min(made.number, MOST_BARS)
    bar_of_class = np.arange(made.number) * bars // made.number
    reached = np.concatenate([found.low, found.high, points])
    reached = reached[~np.isnan(reached)]
    low, high = (float(reached.min()), float(reached.max())) if len(reached) else (0.0, 0.0)
    span = (high - low) or 1.0
    step = (WIDTH - 2 * MARGIN) / bars

    def y(value: float) -> float:
        return top + HEIGHT - 30 - (value - low) / span * (HEIGHT - 70)

    def x(bar: float) -> float:
        return MARGIN + (bar + 0.5) * step

    def line(bar: int, start: float, end: float, width: float, color: str) -> str:
        return (
            f'<line x1="{x(bar):.1f}" x2="{x(bar):.1f}" y1="{y(start):.1f}" y2="{y(end):.1f}" '
            f'stroke="{color}" stroke-width="{width:.1f}"/>'
        )

    drawn = [
        f'<text x="{MARGIN}" y="{top + 20}">{escape(title)}</text>',
        *(f'<text x="4" y="{y(value) + 4:.1f}">{escape(column.written.text(value))}</text>' for value in (low, high)),
    ]
    with np.errstate(all="ignore"):
        for bar in range(bars):
            inside = bar_of_class == bar
            if np.isnan(found.low[inside]).all():
                continue
            drawn.append(line(bar, np.nanmin(found.low[inside]), np.nanmax(found.high[inside]), 1, "#888"))
            lower, upper = np.nanmedian(found.lower[inside]), np.nanmedian(found.upper[inside])
            drawn.append(line(bar, lower, upper, max(step * 0.6, 1), "#4a7"))
            middle = float(np.nanmedian(found.median[inside]))
            drawn.append(f'<circle cx="{x(bar):.1f}" cy="{y(middle):.1f}" r="1.5"/>')
    for class_, point in zip(place.tolist(), points.tolist(), strict=True):
        bar = bar_of_class[min(class_, made.number - 1)]
        drawn.append(f'<circle cx="{x(bar):.1f}" cy="{y(point):.1f}" r="2" fill="#c33"/>')
    return drawn


def accounted(account: Mapping[str, Any]) -> list[Figure]:
    """What was left out and had to be mended, as figures."""
    made: list[Figure] = []
    if dropped := account.get("records left out"):
        made.append(
            BarFigure(
                "Records that were left out",
                "By reason.",
                "reason",
                list(dropped),
                {"records": [float(number) for number in dropped.values()]},
                people=True,
            )
        )
    if intervals := account.get("intervals"):
        made.append(
            BarFigure(
                "Intervals of each number",
                "How many intervals each column was cut into, and how many were too thin and joined with a neighbour.",
                "column",
                list(intervals),
                {
                    "cut": [float(found["cut"]) for found in intervals.values()],
                    "joined away": [float(found["joined away"]) for found in intervals.values()],
                },
            )
        )
    return made
