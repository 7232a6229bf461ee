"""What a method shows of itself, as data: a report draws it, a terminal prints it, and neither knows the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BarFigure:
    """Numbers by name, in one series or several: `series[called][i]` is that of `names[i]`.

    first: the heading of the names. unit: how numbers are written. people: the numbers count records or people, so
    that small ones are not shown.
    """

    title: str
    description: str
    first: str
    names: Sequence[str]
    series: Mapping[str, Sequence[float]]
    unit: Literal["count", "number"] = "count"
    people: bool = False


@dataclass(frozen=True)
class TreeFigure:
    """A tree of tables: `parents[i]` is the place of table i's parent (None: a root), before table i itself.

    solution: the table that is published, where it is known.
    """

    title: str
    parents: Sequence[int | None]
    solution: int | None = None


@dataclass(frozen=True)
class Remark:
    """A sentence for the steward."""

    sentence: str


Figure = BarFigure | TreeFigure | Remark
