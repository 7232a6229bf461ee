"""Each column before and after, in groups that the release itself names, none of fewer than so many people.

A page tells no value that is not published: groups are the published labels where each value has one, values that are
published by name somewhere, or ranges with round ends.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.engine import Engine
from medveil.evaluation.comparison import CODE_BOOK, Comparison
from medveil.evaluation.coverage import Coverage
from medveil.hierarchy.hierarchy import ROOT
from medveil.report.groups import MOST_VALUES, Groups, between, shown
from medveil.report.words import MISSING, clean
from medveil.table.arrow import number_array
from medveil.table.labels import parse_label
from medveil.table.schema import Kind
from medveil.utility.original import leaf_counts

MOST_LABELS = 24
BINS = 10
EVERYTHING = "anything (*)"
UNPUBLISHED = "not published"
EPOCH = dt.date(1970, 1, 1)

Numbers = NDArray[np.float64]


def distribution(comparison: Comparison, name: str, least: int) -> Groups:
    """A quasi-identifier or sensitive attribute before and after, in records."""
    coverage = {**comparison.coverage, **comparison.sensitive_coverage}[name]
    published = np.bincount(coverage.codes[~comparison.suppressed], minlength=len(coverage.labels)).astype(np.float64)
    place = _label_beside_star(coverage)
    on_a_line = coverage.line is not None
    by_name = comparison.forms.get(name) in {None, ""}
    used = int(np.count_nonzero(published))
    if place is not None and by_name and (used <= MOST_LABELS or not on_a_line):
        groups = _by_label(comparison, name, coverage, published, place)
    elif on_a_line:
        groups = _by_range(comparison, name, coverage, published)
    else:
        groups = _by_value(comparison, name, coverage, published)
    return shown(groups, least, MOST_LABELS if groups.ordered else 14)


def plain_distribution(comparison: Comparison, name: str, least: int) -> Groups | None:
    """A column that is published as it is; None where it has too many values for a picture to say anything."""
    engine, subject = comparison.problem.engine, comparison.problem.schema.subject
    if engine.distinct(name) > MOST_VALUES:
        return None
    texts, before, people = _plain_counts(engine, name, subject)
    column = comparison.published[name].filter(number_array(~comparison.suppressed)).cast("string")
    counted = column.value_counts().to_pylist()
    after = {entry["values"]: entry["counts"] for entry in counted}
    names = tuple(dict.fromkeys([*after, *texts]))
    held = dict(zip(texts, zip(before, people, strict=True), strict=True))
    # A value of suppressed records alone is not published, so it has no name here.
    told = tuple(clean(value) if value in after else UNPUBLISHED for value in names)
    groups = Groups(
        told,
        np.array([held.get(value, (0, 0))[0] for value in names], dtype=np.float64),
        np.array([after.get(value, 0) for value in names], dtype=np.float64),
        np.array([held.get(value, (0, 0))[1] for value in names], dtype=np.float64),
    )
    return shown(_merged(groups), least)


def too_many(undrawn: Sequence[str]) -> list[str]:
    """What is said of the columns that are not drawn."""
    return [f"Too many values to be drawn: {', '.join(undrawn)}."] if undrawn else []


def _plain_counts(engine: Engine, name: str, subject: str | None) -> tuple[list[str | None], list[int], list[int]]:
    counted = engine.values(name, subject)
    return counted["value"].to_pylist(), counted["records"].to_pylist(), counted["people"].to_pylist()


def _merged(groups: Groups) -> Groups:
    """Groups of one name become one."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(groups.names))}
    names = tuple(numbers)
    place = np.array([numbers[name] for name in groups.names], dtype=np.int64)

    def summed(values: Numbers) -> Numbers:
        return np.bincount(place, values, minlength=len(names)).astype(np.float64)

    before = None if groups.before is None else summed(groups.before)
    return Groups(names, before, summed(groups.after), summed(groups.people), groups.ordered)


def _label_beside_star(coverage: Coverage) -> NDArray[np.int64] | None:
    """The label of each leaf where every leaf has at most one beside `*`; -1 where it has none."""
    stars = np.array([label == ROOT for label in coverage.labels], dtype=np.bool_)
    if stars.all():
        return np.zeros(len(coverage.domain), dtype=np.int64)
    if coverage.foreign[~stars].any() or coverage.unread.any():
        return None
    return coverage.label_among(~stars)


def _by_label(
    comparison: Comparison, name: str, coverage: Coverage, published: Numbers, place: NDArray[np.int64]
) -> Groups:
    """The published labels; what has none is a group of its own."""
    counts = leaf_counts(comparison, name)
    number = len(coverage.labels)
    groups = np.where(place < 0, number, place)
    before = np.bincount(groups, counts, minlength=number + 1)
    people = _people(comparison, name, groups, before)
    first = np.full(number + 1, len(coverage.domain), dtype=np.int64)
    np.minimum.at(first, groups, np.arange(len(groups)))
    ordered = coverage.domain.kind in {Kind.NUMBER, Kind.DATE} and number > 2
    order = [i for i in np.argsort(first, kind="stable").tolist() if before[i] or (i < number and published[i])]
    # What stands for no place on the line comes last, alone: the neighbours are joined without it.
    nowhere = [i for i in order if i == number or coverage.labels[i] in {ROOT, None}] if ordered else []
    order = [i for i in order if i not in nowhere] + nowhere
    names = [UNPUBLISHED if i == number else _named(coverage.labels[i]) for i in order]
    after = np.concatenate([published, [0.0]])
    return Groups(
        tuple(names), before[order].astype(np.float64), after[order], people[order], ordered, tail=len(nowhere)
    )


def _named(label: str | None) -> str:
    return EVERYTHING if label == ROOT else clean(label)


def _by_value(comparison: Comparison, name: str, coverage: Coverage, published: Numbers) -> Groups:
    """The values that are published by name somewhere; the others are one group."""
    known: set[str | None] = set()
    for label in coverage.labels:
        known |= {label, *parse_label(label).values}
    if comparison.forms.get(name) == "ids" and CODE_BOOK in comparison.companions:
        book = comparison.companions[CODE_BOOK]
        known |= set(book["stands_for"].to_pylist())
    domain = coverage.domain
    named = [i for i, value in enumerate(domain.values) if value in known]
    groups = np.full(len(domain), len(named), dtype=np.int64)
    groups[named] = np.arange(len(named))
    before = np.bincount(groups, leaf_counts(comparison, name), minlength=len(named) + 1).astype(np.float64)
    after = np.bincount(groups, coverage.over_leaves(published), minlength=len(named) + 1).astype(np.float64)
    names = (*(clean(domain.values[i]) for i in named), UNPUBLISHED)
    kept = [i for i in range(len(names)) if before[i] or after[i]]
    people = _people(comparison, name, groups, before)
    return Groups(tuple(names[i] for i in kept), before[kept], after[kept], people[kept])


def _by_range(comparison: Comparison, name: str, coverage: Coverage, published: Numbers) -> Groups:
    """Ranges with round ends over the line of numbers or days."""
    domain = coverage.domain
    numbers = domain.numbers
    assert coverage.line is not None
    present = ~np.isnan(numbers)
    edges, texts = _edges(float(numbers[present].min()), float(numbers[present].max()), domain.kind)
    number = len(edges) - 1
    place = np.clip(np.searchsorted(edges, np.where(present, numbers, edges[0]), "right") - 1, 0, number - 1)
    groups = np.where(present, place, number).astype(np.int64)
    before = np.bincount(groups, leaf_counts(comparison, name), minlength=number + 1).astype(np.float64)
    ends = [*edges[1:-1], math.inf]
    after = [
        float(published @ (coverage.line.shares_within(low if j else -math.inf, high) * (1 - coverage.missing)))
        for j, (low, high) in enumerate(zip(edges[:-1], ends, strict=True))
    ]
    after.append(float(published @ coverage.missing))
    people = _people(comparison, name, groups, before)
    kept = [j for j in range(number + 1) if j < number or before[j] or after[j]]
    span = [(texts[j], texts[j + 1]) for j in range(number)] + [(MISSING, MISSING)]
    names = [between(low, high) for low, high in span]
    return Groups(
        tuple(names[j] for j in kept),
        before[kept],
        np.array(after)[kept],
        people[kept],
        ordered=True,
        ends=tuple(span[j] for j in kept),
        tail=len(kept) - number,
    )


def _edges(low: float, high: float, kind: Kind) -> tuple[list[float], list[str]]:
    """About ten ranges with round ends that hold everything from low to high."""
    if kind is Kind.DATE:
        return _date_edges(low, high)
    # Parts of numbers do not overflow, and steps below what the numbers can tell apart would never end.
    rough = max(high / BINS - low / BINS, max(abs(low), abs(high)) * 1e-12, 1e-10)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    edges = [number * step for number in range(math.floor(low / step), math.floor(high / step) + 2)]
    return edges, [f"{edge:.10g}" for edge in edges]


def _date_edges(low: float, high: float) -> tuple[list[float], list[str]]:
    start, end = EPOCH + dt.timedelta(days=int(low)), EPOCH + dt.timedelta(days=int(high))
    months = (end.year - start.year) * 12 + end.month - start.month + 1
    step = next((size for size in (1, 3, 6, 12, 24, 60, 120, 240, 600) if months <= size * BINS * 1.5), 1200)
    first = (start.year * 12 + start.month - 1) // step * step
    steps = range(first, end.year * 12 + end.month - 1 + step + 1, step)
    days = [dt.date(min(max(month // 12, 1), 9999), month % 12 + 1, 1) for month in steps]
    return [float((day - EPOCH).days) for day in days], [day.isoformat()[:7] for day in days]


def _people(
    comparison: Comparison, name: str, group_of_leaf: NDArray[np.int64], records: NDArray[np.float64 | np.int64]
) -> Numbers:
    """How many people of the original are in each group: its records where no subject is declared."""
    cells = comparison.problem.cells
    if not cells.counts_people:
        return records.astype(np.float64)
    return cells.people_of(name, group_of_leaf, len(records)).astype(np.float64)
