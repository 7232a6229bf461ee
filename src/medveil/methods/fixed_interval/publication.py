"""Part 6 of the paper: what is published for each class, and the code book that explains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.methods.fixed_interval.analysis import Spread
from medveil.methods.fixed_interval.attributes import PERCENT, Column
from medveil.methods.fixed_interval.classes import Ids
from medveil.methods.fixed_interval.intervals import ColumnIntervals, Statistic
from medveil.table.labels import MISSING, set_label

CODE_BOOK = "codebook.csv"
INTERVALS = "intervals.parquet"
PREFIXES = ("s", "id", "code")
"""What may stand before the number of an id."""


@dataclass(frozen=True)
class CodeBookEntry:
    """A line of the code book: what stands for what, and on how many people it rests.

    low, high: the ends of the interval whose mean it is; `told`: as they are published, where they were declared.
    open_low, open_high: it is the first or the last interval, to which numbers beyond the ends belong.
    """

    attribute: str
    published: str
    stands_for: str
    people: int | None = None
    low: float | None = None
    high: float | None = None
    told: tuple[str, str] | None = None
    open_low: bool = False
    open_high: bool = False


@dataclass(frozen=True)
class PublishedColumn:
    """What is published of one attribute: `labels[code]` for the code of each class (None: missing)."""

    labels: tuple[str | None, ...]
    codes: NDArray[np.int32]
    entries: tuple[CodeBookEntry, ...]


def publish_means(
    column: Column,
    intervals: ColumnIntervals,
    found: Spread,
    unknown: NDArray[np.bool_],
    *,
    statistic: Statistic,
    threshold: float,
    widen: float,
) -> PublishedColumn:
    """Each class as the mean of the fixed interval that holds the class's mean.

    A class whose range is under the threshold T is widened about its middle to `widen` times T, and published as
    the mean over all intervals which that range touches. `unknown`: classes that hold missing values beside others are
    published as `{mean, ?}`.
    """
    empty = np.isnan(found.mean)
    first = last = intervals.index(np.where(empty, 0.0, found.mean))
    narrow = ~empty & found.narrow(threshold)
    if narrow.any():
        middle, reach = (found.low + found.high) / 2, widen * threshold / 2
        first = np.where(narrow, intervals.index(middle - reach), first)
        last = np.where(narrow, intervals.index(middle + reach), last)
    pairs, pair = np.unique(first * len(intervals) + last, return_inverse=True)
    used = np.zeros(len(pairs), dtype=np.bool_)
    used[pair[~empty]] = True
    entries: list[CodeBookEntry] = []
    texts: list[str] = []
    for number, is_used in zip(pairs.tolist(), used.tolist(), strict=True):
        entry = _mean_entry(column, intervals, statistic, *divmod(number, len(intervals))) if is_used else None
        texts.append(entry.published if entry else "")
        entries += [entry] if entry else []
    labels = (*texts, *(set_label([text, None]) for text in texts), None)
    codes = np.where(empty, 2 * len(texts), pair + np.where(unknown, len(texts), 0))
    return PublishedColumn(labels, codes.astype(np.int32), tuple(entries))


def _mean_entry(
    column: Column, intervals: ColumnIntervals, statistic: Statistic, first: int, last: int
) -> CodeBookEntry:
    low, high = (float(end) for end in intervals.edges[[first, last + 1]])
    return CodeBookEntry(
        attribute=column.name,
        published=(PERCENT if statistic == "percentage" else column.written).text(
            intervals.figure(statistic, first, last)
        ),
        stands_for=statistic,
        people=intervals.support(first, last),
        low=low,
        high=high,
        told=(column.written.end(low), column.written.end(high)) if intervals.grid.declared else None,
        open_low=first == 0,
        open_high=last == len(intervals) - 1,
    )


def hand_out_ids(
    column: Column, kept: NDArray[np.bool_], declared: Sequence[str] | None, random: np.random.Generator
) -> dict[str, int]:
    """An id for each value: in the order of the declared domain, or at random, so that an id tells nothing."""
    held = np.bincount(column.codes[kept], minlength=len(column.values)) > 0
    present = [value for value, is_held in zip(column.values, held, strict=True) if is_held and value is not None]
    if declared is not None and set(present) <= set(declared):
        return {value: number for number, value in enumerate(dict.fromkeys(declared))}
    return dict(zip(present, random.permutation(len(present)).tolist(), strict=True))


def id_text(ids: Mapping[str, int]) -> Callable[[int], str]:
    """How ids are written: with letters in front that no value of the column has, so that none is taken for a value.

    >>> id_text({"0": 1, "1": 0})(1), id_text({"s1": 0})(1)
    ('s1', 'id1')
    """
    taken = [prefix for prefix in PREFIXES if any(re.fullmatch(rf"(?i){prefix}\d+", value) for value in ids)]
    prefix = next((prefix for prefix in PREFIXES if prefix not in taken), "_".join(PREFIXES))
    return lambda number: f"{prefix}{number}"


def publish_sets(column: Column, classes: Ids, number: int, ids: Mapping[str, int]) -> PublishedColumn:
    """Each class as the set of the ids of its values; `?` for a missing one."""
    unknown = len(ids)
    id_of_code = np.array([unknown if v is None else ids.get(v, 0) for v in column.values], dtype=np.int64)
    if column.imputed:
        id_of_code[column.missing] = id_of_code[int(column.stand_in)]
    within = np.flatnonzero(classes >= 0)
    keys = classes[within].astype(np.int64) * (unknown + 1) + id_of_code[column.codes[within]]
    pairs = np.unique(keys)
    group, members = pairs // (unknown + 1), pairs % (unknown + 1)
    offsets = np.searchsorted(group, np.arange(number + 1)).astype(np.int32)
    written = id_text(ids)
    names = pa.array([*map(written, range(unknown)), MISSING], pa.string())
    sizes = np.diff(offsets)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(members))), ", ")
    braced = pc.binary_join_element_wise("{", joined, "}", "")
    labels = pc.if_else(pa.array(sizes > 1), braced, joined).dictionary_encode()
    alone = (sizes == 1) & (np.append(members, unknown)[offsets[:-1]] == unknown)
    codes = np.where(alone | (sizes == 0), len(labels.dictionary), labels.indices.to_numpy(zero_copy_only=False))
    entries = [
        CodeBookEntry(column.name, written(id_), value) for value, id_ in sorted(ids.items(), key=lambda item: item[1])
    ]
    return PublishedColumn((*labels.dictionary.to_pylist(), None), codes.astype(np.int32), tuple(entries))


def code_book(entries: Sequence[CodeBookEntry]) -> pa.Table:
    """What recipients get: interval ends only where they were declared, since others are somebody's values."""
    return pa.table(
        {
            "attribute": pa.array([entry.attribute for entry in entries], pa.string()),
            "published": pa.array([entry.published for entry in entries], pa.string()),
            "stands_for": pa.array([entry.stands_for for entry in entries], pa.string()),
            "people": pa.array([entry.people for entry in entries], pa.int64()),
            "low": pa.array([entry.told and entry.told[0] for entry in entries], pa.string()),
            "high": pa.array([entry.told and entry.told[1] for entry in entries], pa.string()),
        }
    )


def interval_table(entries: Sequence[CodeBookEntry]) -> pa.Table:
    """What the steward and the auditor get: every published interval with its ends."""
    of_means = [entry for entry in entries if entry.people is not None]
    return pa.table(
        {
            "attribute": pa.array([entry.attribute for entry in of_means], pa.string()),
            "published": pa.array([entry.published for entry in of_means], pa.string()),
            "people": pa.array([entry.people for entry in of_means], pa.int64()),
            "low": pa.array([entry.low for entry in of_means], pa.float64()),
            "high": pa.array([entry.high for entry in of_means], pa.float64()),
            "open_low": pa.array([entry.open_low for entry in of_means], pa.bool_()),
            "open_high": pa.array([entry.open_high for entry in of_means], pa.bool_()),
        }
    )
