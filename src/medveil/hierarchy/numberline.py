"""The line on which numbers are cut: its ends, which values lie on it, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.specification import MOST_LEAVES

Floats = NDArray[np.float64]
Ends = tuple[float, float]


@dataclass(frozen=True)
class NumberLine:
    """The domain [low, high] and the values: `known` may be grouped, `extra` are those of them outside the domain,
    which a top or bottom code lets in. `points` are the known values, pulled to the domain's ends.
    """

    whole: bool
    low: float
    high: float
    known: NDArray[np.bool_]
    extra: NDArray[np.bool_]
    points: Floats

    @property
    def end(self) -> float:
        """Where the last interval ends: half-open for whole numbers, closed for others."""
        return self.high + 1 if self.whole else self.high


def line_of(numbers: Floats, ends: Ends, *, whole: bool, top: float | None, bottom: float | None) -> NumberLine:
    low, high = ends
    above, below = numbers > high, numbers < low
    inside = ~np.isnan(numbers) & ~above & ~below
    extra = (above if top is not None else False) | (below if bottom is not None else np.zeros_like(below))
    known = inside | extra
    return NumberLine(whole, low, high, known, extra, np.clip(numbers[known], low, high))


def present(numbers: Floats) -> Floats:
    """The numbers that are not missing."""
    return np.asarray(numbers[~np.isnan(numbers)], dtype=np.float64)


def all_whole(*numbers: Iterable[float | None]) -> bool:
    return all(float(number).is_integer() for some in numbers for number in some if number is not None)


def check_ends(ends: Ends | None, top: float | None, bottom: float | None) -> None:
    """Refuse a domain, top or bottom code that contradicts itself (for use in a validator)."""
    if ends is not None:
        low, high = ends
        if low >= high:
            raise ValueError("The domain must begin below its end. Write it as [low, high].")
        for word, code in (("top", top), ("bottom", bottom)):
            if code is not None and not low < code <= high:
                raise ValueError(f"The {word} code lies outside the domain. Move it inside, above the domain's start.")
    if top is not None and bottom is not None and bottom > top:
        raise ValueError("The bottom code lies above the top code. Swap them.")


def exact(number: float) -> Decimal:
    """The number as it is written: 0.1 is a tenth, so that three of them are 0.3."""
    return Decimal(repr(number))


def number_text(number: float, places: int, *, whole: bool) -> str:
    """How a number stands in a label: all of one hierarchy with the same number of decimals.

    >>> number_text(5.0, 0, whole=True), number_text(5.0, 2, whole=False), number_text(5.0, 0, whole=False)
    ('5', '5.00', '5.0')
    """
    return str(int(number)) if whole else f"{number:.{max(places, 1)}f}"


def whole_leaves(ends: Ends | None) -> list[str] | None:
    """The whole numbers of a declared domain, or None where it is not declared, not of whole numbers, or too long."""
    if ends is None or not all_whole(ends) or ends[1] - ends[0] >= MOST_LEAVES:
        return None
    return [str(number) for number in range(int(ends[0]), int(ends[1]) + 1)]


def decimals(number: float) -> int:
    """How many decimals it takes to write a number exactly, at least one where it is not whole.

    >>> decimals(5.0), decimals(2.5), decimals(0.125), decimals(1e-7)
    (0, 1, 3, 7)
    """
    if float(number).is_integer():
        return 0
    mantissa, _, exponent = repr(float(number)).partition("e")
    return max(len(mantissa.partition(".")[2].rstrip("0")) - int(exponent or 0), 1)


def roundest_between(lower: float, upper: float) -> float:
    """The roundest number c with lower < c <= upper: a cut that says little of the values beside it.

    >>> roundest_between(17, 23), roundest_between(38.2, 38.9), roundest_between(22, 23), roundest_between(6.31, 6.37)
    (20.0, 38.5, 23.0, 6.35)
    """
    with np.errstate(over="ignore"):  # beyond the largest number there is none between
        for digits in range(-15, 16):
            for step in (1.0, 0.5):
                unit = step * 10.0**-digits
                candidate = round((np.floor(lower / unit) + 1) * unit, max(digits + 1, 0))
                if lower < candidate <= upper:
                    return float(candidate)
    return upper
