"""From the groups that a builder finds to a hierarchy: missing values, catch-all groups and the root."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.hierarchy.hierarchy import ROOT, Hierarchy, Level, check_nested
from medveil.hierarchy.specification import OWN, HierarchySpec
from medveil.table.domain import Domain


@dataclass(frozen=True)
class HierarchyDraft:
    """One level below the root: `groups[leaf]` (-1 where the hierarchy does not know the value), each group's label,
    all different, and how many leaves of the declared domain it covers. Groups without a leaf are allowed.
    """

    groups: NDArray[np.int64]
    labels: Sequence[str]
    covered: NDArray[np.float64]


class NotCoveredError(InputError):
    """A hierarchy lacks values of its column: `leaves` are their places in the domain. The message tells none."""

    def __init__(self, column: str, leaves: NDArray[np.int64], count: int) -> None:
        self.leaves = leaves
        super().__init__(
            f"The hierarchy of '{column}' does not cover {len(leaves)} of its {count} distinct values.",
            f"'medveil hierarchy POLICY {shlex.quote(column)} --missing' lists them for you. Widen the hierarchy, name "
            "a catch-all group for them with 'other:', or fix the data.",
        )


def assemble(
    spec: HierarchySpec,
    domain: Domain,
    column: str,
    drafts: Sequence[HierarchyDraft],
    known: NDArray[np.bool_],
    size: float,
    *,
    root: str = ROOT,
    extra: NDArray[np.bool_] | None = None,
    chains: Mapping[str, Sequence[str]] | None = None,
) -> Hierarchy:
    """The hierarchy of the known values, with missing and other values where the policy wants them.

    `size` counts the declared domain; `extra` marks known values that lie outside it. `chains` gives, for a
    catch-all label that is also a group of the hierarchy, that group's label at each level.
    """
    count = len(domain)
    missing = np.zeros(count, dtype=np.bool_)
    missing[-1:] = domain.has_missing
    missing &= ~known
    strange = ~known & ~missing
    if spec.other is None and strange.any():
        raise NotCoveredError(column, np.flatnonzero(strange), count)
    outside = np.zeros(count, dtype=np.bool_) if extra is None else extra
    size += float(outside.sum() + strange.sum() + missing.sum())
    catch_all = [(strange, spec.other), (missing, None if spec.missing == OWN else spec.missing)]
    levels = [Level(np.arange(count, dtype=np.int32), domain.values, np.ones(count))]
    for number, draft in enumerate(drafts):
        groups = draft.groups.copy()
        labels: list[str | None] = list(draft.labels)
        covered = draft.covered + np.bincount(groups[outside], minlength=len(labels))
        for members, word in catch_all:
            if members.any():
                label = word if word is None or chains is None or word not in chains else chains[word][number]
                if label not in labels:
                    labels.append(label)
                    covered = np.append(covered, 0.0)
                groups[members] = labels.index(label)
                covered[labels.index(label)] += members.sum()
        levels.append(_compact(groups, labels, covered))
    levels.append(Level(np.zeros(count, dtype=np.int32), (root,), np.array([size])))
    check_nested(levels, column)
    return Hierarchy(tuple(levels), size)


def _compact(groups: NDArray[np.int64], labels: Sequence[str | None], covered: NDArray[np.float64]) -> Level:
    """Only the groups that hold a leaf, in the order of their first leaves."""
    used, first = np.unique(groups, return_index=True)
    order = used[np.argsort(first)]
    position = np.zeros(len(labels), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    return Level(position[groups], tuple(labels[group] for group in order), covered[order])
