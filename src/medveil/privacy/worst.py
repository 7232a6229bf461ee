"""From a figure per class to the one that a claim states, and how figures are compared with bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.privacy.classes import Classes

SLACK = 1e-12
"""What rounding may add to a sum of shares, relative to a bound above 1: a class at its bound is within it."""

DIGITS = 12
"""The decimals of an achieved figure that are more than rounding."""


def at_most(figures: NDArray[np.float64], bound: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Whether each figure is within its bound but for rounding.

    >>> at_most(np.array([0.1 + 0.2, 0.3001]), 0.3)
    array([ True, False])
    """
    return figures <= bound + SLACK * np.maximum(1.0, np.abs(bound))


def or_empty(verdict: NDArray[np.bool_], classes: Classes) -> NDArray[np.bool_]:
    """The verdict, where a class of no records, which is not published, holds anyway."""
    return np.logical_or(verdict, classes.records == 0)


def lowest(figures: NDArray[Any], classes: Classes) -> float:
    """The least figure of the classes that have records; 0 where there are none: an empty release satisfies nothing."""
    published = figures[classes.records > 0]
    return round(float(published.min()), DIGITS) if len(published) else 0.0


def highest(figures: NDArray[Any], classes: Classes) -> float:
    """The largest figure of the classes that have records; infinite where there are none."""
    published = figures[classes.records > 0]
    return round(float(published.max()), DIGITS) if len(published) else math.inf
