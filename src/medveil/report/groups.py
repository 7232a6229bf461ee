"""Groups of people that may be shown: none of fewer than so many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MOST_VALUES = 10_000
"""Values of a column, at most, of which the frequent ones are drawn."""

OPEN = "…"
"""The end of a range that has none."""


@dataclass(frozen=True)
class Groups:
    """Names with what they hold before and after (records, parallel), and how many people are behind each before.

    ordered: neighbours belong together, so small groups are joined with the next; otherwise with the others.
    ends: where each group begins and ends, for the names of joined ones.
    tail: how many of the last groups are not neighbours of others; they are left out where they are too small.
    gathered: the last group is all that were too small, or too many.
    """

    names: tuple[str, ...]
    before: Numbers | None
    after: Numbers
    people: Numbers
    ordered: bool = False
    ends: tuple[tuple[str, str], ...] | None = None
    tail: int = 0
    gathered: bool = False


def shown(groups: Groups, least: int, most: int = 14) -> Groups:
    """The same with no group of fewer than `least` people, and at most `most` of them."""
    return _joined(groups, least, most) if groups.ordered else _gathered(groups, least, most)


def _behind(groups: Groups) -> Numbers:
    """How many a group surely has: the fewer of before and after, where it has any on both sides."""
    both = (groups.after > 0) & (groups.people > 0)
    return np.where(both, np.minimum(groups.people, groups.after), np.maximum(groups.people, groups.after))


def _gathered(groups: Groups, least: int, most: int) -> Groups:
    """Small groups become one; while that one is too small itself, the smallest of the others joins it."""
    behind = _behind(groups)
    order = sorted(range(len(groups.names)), key=lambda i: (-behind[i], groups.names[i]))
    kept = [i for i in order if behind[i] >= least][:most]
    rest = order[len(kept) :]  # those with fewer come last
    while rest and kept and sum(behind[i] for i in rest) < least:
        rest.append(kept.pop())
    if not rest:
        return _chosen(groups, [[i] for i in kept], [groups.names[i] for i in kept])
    noun = "other value" if len(rest) == 1 else "other values"
    name = f"{len(rest):,} {noun}" if kept else "all values"
    found = _chosen(groups, [*([i] for i in kept), rest], [*(groups.names[i] for i in kept), name])
    return replace(found, gathered=bool(kept))


def _joined(groups: Groups, least: int, most: int) -> Groups:
    """Neighbours are joined from one end to the other until each group is large enough."""
    behind = _behind(groups)
    line = len(groups.names) - groups.tail
    width = max(-(-line // most), 1)
    runs: list[list[int]] = [[]]
    for i in range(line):
        enough = len(runs[-1]) >= width and sum(behind[j] for j in runs[-1]) >= least
        if enough:
            runs.append([])
        runs[-1].append(i)
    if len(runs) > 1 and sum(behind[j] for j in runs[-1]) < least:
        last = runs.pop()
        runs[-1] += last
    alone = [[i] for i in range(line, len(groups.names)) if behind[i] >= least]
    runs = [run for run in runs if run] + alone
    return _chosen(groups, runs, [_span(groups, run) for run in runs])


def _span(groups: Groups, run: Sequence[int]) -> str:
    """What neighbours are called together: where the first begins and the last ends."""
    if len(run) < 2:
        return groups.names[run[0]] if run else ""
    ends = groups.ends or [(name, name) for name in groups.names]
    return between(ends[run[0]][0], ends[run[-1]][1])


def between(low: str, high: str) -> str:
    """The name of a range.

    >>> between("5", "9"), between("5", "5"), between("100", OPEN)
    ('5 to 9', '5', '100 or more')
    """
    if high == OPEN:
        return f"{low} or more"
    return low if low == high else f"{low} to {high}"


def _chosen(groups: Groups, runs: Sequence[Sequence[int]], names: Sequence[str]) -> Groups:
    def summed(values: Numbers) -> Numbers:
        return np.array([float(values[list(run)].sum()) for run in runs])

    return Groups(
        tuple(names),
        None if groups.before is None else summed(groups.before),
        summed(groups.after),
        summed(groups.people),
        groups.ordered,
    )
