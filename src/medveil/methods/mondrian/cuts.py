"""Where Mondrian may cut a box of points, and which cut is best: compiled loops.

Points are distinct tuples of codes. They lie in one table, and a box is a stretch of it, so that cutting a box is
moving its points; a box's two halves are again stretches. Along one attribute the points of a box stand in *steps*,
which a cut does not break: all points of one value, or each point on its own where a value may be on both sides.

A row of the table of points: the code in each attribute, the records, the number that the point had at first. Few
large arrays, and few functions, since a first run waits for their compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
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


Loop = TypeVar("Loop", bound=Callable[..., Any])


def outer(loop: Loop) -> Loop:
    """Compile a loop that Python calls."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    return cast("Loop", njit(**options)(loop))


def inner(loop: Loop) -> Loop:
    """Compile a loop that only compiled loops call: without a way in from Python, which takes long to compile."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return cast("Loop", njit(**options)(loop))


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


class Floors(NamedTuple):
    """What each side of a cut must hold: `size` records, and `needs[t]` distinct tokens of each type t.

    A token is a person or a sensitive value. Point i has `tokens[offsets[i]:offsets[i + 1]]`; those of type t are
    numbered from `types[t]` up to `types[t + 1]`.
    """

    size: int
    offsets: Places
    tokens: Places
    types: Places
    needs: Places


class Desk(NamedTuple):
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


def make_desk(points: Table, axes: Axes, floors: Floors) -> Desk:
    """Room for boxes of all points."""
    attributes = len(axes.kinds)
    widest = int(np.diff(axes.starts).max(initial=1))
    most_steps = max(len(points), widest)

    def zeros(*shape: int) -> Places:
        return np.zeros(shape, dtype=np.int64)

    by_token = zeros(3, int(floors.types[-1]))
    by_token[FIRST] = -1
    return Desk(
        by_code=zeros(4, widest),
        steps=zeros(len(points)),
        by_step=zeros(2, most_steps),
        by_token=by_token,
        by_type=zeros(2, len(floors.needs), most_steps if len(floors.needs) else 0),
        by_axis=zeros(3, attributes),
        scores=np.zeros(attributes),
        moved=np.zeros_like(points),
    )


@inner
def put_in_steps(
    points: Table,
    start: int,
    end: int,
    axis: int,
    free: bool,
    relaxed: bool,
    by_code: Places,
    steps: Places,
    by_step: Places,
) -> int:
    """The step of every point of the box along one attribute, and the code and records of each step; how many.

    No steps where the box holds one value only.
    """
    records = points.shape[1] - 2
    lowest = highest = points[start, axis]
    for i in range(start, end):
        code = points[i, axis]
        by_code[MEMBERS, code] += 1
        by_code[HELD, code] += points[i, records]
        lowest = min(lowest, code)
        highest = max(highest, code)
    values = 0
    for code in range(lowest, highest + 1):
        if by_code[MEMBERS, code] > 0:
            # Most records first, ties by code. Most boxes hold few values, and many come in order.
            at = values
            while free and at > 0 and by_code[HELD, by_code[VALUES, at - 1]] < by_code[HELD, code]:
                by_code[VALUES, at] = by_code[VALUES, at - 1]
                at -= 1
            by_code[VALUES, at] = code
            values += 1
    number = 0
    for j in range(values):
        code = by_code[VALUES, j]
        by_code[RANKS, code] = number
        by_step[CODE, number] = code
        by_step[RECORDS, number] = by_code[HELD, code]
        number += by_code[MEMBERS, code] if relaxed else 1
        by_code[MEMBERS, code] = 0
        by_code[HELD, code] = 0
    if values < 2:
        return 0
    for i in range(start, end):
        code = points[i, axis]
        step = by_code[RANKS, code]
        steps[i] = step
        if relaxed:
            by_code[RANKS, code] += 1
            by_step[CODE, step] = code
            by_step[RECORDS, step] = points[i, records]
    return number


@inner
def find_bounds(
    points: Table,
    start: int,
    end: int,
    number: int,
    size: int,
    offsets: Places,
    tokens: Places,
    types: Places,
    needs: Places,
    steps: Places,
    by_step: Places,
    by_token: Places,
    by_type: Places,
) -> tuple[int, int]:
    """The first and the last step after which a cut leaves both sides what they must hold.

    What a side holds only grows with it, so the cuts between these two are allowed and no others.
    """
    low = 0
    held = by_step[RECORDS, 0]
    while low < number - 1 and held < size:
        low += 1
        held += by_step[RECORDS, low]
    high = number - 2
    held = by_step[RECORDS, number - 1]
    while high >= low and held < size:
        held += by_step[RECORDS, high]
        high -= 1
    if high < low or len(needs) == 0:
        return low, high

    seen = 0
    for i in range(start, end):
        step = steps[i]
        point = points[i, points.shape[1] - 1]
        for j in range(offsets[point], offsets[point + 1]):
            token = tokens[j]
            if by_token[FIRST, token] < 0:
                by_token[FIRST, token] = step
                by_token[LAST, token] = step
                by_token[SEEN, seen] = token
                seen += 1
            elif step < by_token[FIRST, token]:
                by_token[FIRST, token] = step
            elif step > by_token[LAST, token]:
                by_token[LAST, token] = step
    for t in range(len(needs)):
        for step in range(number):
            by_type[BEGINS, t, step] = 0
            by_type[ENDS, t, step] = 0
    for j in range(seen):
        token = by_token[SEEN, j]
        t = 0
        while token >= types[t + 1]:
            t += 1
        by_type[BEGINS, t, by_token[FIRST, token]] += 1
        by_type[ENDS, t, by_token[LAST, token]] += 1
        by_token[FIRST, token] = -1
    for t in range(len(needs)):
        step = 0
        held = by_type[BEGINS, t, 0]
        while step < number - 1 and held < needs[t]:
            step += 1
            held += by_type[BEGINS, t, step]
        low = max(low, step)
        step = number - 2
        held = by_type[ENDS, t, number - 1]
        while step >= 0 and held < needs[t]:
            held += by_type[ENDS, t, step]
            step -= 1
        high = min(high, step)
    return low, high


@inner
def find_cut(
    number: int,
    low: int,
    high: int,
    ranged: bool,
    missing: int,
    base: int,
    span: float,
    by_median: bool,
    scale: Floats,
    by_step: Places,
) -> tuple[float, int, int]:
    """How good the best allowed cut along an attribute is, the step after which it falls, and the most even cut.

    By loss, a cut is as good as what it takes off the loss in this attribute; by median, as the box is wide.
    """
    records = 0
    leaves = 0.0
    for step in range(number):
        records += by_step[RECORDS, step]
        if step == 0 or by_step[CODE, step] != by_step[CODE, step - 1]:
            leaves += scale[base + by_step[CODE, step]]
    first, last = by_step[CODE, 0], by_step[CODE, number - 1]
    highest = 0.0 if last == missing else scale[base + last]
    whole = (leaves - 1.0) / span
    if ranged:
        whole = 1.0 if last == missing else (highest - scale[base + first]) / span

    even = low
    most_even = -1
    before = 0
    for step in range(high + 1):
        before += by_step[RECORDS, step]
        smaller = before if 2 * before < records else records - before
        if step >= low and smaller > most_even:
            most_even = smaller
            even = step
    if by_median:
        return whole, even, even

    best = even
    most_gain = -1.0
    before = 0
    leaves_before = 0.0
    for step in range(high + 1):
        code, after = by_step[CODE, step], by_step[CODE, step + 1]
        before += by_step[RECORDS, step]
        if step == 0 or code != by_step[CODE, step - 1]:
            leaves_before += scale[base + code]
        smaller = before if 2 * before < records else records - before
        # Where every allowed cut is lopsided, only the most even ones stay.
        if step < low or (smaller < most_even and smaller * SMALLEST_SHARE < records):
            continue
        if ranged:
            # Beside a missing value a range counts as the whole line.
            left = 1.0 if code == missing else (scale[base + code] - scale[base + first]) / span
            right = 0.0 if after == missing else 1.0 if last == missing else (highest - scale[base + after]) / span
        else:
            in_both = scale[base + code] if after == code else 0.0
            left = (leaves_before - 1.0) / span
            right = (leaves - leaves_before + in_both - 1.0) / span
        gain = records * whole - before * left - (records - before) * right
        if gain > most_gain:
            most_gain = gain
            best = step
    return most_gain, best, even
