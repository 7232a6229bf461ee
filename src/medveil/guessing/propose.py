"""A first hierarchy for a guessed column, in the words of the policy, where one is easy to see."""

from __future__ import annotations

import math
from collections.abc import Sequence

from medveil.guessing.values import are_whole
from medveil.table.schema import Kind

OLDEST = 119
INTERVALS = 20
"""About how many intervals the narrowest level has."""
WORTH_IT = 8
"""With fewer distinct values there is nothing to put between a value and `*`."""


def propose_hierarchy(
    kind: Kind, concept: str, distinct: int, sample: Sequence[str], lowest: float | None, highest: float | None
) -> tuple[str, int]:
    """The hierarchy as it stands in a policy, or an empty text; and the level at which it had better begin.

    Zip codes begin where three digits are left (HIPAA Safe Harbor). Only rounded widths are taken from the data,
    never a value of it.
    """
    if kind is Kind.DATE:
        levels = "month, year, decade" if concept == "birth" else "month, quarter, year"
        return f"{{type: dates, levels: [{levels}]}}", 0
    if concept == "zip":
        lengths = {len(value) for value in sample}
        if len(lengths) == 1 and all(value.isascii() and value.isdigit() for value in sample):
            length = lengths.pop()
            return f"{{type: mask, length: {length}}}", max(0, length - 3)
        return "", 0
    if kind is not Kind.NUMBER or lowest is None or highest is None or distinct < WORTH_IT:
        return "", 0
    if concept.startswith("age") and lowest >= 0 and highest <= OLDEST and are_whole(sample):
        top = ", top: 90" if concept == "age-over-89" else ""
        return f"{{type: intervals, domain: [0, {99 if highest <= 99 else OLDEST}], widths: [5, 10, 20, 40]{top}}}", 0
    width = nice_width(highest - lowest, whole=are_whole(sample))
    if width is None:
        return "", 0
    widths = ", ".join(_number(width * factor) for factor in (1, 2, 4, 8))
    return f"{{type: intervals, widths: [{widths}]}}", 0


def nice_width(span: float, *, whole: bool) -> float | None:
    """The smallest of 1, 2, 5 times a power of ten which cuts the span into at most twenty; None where none is.

    >>> nice_width(399, whole=True), nice_width(8, whole=True), nice_width(0.3, whole=False), nice_width(0, whole=True)
    (20.0, 2.0, 0.02, None)
    """
    if not 1e-9 < span < 1e15:
        return None
    target = span / INTERVALS
    power = math.floor(math.log10(target))
    width = next(step for step in (float(f"{factor}e{power}") for factor in (1, 2, 5, 10)) if step >= target)
    return max(width, 2.0) if whole else width


def _number(number: float) -> str:
    """A number as YAML reads it everywhere: without an exponent."""
    return f"{number:.12f}".rstrip("0").rstrip(".")
