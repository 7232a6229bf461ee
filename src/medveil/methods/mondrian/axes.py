"""Quasi-identifiers as Mondrian sees them: codes in an order to cut along, and labels for what a box covers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import ROOT, Level
from medveil.methods.mondrian.arrays import FREE_SET, ORDERED_SET, RANGE, Axes, Places
from medveil.methods.mondrian.ends import Ends, declared_ends, find_ends
from medveil.methods.problem import Problem
from medveil.table.domain import Domain
from medveil.table.labels import join_members, parse_label, set_label, set_member, value_label
from medveil.table.schema import Kind

LABEL_LIMIT = 1 << 28
"""Boxes times codes up to which a table of what each box holds is made at once."""


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: a *code* is a value, or a group of the least level that the policy allows.

    codes: the code of each cell. texts: the value or group of each code; labels: what is published for it alone.
    scale, span, missing: see Axes. above: the hierarchy's levels above the codes, over codes; the last is the root.
    ends: where ranges may end. members: each code as it stands in a set.
    """

    kind: int
    codes: NDArray[np.int32]
    labels: tuple[str | None, ...]
    texts: tuple[str | None, ...]
    scale: NDArray[np.float64]
    span: float
    missing: int
    weight: float
    above: tuple[Level, ...]
    ends: Ends | None = None
    members: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def losses(self) -> NDArray[np.float64]:
        """The loss of publishing each code alone."""
        if self.ends is not None:
            return np.concatenate([self.ends.alone / self.span, np.zeros(len(self) - len(self.ends.alone))])
        return (self.scale - 1.0) / self.span

    def group_at(self, level: int) -> NDArray[np.int32]:
        """The group of each code at a level counted from the axis's own, which is 0."""
        return np.arange(len(self), dtype=np.int32) if level <= 0 else self.above[level - 1].groups


@dataclass(frozen=True)
class Covered:
    """What is published of an attribute for each box: `labels[codes[box]]`, and the loss of that."""

    codes: Places
    labels: tuple[str | None, ...]
    losses: NDArray[np.float64]


def read_axis(problem: Problem, position: int) -> Axis:
    """The axis of one quasi-identifier.

    Numbers, dates and codes (in the order of their text) are cut along the line and published as ranges. Categories
    are published as sets: with a hierarchy they are cut in the order of its leaves, so that a set keeps to one branch
    as long as it can, without one in any order. From a least level up, groups are what values are elsewhere.
    """
    name = problem.cells.quasi[position]
    domain = problem.cells.domains[name]
    codes = problem.cells.codes[position]
    hierarchy = problem.hierarchies.get(name)
    least = problem.min_levels.get(name, 0)
    levels = hierarchy.levels if hierarchy is not None else ()
    weight = problem.weight(name)
    if least == 0 and domain.kind is not Kind.CATEGORY:
        return _line(domain, codes, levels, weight)
    if domain.kind is Kind.NUMBER and (lined := _groups_line(domain, codes, levels, least, weight)) is not None:
        return lined
    size = hierarchy.size if hierarchy is not None else float(len(domain))
    base = levels[least] if levels else Level(np.arange(len(domain)), domain.values, np.ones(len(domain)))
    above = levels[least + 1 :]
    first = np.full(len(base.labels), len(domain), dtype=np.int64)
    np.minimum.at(first, base.groups, np.arange(len(domain)))
    keys: list[NDArray[Any]] = [first, *(level.groups[first] for level in above)]
    order = np.lexsort(keys)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    texts = tuple(base.labels[group] for group in order)
    leaf = first[order]
    return Axis(
        kind=FREE_SET if least == 0 and len(above) < 2 else ORDERED_SET,
        codes=np.ascontiguousarray(rank[base.groups[codes]], dtype=np.int32),
        labels=tuple(t if t is None or least else value_label(t) for t in texts),
        texts=texts,
        scale=np.ascontiguousarray(base.covered[order], dtype=np.float64),
        span=max(size - 1.0, 1.0),
        missing=-1,
        weight=weight,
        above=tuple(Level(level.groups[leaf], level.labels, level.covered) for level in above),
        # Groups that the hierarchy names by a range stand in a set as that range.
        members=tuple(t if least and t is not None and parse_label(t).spans else set_member(t) for t in texts),
    )


def _span(first: float, last: float) -> float:
    """How far apart two numbers are, as far as a float can tell; 1 where they are the same."""
    return min(last - first, sys.float_info.max) or 1.0


def _line(domain: Domain, codes: NDArray[np.int32], levels: Sequence[Level], weight: float) -> Axis:
    """The axis of numbers, dates or codes as they are."""
    lined = domain.kind in {Kind.NUMBER, Kind.DATE}
    scale = domain.numbers if lined else np.arange(len(domain), dtype=np.float64)
    known = len(domain.present)
    ends = find_ends(domain.kind, domain.present, scale[:known], levels[1] if len(levels) > 2 else None)
    return Axis(
        kind=RANGE,
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        labels=tuple(None if value is None else value_label(value) for value in domain.values),
        texts=domain.values,
        scale=np.nan_to_num(scale),
        span=_span(float(ends.starts[0]), float(ends.stops[-1])) if known else 1.0,
        missing=known if domain.has_missing else -1,
        weight=weight,
        above=tuple(levels[1:]),
        ends=ends,
        members=tuple(set_member(value) for value in domain.values),
    )


def _groups_line(
    domain: Domain, codes: NDArray[np.int32], levels: Sequence[Level], least: int, weight: float
) -> Axis | None:
    """The axis of numbers that are published from a level on whose groups are ranges; None where they are not."""
    base = levels[least]
    ends = declared_ends([base.labels[group] for group in range(len(base.labels) - domain.has_missing)])
    if ends is None or (domain.has_missing and base.labels[-1] is not None):
        return None
    _, first = np.unique(base.groups, return_index=True)
    known = len(ends.starts)
    return Axis(
        kind=RANGE,
        codes=np.ascontiguousarray(base.groups[codes], dtype=np.int32),
        labels=base.labels,
        texts=base.labels,
        scale=np.concatenate([ends.starts, np.zeros(len(base.labels) - known)]),
        span=_span(float(ends.starts[0]), float(ends.stops[-1])) if known else 1.0,
        missing=known if domain.has_missing else -1,
        weight=weight,
        above=tuple(Level(level.groups[first], level.labels, level.covered) for level in levels[least + 1 :]),
        ends=ends,
        members=tuple("" if label is None else label for label in base.labels),
    )


def kernel_axes(axes: Sequence[Axis]) -> Axes:
    """The axes as flat arrays."""
    return Axes(
        kinds=np.array([axis.kind for axis in axes], dtype=np.int64),
        starts=np.cumsum([0, *(len(axis) for axis in axes)], dtype=np.int64),
        scale=np.concatenate([axis.scale for axis in axes]) if axes else np.zeros(0),
        spans=np.array([axis.span for axis in axes], dtype=np.float64),
        missing=np.array([axis.missing for axis in axes], dtype=np.int64),
        weights=np.array([axis.weight for axis in axes], dtype=np.float64),
    )


def cover_boxes(axis: Axis, codes: NDArray[np.int32], starts: Places, largest_set: int) -> Covered:
    """What is published for boxes, which are stretches of points that begin at `starts`, given the points' codes."""
    covered = _ranges(axis, codes, starts) if axis.kind == RANGE else _sets(axis, codes, starts, largest_set)
    # Different sets of values may be called the same, such as a group that is named like one of its values.
    numbers: dict[str | None, int] = {}
    renamed = np.array([numbers.setdefault(label, len(numbers)) for label in covered.labels], dtype=np.int64)
    return Covered(renamed[covered.codes], tuple(numbers), covered.losses)


def _ranges(axis: Axis, codes: NDArray[np.int32], starts: Places) -> Covered:
    """The range from the lowest to the highest value of each box, with `?` where it also holds missing ones."""
    is_missing = codes == axis.missing
    low = np.minimum.reduceat(np.where(is_missing, len(axis), codes), starts).astype(np.int64)
    high = np.maximum.reduceat(np.where(is_missing, -1, codes), starts).astype(np.int64)
    gaps = np.maximum.reduceat(is_missing, starts)
    empty = high < 0
    low[empty] = high[empty] = 0
    assert axis.ends is not None
    ends = axis.ends
    known = len(ends.starts)
    reach = np.concatenate([ends.stops, np.zeros(len(axis) - known)])
    begin = np.concatenate([ends.starts, np.zeros(len(axis) - known)])
    with np.errstate(over="ignore"):  # as in `_span`: two numbers may be further apart than a float can tell
        apart = np.minimum(reach[high] - begin[low], sys.float_info.max)
    extent = np.where(low == high, axis.losses[low], apart / axis.span)
    losses = np.where(empty, 0.0, np.where(gaps, 1.0, extent))
    keys = ((low * len(axis) + high) * 2 + gaps) * 2 + empty
    found, numbers = np.unique(keys, return_inverse=True)

    def label(key: int) -> str | None:
        (first, last), gap, nothing = divmod(key // 4, len(axis)), key // 2 % 2, key % 2
        if nothing:
            return None
        if first == last:
            return join_members([axis.members[first], set_member(None)]) if gap else axis.labels[first]
        span = ends.label(first, last)
        return set_label([None], [span]) if gap else span

    return Covered(numbers.reshape(-1).astype(np.int64), tuple(label(key) for key in found.tolist()), losses)


def _sets(axis: Axis, codes: NDArray[np.int32], starts: Places, largest_set: int) -> Covered:
    """The set of each box's codes; of one with more than `largest_set`, the lowest group that holds them all."""
    offsets, members = _held(codes, starts, len(axis))
    sizes = np.diff(offsets)
    losses = (np.add.reduceat(axis.scale[members], offsets[:-1]) - 1.0) / axis.span
    numbers = np.zeros(len(starts), dtype=np.int64)
    labels: list[str | None] = []

    # Sets are told apart one member at a time: equal so far, and equal in the next.
    prefix = np.zeros(len(starts), dtype=np.int64)
    pending = np.flatnonzero(sizes <= largest_set)
    depth = 0
    while len(pending):
        keys = prefix[pending] * len(axis) + members[offsets[pending] + depth]
        prefix[pending] = np.unique(keys, return_inverse=True)[1].reshape(-1)
        depth += 1
        ended = pending[sizes[pending] == depth]
        _, where, inverse = np.unique(prefix[ended], return_index=True, return_inverse=True)
        numbers[ended] = len(labels) + inverse.reshape(-1)
        labels += [_set_label(axis, members[offsets[box] : offsets[box + 1]].tolist()) for box in ended[where]]
        pending = pending[sizes[pending] > depth]

    large = np.flatnonzero(sizes > largest_set)
    for level in axis.above:
        groups = level.groups[members]
        lowest, highest = (extreme.reduceat(groups, offsets[:-1])[large] for extreme in (np.minimum, np.maximum))
        inside, group = large[lowest == highest], lowest[lowest == highest]
        numbers[inside] = len(labels) + group
        labels += level.labels
        losses[inside] = (level.covered[group] - 1.0) / axis.span
        large = large[lowest != highest]
    numbers[large] = len(labels)
    losses[large] = 1.0
    return Covered(numbers, (*labels, ROOT), losses)


def _set_label(axis: Axis, codes: Sequence[int]) -> str | None:
    return axis.labels[codes[0]] if len(codes) == 1 else join_members([axis.members[code] for code in codes])


def _held(codes: NDArray[np.int32], starts: Places, size: int) -> tuple[Places, Places]:
    """The distinct codes of each box, ascending, as offsets and codes."""
    lengths = np.diff(np.append(starts, len(codes)))
    keys = np.repeat(np.arange(len(starts), dtype=np.int64), lengths) * size + codes
    if len(starts) * size <= LABEL_LIMIT:
        there = np.zeros(len(starts) * size, dtype=np.bool_)
        there[keys] = True
        found = np.flatnonzero(there)
    else:
        found = np.unique(keys)
    offsets = np.searchsorted(found, np.arange(len(starts) + 1, dtype=np.int64) * size)
    return offsets, found % size
