"""What stands for a cluster in the release, and the privacy figures of the paper's Table III that it reaches."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects
from medveil.codes.combine import combine
from medveil.errors import UnreachableError
from medveil.methods.diversity_aware.points import UnitColumn, Units, group_means
from medveil.methods.problem import GENERALIZE, Problem, label_array
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes
from medveil.privacy.l_diversity import LDiversity, entropies, top_to_tail
from medveil.privacy.model import PrivacyModel
from medveil.privacy.t_closeness import TCloseness
from medveil.release.draft import Promise
from medveil.table.domain import read_number
from medveil.table.labels import range_label, set_label, value_label
from medveil.table.schema import Kind

_EPOCH = dt.date(1970, 1, 1)
Label = str | None

_STATED = 10_000
"""Figures are claimed to four decimals, rounded to the safe side."""


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


@dataclass(frozen=True)
class PublishedClusters:
    """The records with the class that they are published in."""

    problem: Problem
    cells: Cells
    labels: Sequence[Labels]
    cluster: NDArray[np.int32]

    def classes(self, shield: Sequence[int]) -> Classes:
        """The classes that someone sees who knows these quasi-identifiers: clusters of the same labels are one."""
        codes = [self.labels[position].codes for position in shield]
        first, of_cluster = combine(codes, [int(column.max()) + 1 for column in codes], int(self.cluster.max()) + 1)
        return count_classes(self.cells, of_cluster[self.cluster], len(first))


def read_published(
    problem: Problem, units: Units, labels: Sequence[Labels], cluster: NDArray[np.int32]
) -> PublishedClusters:
    """`cluster` is that of each unit."""
    records = len(units.of_record)
    subjects = None
    if problem.schema.subject is not None:
        subjects = Subjects(np.arange(records + 1), units.of_record.astype(np.int32), units.count)
    cells = Cells(
        quasi=problem.cells.quasi,
        codes=np.zeros((len(problem.cells.quasi), 0), dtype=np.int32),
        counts=np.ones(records, dtype=np.int64),
        sensitive={name: codes[problem.cell_of_row] for name, codes in problem.cells.sensitive.items()},
        domains=problem.cells.domains,
        subjects=subjects,
    )
    return PublishedClusters(problem, cells, labels, cluster[units.of_record])


def require(published: PublishedClusters) -> None:
    """Refuse clusters that do not keep what the policy asks for; say what they reach."""
    problem = published.problem
    for requirement in problem.requirements:
        model, classes = requirement.model, published.classes(requirement.shield)
        failing = int(np.count_nonzero(~model.holds(classes, problem.reference)))
        if failing:
            reached = ", ".join(
                f"{name} {figure:.4g}" for name, figure in model.achieved(classes, problem.reference).items()
            )
            raise UnreachableError(
                f"{model.summary()} does not hold in {failing:,} of {len(classes):,} clusters; they reach {reached}.",
                _remedy(published, model),
            )


def _remedy(published: PublishedClusters, model: PrivacyModel) -> str:
    """What is sure to help: clusters in which the values are spread evenly and that are large enough, or one class of
    everybody, which another method can come to.
    """
    problem, cells = published.problem, published.cells
    if (beyond := problem.beyond_everybody()) is not None:
        return beyond
    attribute = model.sensitive_attribute
    enough = None if attribute is None else model.enough_spread_evenly(len(cells.domains[attribute]))
    people = cells.subjects.count if cells.subjects is not None else cells.records
    if enough is None or enough > people or len(cells.sensitive) > 1:
        return f"{GENERALIZE[0].upper()}{GENERALIZE[1:]}, or ask for less."
    return (
        f"A k of {max(enough, problem.k):,} is sure to be enough with the values spread evenly: 'caps: both' and "
        "'sizes: equal', without alpha and sensitive_value."
    )


def figures(published: PublishedClusters) -> dict[str, Any]:
    """Table III: k, and for each sensitive attribute distinct l, entropy l, recursive (c,l) and the variational
    distance, each of its worst class, with that class's counts of values, the largest first.
    """
    classes = published.classes(range(len(published.labels)))
    found: dict[str, Any] = {"k": int(classes.sizes.min())}
    for name, histogram in classes.histograms.items():
        distinct = np.diff(histogram.offsets)
        entropy = np.exp(entropies(histogram))
        l = int(distinct.min())  # noqa: E741 - the literature's name
        tail = top_to_tail(histogram, l)
        apart = TCloseness(t=2.0, distance="variational", attribute=name).distances(
            classes, published.problem.reference
        )

        def worst(i: int, histogram: Any = histogram) -> list[int]:
            counts = histogram.counts[histogram.offsets[i] : histogram.offsets[i + 1]]
            return sorted((int(count) for count in counts), reverse=True)

        found[name] = {
            "distinct_l": {"l": l, "counts": worst(int(distinct.argmin()))},
            "entropy_l": {"l": float(entropy.min()), "counts": worst(int(entropy.argmin()))},
            "recursive": {"l": l, "c": float(tail.max()), "counts": worst(int(tail.argmax()))},
            "variational": {"t": float(apart.max()), "counts": worst(int(apart.argmax()))},
        }
    return found


def stated(problem: Problem, found: Mapping[str, Any]) -> list[Promise]:
    """Claims of these figures, but for those that the policy asks for itself: the auditor proves them again."""
    models: list[PrivacyModel] = []
    for name in problem.schema.sensitive:
        of = found[name]
        models += [
            LDiversity(variant="distinct", l=of["distinct_l"]["l"], attribute=name),
            LDiversity(variant="entropy", l=max(1.0, _down(of["entropy_l"]["l"])), attribute=name),
            LDiversity(variant="recursive", l=of["recursive"]["l"], c=_above(of["recursive"]["c"]), attribute=name),
            TCloseness(t=min(2.0, _up(of["variational"]["t"])), distance="variational", attribute=name),
        ]
    asked = {_kind(model) for model in problem.models}
    return replace(problem, models=[model for model in models if _kind(model) not in asked]).promises()


def _kind(model: PrivacyModel) -> tuple[object, ...]:
    """What makes two models of one name different claims: columns and variant, but not how much they ask."""
    variant = tuple(value for value in model.required.values() if isinstance(value, str))
    return model.name, model.sensitive_attribute, model.on, variant


def _down(figure: float) -> float:
    return math.floor(figure * _STATED) / _STATED


def _up(figure: float) -> float:
    return math.ceil(figure * _STATED) / _STATED


def _above(figure: float) -> float:
    """The least stated figure that is truly above: recursive diversity is a strict inequality."""
    return (math.floor(figure * _STATED) + 1) / _STATED
