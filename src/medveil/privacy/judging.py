"""The verdicts of rules over many classes at a time, and how many records of each class can stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.privacy.keeping import ROUNDING, largest_part
from medveil.privacy.rules import BEYOND, CEILING, FAILS, FLOOR_BEYOND, FLOOR_WITHIN, HOLDS, UNSURE, WITHIN


@outer
def judge(
    table: NDArray[np.int64],
    sizes: NDArray[np.int64],
    limits: NDArray[np.float64],
    summed: bool,
    excess: float,
    beyond: float,
    distinct: int,
    complete: bool,
    closes: bool,
    least: int,
    allowed: int,
    most: NDArray[np.int64],
    verdicts: NDArray[np.int8],
    held_counts: NDArray[np.int64],
    held_ceilings: NDArray[np.float64],
) -> int:
    """Take a rule's verdict of each class, and how many of its records can stay at most however it is divided.

    `table[i, s]` has the counts of class i. What `verdicts` and `most` hold of other rules stays where that is less;
    fewer than `least` records that can stay are none. `closes`: that of a class which fails nothing can stay. The
    records that cannot stay are returned; as soon as they are more than `allowed`, nothing else is looked at.
    `held_counts` and `held_ceilings` are room for what one class has of each value.
    """
    certain = 0
    share = 1.0 - excess - ROUNDING
    for number in range(len(sizes)):
        size = sizes[number]
        if most[number] > 0:
            verdict, held, above = HOLDS, 0, 0.0
            for value in range(table.shape[1]):
                count = table[number, value]
                if count > 0:
                    held_counts[held] = count
                    held_ceilings[held] = limits[CEILING, value] * (1.0 + ROUNDING)
                    held += 1
                    part = count / size
                    above += max(part - limits[CEILING, value], 0.0)
                    if (not summed and part > limits[BEYOND, value]) or part < limits[FLOOR_BEYOND, value]:
                        verdict = FAILS
                    elif (not summed and part > limits[WITHIN, value]) or part < limits[FLOOR_WITHIN, value]:
                        verdict = min(verdict, UNSURE)
            if held < distinct or (summed and above > beyond):
                verdict = FAILS
            verdicts[number] = min(verdicts[number], verdict)
            if verdict == FAILS:
                stays = 0
                if held >= distinct and not closes:
                    stays = largest_part(held_counts, held_ceilings, np.int64(0), held, share, size, not summed)
                if complete:
                    for value in range(table.shape[1]):
                        if limits[FLOOR_BEYOND, value] > 0.0:
                            scarcest = table[number, value] / limits[FLOOR_BEYOND, value] * (1.0 + ROUNDING)
                            stays = min(stays, int(scarcest))
                most[number] = min(most[number], stays) if stays >= least else 0
        certain += size - most[number]
        if certain > allowed:
            break
    return certain


@outer
def tabulate(
    classes: NDArray[np.int32],
    combinations: NDArray[np.int32],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
    table: NDArray[np.int64],
) -> None:
    """Fill the table of classes by values from cells, each of a combination of quasi-identifiers that has a class."""
    for number in range(table.shape[0]):
        for value in range(table.shape[1]):
            table[number, value] = 0
    for cell in range(len(counts)):
        table[classes[combinations[cell]], values[cell]] += counts[cell]
