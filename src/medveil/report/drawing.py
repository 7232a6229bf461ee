"""Static SVG, the same bytes every time: text stays text, and nothing is loaded from anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from medveil.report.palette import TEXT
from medveil.report.template import template
from medveil.report.words import clean

SIZE = 9.5


@dataclass(frozen=True, slots=True)
class Rectangle:
    kind: ClassVar = "rectangle"

    left: float
    top: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Line:
    kind: ClassVar = "line"

    start: tuple[float, float]
    end: tuple[float, float]
    colour: str
    width: float


@dataclass(frozen=True, slots=True)
class Words:
    """A text whose middle line is at `middle`; `anchor` says which end of it is at `left`."""

    kind: ClassVar = "words"

    left: float
    middle: float
    text: str
    anchor: str
    size: float
    colour: str


class Drawing:
    """A sheet of so many points, measured from its upper left corner. What came last lies on top."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.shapes: list[Rectangle | Line | Words] = []

    def rectangle(self, left: float, top: float, width: float, height: float, colour: str) -> None:
        self.shapes.append(Rectangle(left, top, width, height, colour))

    def line(self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.0) -> None:
        self.shapes.append(Line(start, end, colour, width))

    def text(
        self,
        left: float,
        middle: float,
        words: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        colour: str = TEXT,
    ) -> None:
        self.shapes.append(Words(left, middle, clean(words), anchor, size, colour))

    def svg(self, label: str) -> str:
        """The drawing, for the inside of a page; `label` says what it shows to whoever cannot see it."""
        return template("drawing.svg").render(drawing=self, label=clean(label)).strip()
