"""Pictures of numbers: bars with their values beside them, points with lines between them, trees. They are numbers
until they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from medveil.report import sketches
from medveil.report.content import PageTable, Picture
from medveil.report.words import percent


class Pictures:
    """The pictures of one page, each with a name of its own."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def bars(
        self,
        title: str,
        description: str,
        names: Sequence[str],
        series: Mapping[str, Sequence[float]],
        *,
        first: str = "group",
        written: Callable[[float], str] = percent,
        most: float | None = None,
        drawn: int | None = None,
    ) -> Picture:
        """Horizontal bars, for each name one of each series; `most` is the value of a full bar. Of `drawn` names only
        the first so many are drawn; what the others hold is told in words.
        """
        shown = list(series.items())

        def draw(label: str) -> str:
            return sketches.bars(names[:drawn], shown, written, most).svg(label)

        if drawn is not None and drawn < len(names):
            told = "; ".join(
                f"{names[place]}: "
                + ", ".join(
                    written(values[place]) + (f" {called}" if len(shown) > 1 else "") for called, values in shown
                )
                for place in range(drawn, len(names))
            )
            description = f"{description.rstrip('.')}. Not drawn: {told}."
        rows = [[row, *(written(values[place]) for _, values in shown)] for place, row in enumerate(names)]
        return Picture(title, description, draw, PageTable(title, [first, *(name for name, _ in shown)], rows))

    def curves(
        self, title: str, description: str, curves: Sequence[Curve], across: str, up: str, table: PageTable
    ) -> Picture:
        """Points of several curves in one pair of axes; each has a colour and a marker of its own."""
        name = self._name()

        def draw(label: str) -> str:
            from medveil.report.plotting import plot  # noqa: PLC0415 - matplotlib takes a moment to load

            return plot(name, curves, across, up, label)

        return Picture(title, description, draw, table, wide=True)

    def tree(
        self, title: str, description: str, nodes: Sequence[tuple[int | None, int, bool]], table: PageTable
    ) -> Picture:
        """A search tree, root above: for each node its parent's place in the list, its depth, and whether it lies on
        the way to the solution.
        """

        def draw(label: str) -> str:
            return sketches.tree(nodes).svg(label)

        return Picture(title, description, draw, table)

    def _name(self) -> str:
        return f"picture{next(self._numbers)}"


@dataclass(frozen=True)
class Curve:
    """Points that belong together, each with a note beside it; `place` chooses colour and marker."""

    name: str
    points: Sequence[tuple[float, float]]
    notes: Sequence[str] = ()
    place: int = 0
