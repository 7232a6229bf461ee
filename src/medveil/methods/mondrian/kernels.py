"""Compiled loops of Mondrian: where a box of points may be cut, which cut is best, and the cutting itself.

All in one file, since what is kept of a compilation is only thrown away when its own file changes. Few large arrays,
and few functions, since a first run waits for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.methods.mondrian.arrays import (
    BEGINS,
    BEST,
    CODE,
    END,
    ENDS,
    EVEN,
    FIRST,
    FREE_SET,
    HELD,
    LAST,
    MEMBERS,
    ORDER,
    PARENT,
    RANGE,
    RANKS,
    RECORDS,
    SEEN,
    SMALLEST_SHARE,
    START,
    VALUES,
    WHOLE,
    Floats,
    Places,
    Table,
)


@inner
def _put_in_steps(
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
def _find_bounds(
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
def _find_cut(
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


@outer
def cut_boxes(
    points: Table,
    boxes: Places,
    number: int,
    stack: Places,
    waiting: int,
    budget: int,
    relaxed: bool,
    by_median: bool,
    kinds: Places,
    starts: Places,
    missing: Places,
    scale: Floats,
    spans: Floats,
    weights: Floats,
    size: int,
    offsets: Places,
    tokens: Places,
    types: Places,
    needs: Places,
    by_code: Places,
    steps: Places,
    by_step: Places,
    by_token: Places,
    by_type: Places,
    by_axis: Places,
    scores: Floats,
    moved: Table,
    attempts: Places,
    halves: Places,
) -> tuple[int, int]:
    """Take boxes from the stack and cut each at its best cut, until none waits or `budget` points were looked at.

    Returns how many boxes there are now and how many still wait. With `attempts`, one for each box on the stack, boxes
    are not cut: the points of the j-th box on the stack get `halves` 2j and 2j + 1 by its attempts[j]-th best cut, and
    `steps` 0 and 1; they keep -1 where there is none. The best cuts along each attribute come first, best attribute
    first; then, where they differ, the most even cuts.
    """
    attributes = len(kinds)
    while waiting > 0 and budget > 0:
        waiting -= 1
        box = stack[waiting]
        start, end = boxes[box, START], boxes[box, END]
        budget -= end - start
        records = 0
        for i in range(start, end):
            records += points[i, attributes]
        if end - start < 2 or records < 2 * size:
            continue

        for axis in range(attributes):
            score = -1.0
            count = _put_in_steps(points, start, end, axis, kinds[axis] == FREE_SET, relaxed, by_code, steps, by_step)
            if count > 1:
                low, high = _find_bounds(
                    points, start, end, count, size, offsets, tokens, types, needs, steps, by_step, by_token, by_type
                )
                if low <= high:
                    score, by_axis[BEST, axis], by_axis[EVEN, axis] = _find_cut(
                        count,
                        low,
                        high,
                        kinds[axis] == RANGE,
                        missing[axis],
                        starts[axis],
                        spans[axis],
                        by_median,
                        scale,
                        by_step,
                    )
                    score *= weights[axis]
            scores[axis] = score
            place = axis
            while place > 0 and scores[by_axis[ORDER, place - 1]] < score:
                by_axis[ORDER, place] = by_axis[ORDER, place - 1]
                place -= 1
            by_axis[ORDER, place] = axis

        chosen = -1
        cut = np.int64(0)
        passed = 0
        attempt = attempts[waiting] if len(attempts) else 0
        for turn in range(2 * attributes):
            axis = by_axis[ORDER, turn % attributes]
            even = turn >= attributes
            if scores[axis] < 0.0 or (even and by_axis[EVEN, axis] == by_axis[BEST, axis]):
                continue
            if passed == attempt:
                chosen = axis
                cut = by_axis[EVEN, axis] if even else by_axis[BEST, axis]
                break
            passed += 1
        if chosen < 0:
            continue

        _put_in_steps(points, start, end, chosen, kinds[chosen] == FREE_SET, relaxed, by_code, steps, by_step)
        for i in range(start, end):
            steps[i] = 0 if steps[i] <= cut else 1
        if len(attempts):
            for i in range(start, end):
                halves[points[i, attributes + 1]] = 2 * waiting + steps[i]
        else:
            _divide(points, boxes, number, box, steps, moved)
            stack[waiting] = number + 1
            stack[waiting + 1] = number
            waiting += 2
            number += 2
    return number, waiting


@inner
def _divide(points: Table, boxes: Places, number: int, box: int, steps: Places, moved: Table) -> None:
    """Cut a box: points of step 0 to the front, the others behind them, all in their old order."""
    start, end = boxes[box, START], boxes[box, END]
    width = points.shape[1]
    middle = start
    other = 0
    for i in range(start, end):
        for column in range(width):
            if steps[i] == 0:
                points[middle, column] = points[i, column]
            else:
                moved[other, column] = points[i, column]
        middle += 1 - steps[i]
        other += steps[i]
    for i in range(other):
        for column in range(width):
            points[middle + i, column] = moved[i, column]
    boxes[box, WHOLE] = 0
    for half in range(number, number + 2):
        boxes[half, START] = start if half == number else middle
        boxes[half, END] = middle if half == number else end
        boxes[half, PARENT] = box
        boxes[half, WHOLE] = 1


@outer
def accept(points: Table, boxes: Places, number: int, accepted: Places, steps: Places, moved: Table) -> int:
    """Cut these boxes by the steps that are there; how many boxes there are now."""
    for j in range(len(accepted)):
        _divide(points, boxes, number, accepted[j], steps, moved)
        number += 2
    return number


@outer
def undo(boxes: Places, number: int, again_whole: NDArray[np.bool_]) -> None:
    """Make the marked boxes whole again; what they were cut into goes."""
    for box in range(number):  # a box comes after the one that it was cut from
        parent = boxes[box, PARENT]
        if parent >= 0 and again_whole[parent]:
            again_whole[box] = True
            boxes[box, WHOLE] = 0
        elif again_whole[box]:
            boxes[box, WHOLE] = 1
