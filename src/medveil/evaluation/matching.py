"""Which published classes may hold a person whose quasi-identifiers are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes, combine
from medveil.codes.compiling import outer
from medveil.errors import InputError
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.coverage import Coverage

BLOCK_BYTES = 1 << 26
"""How large a table of leaves by classes may be; more classes are taken in blocks."""
MOST_PAIRS = 1 << 27


def matching_classes(comparison: Comparison, codes: NDArray[np.int32]) -> tuple[Codes, Codes]:
    """The classes whose labels cover each tuple: tuple i has `classes[offsets[i]:offsets[i + 1]]`, ascending.

    `codes[j, i]` is the leaf code of tuple i in the quasi-identifier at position j.
    """
    return match(codes, comparison.classes.labels, list(comparison.coverage.values()))


def match(codes: NDArray[np.int32], labels: NDArray[np.int32], coverage: Sequence[Coverage]) -> tuple[Codes, Codes]:
    """The same for any columns: `labels[j, c]` is the label of group c in the column that `coverage[j]` is about.

    Groups differ in some label.

    In a column whose labels do not overlap a value has one label, which is looked up. For the others the distinct
    values are held against the distinct labels.
    """
    number, groups = codes.shape[1], labels.shape[1]
    if not len(coverage) or not groups:
        return np.arange(number + 1) * groups, np.tile(np.arange(groups), number)
    owners = [one.label_of_leaf for one in coverage]
    single = [j for j, owner in enumerate(owners) if owner is not None]
    several = [j for j, owner in enumerate(owners) if owner is None]
    # The label of each tuple in each column where it has one, -1 where it has none.
    looked_up = [owner.astype(np.int32)[codes[j]] for j, owner in enumerate(owners) if owner is not None]
    has_labels = np.ones(number, dtype=np.bool_)
    for column in looked_up:
        has_labels &= column >= 0
    known = np.flatnonzero(has_labels)
    if several:
        first_tuple, of_tuple = combine([codes[j][known] for j in several], [len(coverage[j].domain) for j in several])
        first_group, of_group = combine([labels[j] for j in several], [len(coverage[j].labels) for j in several])
        offsets, members = _overlapping(
            codes[several][:, known[first_tuple]], labels[several][:, first_group], [coverage[j] for j in several]
        )
        lengths = np.diff(offsets)[of_tuple]
        _check_pairs(int(lengths.sum()))
        rows = np.repeat(known, lengths)
        starts = np.cumsum(lengths) - lengths
        parts = members[np.repeat(offsets[:-1][of_tuple] - starts, lengths) + np.arange(len(rows))]
        part_of_group, number_of_parts = of_group, len(first_group)
    else:
        rows, parts = known, np.zeros(len(known), dtype=np.int32)
        part_of_group, number_of_parts = np.zeros(groups, dtype=np.int32), 1
    # A group is one part and one label in every other column: pairs are looked up among the groups.
    keys = [np.concatenate([part_of_group, parts])]
    keys += [np.concatenate([labels[j], column[rows]]) for j, column in zip(single, looked_up, strict=True)]
    first, numbers = combine(keys, [number_of_parts, *(len(coverage[j].labels) for j in single)])
    group_of = np.full(len(first), -1, dtype=np.int64)
    group_of[numbers[:groups]] = np.arange(groups)
    found = group_of[numbers[groups:]]
    rows, found = rows[found >= 0], found[found >= 0]
    order = np.lexsort((found, rows)) if several else slice(None)
    return np.searchsorted(rows, np.arange(number + 1)), found[order]


def _check_pairs(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise InputError(
            "The labels of the release overlap too much to say which records a person may have.",
            "Measure a part of the release.",
        )


def _overlapping(
    codes: NDArray[np.int32], labels: NDArray[np.int32], coverage: Sequence[Coverage]
) -> tuple[Codes, Codes]:
    """Every tuple against every group, 64 groups at a time."""
    groups, number = labels.shape[1], codes.shape[1]
    # The column that tells most comes first: what it rules out is not looked at again.
    order = sorted(range(len(coverage)), key=lambda j: -len(coverage[j].labels))
    tuples = np.ascontiguousarray(codes[order], dtype=np.int32)
    block = max(BLOCK_BYTES // max(sum(len(one.domain) for one in coverage), 1) // 8, 1) * 64
    found_tuples, found_groups, total = [], [], 0
    for start in range(0, groups, block):
        masks = [_masks(labels[j, start : start + block], coverage[j]) for j in order]
        places = np.cumsum([0, *(len(mask) for mask in masks)]).astype(np.int64)
        offsets, members = _members(tuples, np.concatenate(masks), places[:-1])
        total += len(members)
        _check_pairs(total)
        found_tuples.append(np.repeat(np.arange(number), np.diff(offsets)))
        found_groups.append(members + start)
    rows, members = np.concatenate(found_tuples), np.concatenate(found_groups)
    if len(found_tuples) > 1:
        by_tuple = np.argsort(rows, kind="stable")
        rows, members = rows[by_tuple], members[by_tuple]
    return np.searchsorted(rows, np.arange(number + 1)), members


def _masks(labels: NDArray[np.int32], coverage: Coverage) -> NDArray[np.uint64]:
    """For each leaf of a column, a bit for each of these groups: whether its label covers the leaf."""
    table = np.zeros((len(coverage.domain), (len(labels) + 63) // 64), dtype=np.uint64)
    held = coverage.held
    starts, ends = held.starts.astype(np.int64), held.ends.astype(np.int64)
    _fill(table, np.ascontiguousarray(labels, dtype=np.int32), held.offsets, starts, ends)
    return table


@outer
def _fill(
    table: NDArray[np.uint64],
    labels: NDArray[np.int32],
    offsets: Codes,
    starts: Codes,
    ends: Codes,
) -> None:
    for i in range(len(labels)):
        word, bit = i // 64, np.uint64(1) << np.uint64(i % 64)
        for run in range(offsets[labels[i]], offsets[labels[i] + 1]):
            for leaf in range(starts[run], ends[run]):
                table[leaf, word] |= bit


def _members(tuples: NDArray[np.int32], masks: NDArray[np.uint64], places: Codes) -> tuple[Codes, Codes]:
    """The groups of each tuple; column j's masks begin at row `places[j]`."""
    number, most = tuples.shape[1], 64 * masks.shape[1]
    offsets = np.zeros(number + 1, dtype=np.int64)
    found = np.empty(max(number, 1024) + most, dtype=np.int64)
    done = 0
    while done < number:
        done = int(_match(tuples, masks, places, done, offsets, found))
        if done < number:
            found = np.concatenate([found, np.empty(len(found), dtype=np.int64)])
    return offsets, found[: offsets[number]].copy()


@outer
def _match(
    tuples: NDArray[np.int32], masks: NDArray[np.uint64], places: Codes, start: int, offsets: Codes, classes: Codes
) -> int:
    """Look at tuples from `start` on, for as long as there is room for all groups; the tuple that is next."""
    columns, number = tuples.shape
    words = masks.shape[1]
    found = offsets[start]
    for i in range(start, number):
        if found + 64 * words > len(classes):
            return i
        for word in range(words):
            bits = masks[places[0] + tuples[0, i], word]
            for j in range(1, columns):
                if bits == 0:
                    break
                bits &= masks[places[j] + tuples[j, i], word]
            at = word * 64
            while bits != 0:
                if bits & np.uint64(1):
                    classes[found] = at
                    found += 1
                bits >>= np.uint64(1)
                at += 1
        offsets[i + 1] = found
    return number
