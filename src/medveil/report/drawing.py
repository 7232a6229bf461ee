"""Static SVG, the same bytes every time: text stays text, and nothing is loaded from anywhere."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import IdentityTransform

from medveil.report.palette import TEXT
from medveil.report.words import clean

POINTS_PER_INCH = 72
SIZE = 9.5
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


@contextmanager
def settings() -> Iterator[None]:
    """Everything is drawn within this, whatever else the process draws."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Labels are any text; what the font lacks, the reader's browser has.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


class Drawing:
    """A sheet of so many points, measured from its upper left corner; `name` keeps its parts apart from those of other
    pictures on a page.
    """

    def __init__(self, name: str, width: float, height: float) -> None:
        size = (width / POINTS_PER_INCH, height / POINTS_PER_INCH)
        self.figure = Figure(figsize=size, dpi=POINTS_PER_INCH)
        self.name = name
        self.height = height

    def rectangle(self, left: float, top: float, width: float, height: float, colour: str) -> None:
        corner = (left, self.height - top - height)
        self.figure.add_artist(
            Rectangle(corner, width, height, facecolor=colour, linewidth=0, transform=IdentityTransform())
        )

    def line(self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.0) -> None:
        across = (start[0], end[0])
        heights = (self.height - start[1], self.height - end[1])
        self.figure.add_artist(
            Line2D(across, heights, color=colour, linewidth=width, transform=IdentityTransform(), solid_capstyle="butt")
        )

    def text(self, left: float, middle: float, words: str, **style: Any) -> None:
        placed: Any = {"transform": IdentityTransform(), "va": "center_baseline", "parse_math": False}
        self.figure.text(left, self.height - middle, clean(words), **placed, **style)

    def svg(self, label: str) -> str:
        """The drawing, for the inside of a page."""
        stream = io.StringIO()
        self.figure.patch.set_visible(False)
        canvas: Any = FigureCanvasSVG(self.figure)
        canvas.print_svg(stream, metadata={"Date": None, "Creator": None})
        drawn = _HEAD.sub("", stream.getvalue())
        drawn = _TAG.sub(lambda tag: _NAME.sub(f"{self.name}-", tag[0]), drawn)
        title = f"<title>{escape(clean(label))}</title>"
        opening, closing, rest = drawn.partition(">")
        named = f'{opening} role="img" aria-label="{escape(clean(label))}"{closing}\n{title}'
        return (named + rest).strip()
