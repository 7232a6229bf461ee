"""Mondrian's boxes: compiled loops that cut them, all at once or as a privacy model allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.methods.mondrian.cuts import (
    BEST,
    EVEN,
    FREE_SET,
    ORDER,
    RANGE,
    Floats,
    Places,
    Table,
    find_bounds,
    find_cut,
    inner,
    outer,
    put_in_steps,
)

START, END, PARENT, WHOLE = range(4)
"""The columns of the table of boxes: its stretch of points, the box that it was cut from, and whether it is not cut."""


def make_boxes(box_of_point: Places) -> tuple[Places, int]:
    """The boxes before the first cut, given each point's, ascending; room for all that may come; how many they are."""
    number = int(box_of_point[-1]) + 1
    boxes = np.zeros((2 * len(box_of_point), 4), dtype=np.int64)
    bounds = np.searchsorted(box_of_point, np.arange(number + 1))
    boxes[:number, START], boxes[:number, END] = bounds[:-1], bounds[1:]
    boxes[:, PARENT] = -1
    boxes[:number, WHOLE] = 1
    return boxes, number


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
            count = put_in_steps(points, start, end, axis, kinds[axis] == FREE_SET, relaxed, by_code, steps, by_step)
            if count > 1:
                low, high = find_bounds(
                    points, start, end, count, size, offsets, tokens, types, needs, steps, by_step, by_token, by_type
                )
                if low <= high:
                    score, by_axis[BEST, axis], by_axis[EVEN, axis] = find_cut(
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

        put_in_steps(points, start, end, chosen, kinds[chosen] == FREE_SET, relaxed, by_code, steps, by_step)
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
