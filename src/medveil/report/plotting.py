"""Curves in a pair of axes, drawn by matplotlib. Loaded only where there are any: that takes a moment."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from medveil.report.drawing import SIZE
from medveil.report.palette import MARKERS, RULE, SERIES, TEXT
from medveil.report.pictures import Curve
from medveil.report.words import clean

POINTS_PER_INCH = 72
WIDTH, HEIGHT = 567.0, 320.0
_HEAD = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>\s*|<!--.*?-->\s*", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_NAME = re.compile(r'(?<=\sid=")|(?<=url\(#)|(?<=href="#)')
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "medveil",
    "font.family": "DejaVu Sans",
    "font.size": SIZE,
    "text.color": TEXT,
    "text.parse_math": False,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}


def plot(name: str, curves: Sequence[Curve], across: str, up: str, label: str) -> str:
    """Points of several curves as SVG; `name` keeps its parts apart from those of other pictures on a page."""
    with _settings():
        return _svg(name, _figure(curves, across, up), clean(label))


@contextmanager
def _settings() -> Iterator[None]:
    """Everything is drawn within this, whatever else the process draws."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Labels are any text; what the font lacks, the reader's browser has.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _figure(curves: Sequence[Curve], across: str, up: str) -> Figure:
    figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, HEIGHT / POINTS_PER_INCH), dpi=POINTS_PER_INCH)
    figure.patch.set_visible(False)
    axes = figure.add_axes((0.1, 0.14, 0.6, 0.82))
    for curve in curves:
        place = curve.place
        axes.plot(
            [x for x, _ in curve.points],
            [y for _, y in curve.points],
            color=SERIES[place % len(SERIES)],
            marker=MARKERS[(place + place // len(MARKERS)) % len(MARKERS)],
            markersize=7,
            linewidth=1.5,
            clip_on=False,
            label=curve.name,
        )
        for (x, y), note in zip(curve.points, curve.notes, strict=False):
            axes.annotate(note, (x, y), xytext=(6, 5), textcoords="offset points", fontsize=8, color=TEXT)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.margins(0.1)
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(b=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, borderaxespad=0)
    return figure


def _svg(name: str, figure: Figure, label: str) -> str:
    """The figure, for the inside of a page."""
    stream = io.StringIO()
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(stream, metadata={"Date": None, "Creator": None})
    drawn = _HEAD.sub("", stream.getvalue())
    drawn = _TAG.sub(lambda tag: _NAME.sub(f"{name}-", tag[0]), drawn)
    opening, closing, rest = drawn.partition(">")
    named = f'{opening} role="img" aria-label="{escape(label)}"{closing}\n<title>{escape(label)}</title>'
    return (named + rest).strip()
