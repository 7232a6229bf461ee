"""What a model asks of the histogram of one class, as numbers that a compiled loop knows.

A search checks thousands of nodes of thousands of classes each. A model that can say what it asks as a `Rule` is
checked in one pass over the classes; any other by its own `holds` and `most_kept`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FAILS, UNSURE, HOLDS = 0, 1, 2
"""Verdicts of a rule: unsure is a class so near to a limit that only the model itself can tell."""

NEAR = 1e-14
"""How near to a limit, relatively, rounding may decide."""

CEILING, WITHIN, BEYOND, FLOOR_WITHIN, FLOOR_BEYOND = range(5)
"""The rows of a rule's limits."""


@dataclass(frozen=True)
class Rule:
    """A class of N records, n_s of which have the value s, satisfies the model if

        N >= least   and   |{s : n_s > 0}| >= distinct
        n_s / N <= c_s                          for every s that the class holds
        sum_s max(n_s / N - c_s, 0) <= excess   instead, where it is `summed`
        n_s / N >= f_s                          for every s that the class holds

    c_s, f_s: the ceiling and the floor of s. `limits` has the ceilings, and for ceilings and floors what is surely
    within and surely beyond them; `beyond` is that of the sum. `complete`: that a class must hold every value that has
    a floor. A union of parts of a class that satisfy the rule satisfies it, floors of what is not complete aside.
    """

    least: int = 1
    distinct: int = 0
    attribute: str | None = None
    limits: NDArray[np.float64] = field(default_factory=lambda: unlimited(0))
    summed: bool = False
    excess: float = 0.0
    beyond: float = 0.0
    complete: bool = False


def unlimited(values: int) -> NDArray[np.float64]:
    """The limits of values that may have any share."""
    limits = np.ones((5, values))
    limits[FLOOR_WITHIN:] = 0.0
    return limits


def ceilings(
    attribute: str, shares: NDArray[np.float64], slack: NDArray[np.float64] | None = None, least: int = 1
) -> Rule:
    """No value has more than its share of a class, and of that just so much where no slack is given."""
    limits = unlimited(len(shares))
    limits[CEILING] = limits[WITHIN] = limits[BEYOND] = shares
    if slack is not None:
        limits[WITHIN] = (shares + slack) * (1.0 - NEAR)
        limits[BEYOND] = (shares + slack) * (1.0 + NEAR)
    return Rule(least=least, attribute=attribute, limits=limits)


def within_distance(attribute: str, whole: NDArray[np.float64], distance: float, beyond: float) -> Rule:
    """Values have, in sum, at most a distance above their shares in the input; more than `beyond` breaks that."""
    limits = unlimited(len(whole))
    limits[CEILING] = whole
    return Rule(attribute=attribute, limits=limits, summed=True, excess=distance, beyond=beyond)
