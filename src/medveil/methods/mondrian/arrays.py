"""The arrays that Mondrian's compiled loops work on.

Points are distinct tuples of codes. They lie in one table, and a box is a stretch of it, so that cutting a box is
moving its points; a box's two halves are again stretches. Along one attribute the points of a box stand in *steps*,
which a cut does not break: all points of one value, or each point on its own where a value may be on both sides.

A row of the table of points: the code in each attribute, the records, the number that the point had at first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Floats = NDArray[np.float64]
Table = NDArray[np.int32]

RANGE = 0
"""The attribute is published as a range: what lies between the ends is lost."""
ORDERED_SET = 1
"""The attribute is published as a set, and cut between neighbours in the order of its codes."""
FREE_SET = 2
"""The attribute is published as a set; a box's values are cut in the order of how many records hold them."""

SMALLEST_SHARE = 10
"""Where possible, a cut leaves a side at least one in this many records, so that boxes get small soon."""

MEMBERS, HELD, VALUES, RANKS = range(4)
CODE, RECORDS = range(2)
FIRST, LAST, SEEN = range(3)
BEGINS, ENDS = range(2)
ORDER, BEST, EVEN = range(3)

START, END, PARENT, WHOLE = range(4)
"""The columns of the table of boxes: its stretch of points, the box that it was cut from, and whether it is not cut."""


class Axes(NamedTuple):
    """How each attribute is measured; the codes of attribute d have `scale[starts[d]:starts[d + 1]]`.

    kinds: RANGE, ORDERED_SET or FREE_SET. missing: the code of a missing value in a range, -1 where there is none.
    scale: of a range, the place of a code on the line; of a set, the leaves of the domain that a code stands for.
    spans: what the extent of a box is divided by: of a range highest - lowest place, of a set leaves - 1.
    """

    kinds: Places
    starts: Places
    missing: Places
    scale: Floats
    spans: Floats
    weights: Floats


class LeastCounts(NamedTuple):
    """What each side of a cut must hold: `size` records, and `needs[t]` distinct tokens of each type t.

    A token is a person or a sensitive value. Point i has `tokens[offsets[i]:offsets[i + 1]]`; those of type t are
    numbered from `types[t]` up to `types[t + 1]`.
    """

    size: int
    offsets: Places
    tokens: Places
    types: Places
    needs: Places


class WorkArrays(NamedTuple):
    """Room to work in.

    by_code: how many points (MEMBERS) and records (HELD) of the box have each code, 0 between uses; the box's codes in
    the order of steps (VALUES), and the first step of each (RANKS).
    steps: the step of each point. by_step: the code and the records of each step.
    by_token: the first and last step that a token is on, FIRST -1 between uses; the tokens of the box (SEEN).
    by_type: for each type of tokens and each step, how many begin there and how many end there.
    by_axis: the attributes, best first; the step of the best cut along each, and of the most even one. scores: how
    good the best cut is, negative where there is none.
    moved: points on their way to the other side.
    """

    by_code: Places
    steps: Places
    by_step: Places
    by_token: Places
    by_type: Places
    by_axis: Places
    scores: Floats
    moved: Table


def make_work_arrays(points: Table, axes: Axes, least: LeastCounts) -> WorkArrays:
    """Room for boxes of all points."""
    attributes = len(axes.kinds)
    widest = int(np.diff(axes.starts).max(initial=1))
    most_steps = max(len(points), widest)

    def zeros(*shape: int) -> Places:
        return np.zeros(shape, dtype=np.int64)

    by_token = zeros(3, int(least.types[-1]))
    by_token[FIRST] = -1
    return WorkArrays(
        by_code=zeros(4, widest),
        steps=zeros(len(points)),
        by_step=zeros(2, most_steps),
        by_token=by_token,
        by_type=zeros(2, len(least.needs), most_steps if len(least.needs) else 0),
        by_axis=zeros(3, attributes),
        scores=np.zeros(attributes),
        moved=np.zeros_like(points),
    )


def make_boxes(box_of_point: Places) -> tuple[Places, int]:
    """The boxes before the first cut, given each point's, ascending; room for all that may come; how many they are."""
    number = int(box_of_point[-1]) + 1
    boxes = np.zeros((2 * len(box_of_point), 4), dtype=np.int64)
    bounds = np.searchsorted(box_of_point, np.arange(number + 1))
    boxes[:number, START], boxes[:number, END] = bounds[:-1], bounds[1:]
    boxes[:, PARENT] = -1
    boxes[:number, WHOLE] = 1
    return boxes, number
