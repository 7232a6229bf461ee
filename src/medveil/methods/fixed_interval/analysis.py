"""Part 4 of the paper: the range of each class, and outliers by a rule instead of by eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.methods.fixed_interval.attributes import Column, Numbers
from medveil.methods.fixed_interval.classes import Ids

Rule = Literal["none", "iqr", "zscore"]
FENCE = 1.5
"""Tukey's fences stand so many interquartile ranges off the quartiles."""
MOST_DEVIATIONS = 3.5
"""The modified z-score beyond which Iglewicz and Hoaglin 1993 call a value an outlier."""
NORMAL_MAD = 1.4826
NORMAL_MEAN_DEVIATION = 1.2533
"""What makes the median and the mean absolute deviation of a normal distribution its standard deviation."""


@dataclass(frozen=True)
class Spread:
    """The numbers of one attribute in each class: NaN where a class has none."""

    low: Numbers
    lower: Numbers
    median: Numbers
    upper: Numbers
    high: Numbers
    mean: Numbers

    def narrow(self, threshold: float) -> NDArray[np.bool_]:
        """Whether a class's range is under the threshold."""
        return self.high - self.low < threshold


def spread(column: Column, classes: Ids, number: int, counts: NDArray[np.int64]) -> Spread:
    """The range, quartiles (inverted distribution function), median and mean of each class, over records."""
    numbers = np.ascontiguousarray(column.effective[column.codes])
    order = _by_class(np.where(np.isnan(numbers), np.int32(-1), classes), numbers)
    group, values, weights = classes[order], numbers[order], counts[order]
    total = np.bincount(group, weights, minlength=number)
    # In units of the last decimal sums are exact, so that the order of the records does not matter.
    scale = 1.0 / column.written.unit
    sums = np.bincount(group, weights * np.rint(values * scale), minlength=number) / scale
    cumulative = np.cumsum(weights)
    before = np.concatenate(([0.0], np.cumsum(total)[:-1]))
    filled = total > 0

    def quantile(share: float) -> Numbers:
        wanted = before + np.maximum(np.ceil(share * total), 1)
        found = np.full(number, np.nan)
        found[filled] = values[np.searchsorted(cumulative, wanted[filled])]
        return found

    mean = np.divide(sums, total, out=np.full(number, np.nan), where=filled)
    return Spread(quantile(0.0), quantile(0.25), quantile(0.5), quantile(0.75), quantile(1.0), mean)


def outliers(
    rule: Rule, column: Column, classes: Ids, number: int, counts: NDArray[np.int64], threshold: float
) -> NDArray[np.bool_]:
    """Which cells hold a number that stands far off its class.

        iqr:     x < Q1 - 1.5 max(Q3 - Q1, T)  or  x > Q3 + 1.5 max(Q3 - Q1, T)
        zscore:  |x - median| > 3.5 max(1.4826 MAD, T)

    Q1, Q3: the quartiles of the class; MAD: the median of |x - median|, and 1.2533 times their mean instead of
    1.4826 MAD where that is 0; T: the threshold under which a range counts as none, so that a class of people of
    nearly one age does not lose those who differ by a year.
    """
    if rule == "none":
        return np.zeros(len(classes), dtype=np.bool_)
    found = spread(column, classes, number, counts)
    numbers = column.effective[column.codes]
    if rule == "iqr":
        reach = FENCE * np.maximum(found.upper - found.lower, threshold)
        low, high = found.lower - reach, found.upper + reach
    else:
        apart = np.abs(numbers - found.median[classes])
        deviation = NORMAL_MAD * _median(apart, classes, number, counts)
        mean = NORMAL_MEAN_DEVIATION * _mean(apart, classes, number, counts)
        reach = MOST_DEVIATIONS * np.maximum(np.where(deviation > 0, deviation, mean), threshold)
        low, high = found.median - reach, found.median + reach
    with np.errstate(invalid="ignore"):
        beyond = (numbers < low[classes]) | (numbers > high[classes])
    return beyond & (classes >= 0)


def _median(figures: Numbers, classes: Ids, number: int, counts: NDArray[np.int64]) -> Numbers:
    codes = np.arange(len(figures), dtype=np.int32)
    column = Column("", sensitive=False, codes=codes, values=(), missing=np.isnan(figures), numbers=figures)
    return spread(column, classes, number, counts).median


def _mean(figures: Numbers, classes: Ids, number: int, counts: NDArray[np.int64]) -> Numbers:
    within = (classes >= 0) & ~np.isnan(figures)
    total = np.bincount(classes[within], counts[within], minlength=number)
    sums = np.bincount(classes[within], counts[within] * figures[within], minlength=number)
    return np.divide(sums, total, out=np.full(number, np.nan), where=total > 0)


def _by_class(classes: Ids, numbers: Numbers) -> NDArray[np.int64]:
    """The cells by class, and by their numbers within one; those of class -1 are left out."""
    members = np.flatnonzero(classes >= 0)
    order: NDArray[np.int64] = members[np.lexsort((numbers[members], classes[members]))]
    return order
