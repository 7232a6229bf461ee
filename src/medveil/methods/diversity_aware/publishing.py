"""What is published for each cluster: means and most frequent values, or the ranges and sets that it fills."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.methods.diversity_aware.units import UnitColumn, Units, group_means
from medveil.methods.problem import label_array
from medveil.table.domain import read_number
from medveil.table.labels import range_label, set_label, value_label
from medveil.table.schema import Kind

_EPOCH = dt.date(1970, 1, 1)
Label = str | None


@dataclass(frozen=True)
class Labels:
    """One column as it is published: the distinct labels, and the label of each cluster."""

    labels: tuple[Label, ...]
    codes: NDArray[np.int32]

    def by_record(self, cluster: NDArray[np.int32]) -> pa.Array:
        return label_array(self.labels, self.codes[cluster])


def means(column: UnitColumn, cluster: NDArray[np.int32], clusters: int, digits: int | None) -> Labels:
    """The mean of each cluster's units, each counted once; for categories the most frequent one.

    Missing numbers have no part in a mean. It is left empty where fewer than half of the cluster's units have a number,
    or only one of several; so is a category that only one of several has: what is published is never one person's own.
    """
    sizes = np.bincount(cluster, minlength=clusters)
    if column.numbers is None:
        codes, counts = _modes(column.categories, cluster, clusters)
        shown = counts >= np.minimum(2, sizes)
        return _labels([_value(column, code) if show else None for code, show in zip(codes, shown, strict=True)])
    known = np.bincount(cluster[~np.isnan(column.numbers)], minlength=clusters)
    shown = (2 * known >= sizes) & (known >= np.minimum(2, sizes)) & (known > 0)
    if len(column.domain.present) == 1:  # as it is, whatever its digits
        return _labels([column.domain.present[0] if show else None for show in shown])
    average = group_means(column.numbers, cluster, clusters)
    decimals = decimals_of(column) if digits is None else digits
    return _labels(
        [_number(column, float(mean), decimals) if show else None for mean, show in zip(average, shown, strict=True)]
    )


def decimals_of(column: UnitColumn) -> int:
    """As few decimals as move no mean by more than a hundredth of the column's standard deviation.

    Ages that spread by 9 years are published as 54.3, cholesterol that spreads by 51 mg/dl as 246. Numbers that are the
    same but for rounding are published to twelve digits.
    """
    accuracy = math.log10(column.spread / 50.0) if column.spread else -12.0
    return math.ceil(-accuracy - math.log10(column.largest) - 1e-9)


def shares(column: UnitColumn, cluster: NDArray[np.int32], clusters: int) -> Labels:
    """For categories, which share of each cluster's units has which value, the most frequent first: `a 70%, b 30%`."""
    codes = column.categories
    width = int(codes.max()) + 1
    pairs, counts = np.unique(cluster.astype(np.int64) * width + codes, return_counts=True)
    order = np.lexsort((pairs % width, -counts, pairs // width))
    parts: list[list[str]] = [[] for _ in range(clusters)]
    sizes = np.bincount(cluster, minlength=clusters)
    for place in order:
        i, code = divmod(int(pairs[place]), width)
        value = column.domain.values[code]
        parts[i].append(f"{'?' if value is None else value} {100 * counts[place] / sizes[i]:.0f}%")
    return _labels([", ".join(part) for part in parts])


def ranges(column: UnitColumn, units: Units, cluster: NDArray[np.int32], clusters: int) -> Labels:
    """What each cluster's records fill: the range from the least to the greatest number or date, the set of categories;
    `?` among them where some are missing.
    """
    of_record = cluster[units.of_record]
    width = len(column.domain)
    pairs = np.unique(of_record.astype(np.int64) * width + column.codes)
    starts = np.searchsorted(pairs, np.arange(clusters + 1) * width)
    written = []
    for i in range(clusters):
        values = [column.domain.values[code] for code in pairs[starts[i] : starts[i + 1]] % width]
        written.append(_filled(column, values))
    return _labels(written)


def _filled(column: UnitColumn, values: Sequence[Label]) -> Label:
    """Codes are in natural order, a missing value last."""
    if column.numbers is None:
        return set_label(values)
    present = [value for value in values if value is not None]
    if not present:
        return None
    numeric = column.domain.kind is Kind.NUMBER
    label = range_label(present[0], present[-1], numeric=numeric)
    return label if len(present) == len(values) else set_label([None], [label])


def _labels(written: Sequence[Label]) -> Labels:
    codes: dict[Label, int] = {}
    found = np.array([codes.setdefault(label, len(codes)) for label in written], dtype=np.int32)
    return Labels(tuple(codes), found)


def _modes(
    codes: NDArray[np.int32], cluster: NDArray[np.int32], clusters: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The most frequent code of each cluster, the first in order of several; and how many have it."""
    width = int(codes.max()) + 1
    pairs, counts = np.unique(cluster.astype(np.int64) * width + codes, return_counts=True)
    order = np.lexsort((pairs, -counts, pairs // width))
    first = np.searchsorted((pairs // width)[order], np.arange(clusters))
    chosen = order[first]
    return pairs[chosen] % width, counts[chosen]


def _value(column: UnitColumn, code: int) -> Label:
    value = column.domain.values[code]
    return None if value is None else value_label(value)


def _number(column: UnitColumn, mean: float, decimals: int) -> str:
    if column.domain.kind is Kind.DATE:
        return (_EPOCH + dt.timedelta(days=round(mean))).isoformat()
    rounded = round(mean, decimals)
    text = f"{rounded:.{decimals}f}" if 0 <= decimals < 15 else repr(rounded)
    return read_number(text) or text
