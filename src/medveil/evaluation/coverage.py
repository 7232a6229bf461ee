"""What published labels stand for: which values of the original domain each of them covers."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.evaluation.foreign import read_foreign
from medveil.evaluation.runs import Runs, are_whole, merged
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.table.arrow import number_array, numpy_of
from medveil.table.dates import read_date
from medveil.table.domain import Domain, read_number
from medveil.table.labels import Cover, Span, parse_label
from medveil.table.schema import Kind

Pair = tuple[float, float]


@dataclass(frozen=True)
class Coverage:
    """For one column: the distinct `labels`, the label of each published row as a `code`, and what labels stand for.

    held: the leaves of the original domain that a label covers, as runs of their codes.
    line: the same on the line of numbers or days, between values too; None where the column has no such line.
    covered: how many leaves of the *declared* domain a label covers, out of `size`.
    unread: labels that nothing could be made of; they are taken for `*`.
    foreign: labels that no value of the original is behind, such as a mean.
    weights: how common each leaf is, where marginals were published; labels are then spread by them and not evenly.
    """

    domain: Domain
    labels: tuple[str | None, ...]
    codes: NDArray[np.int32]
    held: Runs
    line: Runs | None
    covered: NDArray[np.float64]
    size: float
    unread: NDArray[np.bool_]
    foreign: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None

    @cached_property
    def running(self) -> NDArray[np.float64]:
        """How much lies before each leaf, and before the end: leaves count one each, or what the marginals say."""
        each = np.ones(len(self.domain)) if self.weights is None else self.weights
        return np.concatenate([[0.0], np.cumsum(each)])

    @cached_property
    def masses(self) -> NDArray[np.float64]:
        """How much lies in each run of `held`."""
        return np.asarray(
            self.running[self.held.ends.astype(np.int64)] - self.running[self.held.starts.astype(np.int64)]
        )

    def shares(self, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The share of each label that lies on these leaves."""
        met = self.sums(wanted.astype(np.float64) if self.weights is None else np.where(wanted, self.weights, 0.0))
        whole = np.bincount(self.held.label, self.masses, minlength=len(self.labels))
        return np.divide(met, whole, out=np.zeros(len(met)), where=whole > 0)

    def sums(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each label, the sum of what its leaves have."""
        running = np.concatenate([[0.0], np.cumsum(each)])
        inside = running[self.held.ends.astype(np.int64)] - running[self.held.starts.astype(np.int64)]
        return np.bincount(self.held.label, inside, minlength=len(self.labels)).astype(np.float64)

    @cached_property
    def leaves(self) -> NDArray[np.bool_]:
        """Whether each label covers each leaf: a table of labels by leaves, for small domains."""
        change = np.zeros((len(self.labels), len(self.domain) + 1), dtype=np.int32)
        np.add.at(change, (self.held.label, self.held.starts.astype(np.int64)), 1)
        np.add.at(change, (self.held.label, self.held.ends.astype(np.int64)), -1)
        return np.asarray(np.cumsum(change[:, :-1], axis=1) > 0)

    @cached_property
    def missing(self) -> NDArray[np.float64]:
        """The share of each label that is a missing value, where it is spread evenly over what it covers."""
        if not self.domain.has_missing:
            return np.zeros(len(self.labels))
        last = len(self.domain) - 1
        holds = self.held.shares_within(last, last + 1) > 0
        return np.where(holds, 1.0 / np.maximum(self.covered, 1.0), 0.0)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many published rows have each label."""
        return np.bincount(self.codes, minlength=len(self.labels))

    @cached_property
    def label_of_leaf(self) -> NDArray[np.int64] | None:
        """The one label that covers each leaf, -1 where none does; None where some leaf has several."""
        return self.label_among(np.ones(len(self.labels), dtype=np.bool_))

    def label_among(self, counted: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """The one of the counted labels that covers each leaf, -1 where none does; None where some leaf has several."""
        runs = counted[self.held.label]
        starts, ends = self.held.starts[runs].astype(np.int64), self.held.ends[runs].astype(np.int64)
        change = np.zeros(len(self.domain) + 1, dtype=np.int64)
        np.add.at(change, starts, 1)
        np.add.at(change, ends, -1)
        if np.cumsum(change)[:-1].max(initial=0) > 1:
            return None
        found = np.full(len(self.domain), -1, dtype=np.int64)
        for start, end, label in zip(starts, ends, self.held.label[runs], strict=True):
            found[start:end] = label
        return found

    def over_leaves(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much falls on each leaf where `weights[label]` is spread over the leaves that a label covers."""
        totals = np.bincount(self.held.label, self.masses, minlength=len(self.labels))
        each = np.divide(weights, totals, out=np.zeros(len(totals)), where=totals > 0)[self.held.label]
        change = np.zeros(len(self.domain) + 1)
        np.add.at(change, self.held.starts.astype(np.int64), each)
        np.add.at(change, self.held.ends.astype(np.int64), -each)
        return np.asarray(np.cumsum(change)[:-1] * np.diff(self.running))


def encode_labels(column: pa.ChunkedArray | pa.Array) -> tuple[tuple[str | None, ...], NDArray[np.int32]]:
    """The distinct labels that a column has (None: missing), and the label of each row."""
    labels, codes = encode_texts(column)
    return tuple(labels.to_pylist()), codes


def encode_texts(column: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """The distinct texts that a column has, the missing one among them, and which one each row has."""
    chunk = column
    if isinstance(column, pa.ChunkedArray):  # one chunk would be copied too
        chunk = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not pa.types.is_dictionary(chunk.type):
        encoded = chunk.cast(pa.string()).dictionary_encode(null_encoding="encode")
        return encoded.dictionary, numpy_of(encoded.indices).astype(np.int32)
    # A dictionary may have entries that no row has, and lacks the missing value, which is one of its own here.
    known = pa.concat_arrays([chunk.dictionary.cast(pa.string()), pa.nulls(1, pa.string())])
    indices = numpy_of(
        chunk.indices.cast(pa.int32()).fill_null(number_array(np.array([len(known) - 1], dtype=np.int32))[0])
    )
    present = np.zeros(len(known), dtype=np.bool_)
    present[indices] = True
    if present[:-1].all():  # the rows have these codes already: they are many, and not copied
        return (known if present[-1] else known[:-1]), indices
    place = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return known.filter(number_array(present)), place[indices]


def cover(
    column: pa.ChunkedArray,
    domain: Domain,
    hierarchy: Hierarchy | None = None,
    book: Mapping[str, str] | None = None,
    intervals: Mapping[str, Sequence[Span]] | None = None,
    records: Mapping[str | None, float] | None = None,
) -> Coverage:
    """What each label of a published column stands for.

    A label is looked up among the values and the groups of the hierarchy first, and read as a range or a set where
    it is neither; `book` says what stands for which value where ids were published, `intervals` what is behind a number
    where means were. What covers values of the data
    also covers its part of the declared domain: the group's own number where the hierarchy knows it, otherwise the
    number of values. `records` says how many records have each value or group of the domain, where that was published.
    """
    labels, codes = encode_labels(column)
    reader = _Reader(domain, hierarchy, book, intervals or {})
    read = [reader.read(label) for label in labels]
    return Coverage(
        domain=domain,
        labels=labels,
        codes=codes,
        held=Runs.of([one.held for one in read]),
        line=Runs.of([one.line for one in read]) if reader.has_line else None,
        covered=np.array([one.covered for one in read], dtype=np.float64),
        size=reader.size,
        unread=np.array([one.unread for one in read], dtype=np.bool_),
        foreign=np.array([not one.held for one in read], dtype=np.bool_),
        weights=reader.weights(records) if records else None,
    )


@dataclass(frozen=True)
class _Read:
    """One label: the leaf codes and the stretches of the line that it covers, and how many declared leaves."""

    held: list[Pair]
    line: list[Pair]
    covered: float
    unread: bool = False


class _Reader:
    """Reads the labels of one column."""

    def __init__(
        self,
        domain: Domain,
        hierarchy: Hierarchy | None,
        book: Mapping[str, str] | None,
        intervals: Mapping[str, Sequence[Span]],
    ) -> None:
        self.domain = domain
        self.intervals = intervals
        self.size = hierarchy.size if hierarchy is not None else float(len(domain))
        self.book = book
        self.values = domain.present
        self.present = len(self.values)
        self.code_of = {value: code for code, value in enumerate(domain.values)}
        self.has_line = domain.kind in {Kind.NUMBER, Kind.DATE} and self.present > 0
        self.numbers = domain.numbers[: self.present] if self.has_line else np.zeros(0)
        self.whole = self.has_line and are_whole(self.numbers)
        self.groups = _groups(hierarchy) if hierarchy is not None else {}

    def read(self, label: str | None) -> _Read:
        if label == ROOT and ROOT not in self.code_of:
            return self._everything()
        if self.book is not None and label is not None and label in self.book:
            return self._parsed(Cover(values=(label,)))  # an id may look like another value
        if label is not None and label in self.intervals:
            return self._parsed(Cover(spans=tuple(self.intervals[label])))
        if label in self.groups:
            runs, covered = self.groups[label]
            return self._known(label, runs, covered)
        if label in self.code_of:
            code = self.code_of[label]
            return self._known(label, [(code, code + 1)], 1.0)
        found = self._parsed(parse_label(label))
        if not found.held and not found.line and label is not None:
            foreign = read_foreign(label, self.values, by_text=self.domain.kind is not Kind.NUMBER)
            found = self._parsed(foreign) if foreign is not None else found
        if not found.held and not found.line:
            everything = self._everything()
            return _Read(everything.held, everything.line, everything.covered, unread=True)
        return found

    def weights(self, records: Mapping[str | None, float]) -> NDArray[np.float64]:
        """How common each leaf is: what is told of a value or a group, evenly over its leaves. A little everywhere, so
        that a label of leaves that nothing is told of is spread evenly.
        """
        found = np.full(len(self.domain), 1e-9)
        for label, number in records.items():
            runs = self.read(label).held
            size = sum(end - start for start, end in runs)
            for start, end in runs:
                found[int(start) : int(end)] += number / size
        return found

    def _everything(self) -> _Read:
        return _Read([(0, len(self.domain))], self._stretch(0, self.present), self.size)

    def _known(self, label: str | None, runs: list[Pair], covered: float) -> _Read:
        """A value or a group: on the line a range as it is written, otherwise from its least to its largest leaf."""
        if not self.has_line:
            return _Read(runs, [], covered)
        spans = parse_label(label).spans if label is not None and covered > 1 else ()
        if spans:
            return _Read(runs, [stretch for span in spans for stretch in self._span_on_line(span)], covered)
        line = [stretch for start, end in runs for stretch in self._stretch(int(start), min(int(end), self.present))]
        if line and covered > 1:
            line = [(min(start for start, _ in line), max(end for _, end in line))]
        return _Read(runs, line, covered)

    def _stretch(self, start: int, end: int) -> list[Pair]:
        """From one leaf to before another, on the line."""
        if not self.has_line or start >= end:
            return []
        return [(float(self.numbers[start]), float(self.numbers[end - 1]) + (1.0 if self.whole else 0.0))]

    def _parsed(self, cover: Cover) -> _Read:
        """A set or a range that is not a group of the hierarchy."""
        if cover.anything:
            return self._everything()
        held: list[Pair] = []
        line: list[Pair] = []
        for value in cover.values:
            code = self._code(value)
            if code is not None:
                held.append((code, code + 1))
                line += self._stretch(code, min(code + 1, self.present))
            elif self.has_line and (point := self._position(value)) is not None:
                line.append((point, point))
        for span in cover.spans:
            held += self._span_of_codes(span)
            line += self._span_on_line(span)
        if cover.missing and None in self.code_of:
            code = self.code_of[None]
            held.append((code, code + 1))
        return _Read(held, line, self._width(held, line))

    def _code(self, value: str) -> int | None:
        """The leaf of a value, which may be written in another way than the original's, or stand for it in the book."""
        if self.book is not None:
            value = self.book.get(value, value)
        if value in self.code_of:
            return self.code_of[value]
        if self.domain.kind is Kind.NUMBER:
            return self.code_of.get(read_number(value) or "")
        if self.domain.kind is Kind.DATE:
            return self.code_of.get(read_date(value, "%Y-%m-%d") or "")
        return None

    def _position(self, text: str | None) -> float | None:
        if text is None:
            return None
        if self.domain.kind is Kind.NUMBER:
            number = read_number(text)
            return None if number is None else float(number)
        day = read_date(text, "%Y-%m-%d")
        return None if day is None else float(np.datetime64(day, "D").astype(np.int64))

    def _span_of_codes(self, span: Span) -> list[Pair]:
        if self.has_line:
            low, high = self._position(span.low), self._position(span.high)
            if (low is None) != (span.low is None) or (high is None) != (span.high is None):
                return []
            first = (
                0 if low is None else int(np.searchsorted(self.numbers, low, "left" if span.low_closed else "right"))
            )
            last = (
                self.present
                if high is None
                else int(np.searchsorted(self.numbers, high, "right" if span.high_closed else "left"))
            )
        else:
            values = self.values
            before, after = bisect.bisect_left, bisect.bisect_right
            first = 0 if span.low is None else (before if span.low_closed else after)(values, span.low)
            last = len(values) if span.high is None else (after if span.high_closed else before)(values, span.high)
        return [(first, last)] if first < last else []

    def _span_on_line(self, span: Span) -> list[Pair]:
        """An open end reaches to the end of the data."""
        if not self.has_line:
            return []
        low, high = self._position(span.low), self._position(span.high)
        if (low is None) != (span.low is None) or (high is None) != (span.high is None):
            return []
        start = float(self.numbers[0]) if low is None else low
        end = float(self.numbers[-1]) if high is None else high
        if self.whole:
            start = np.floor(start) + 1.0 if low is not None and not span.low_closed else np.ceil(start)
            end = np.ceil(end) if high is not None and not span.high_closed else np.floor(end) + 1.0
        return [(float(start), float(end))] if start <= end else []

    def _width(self, held: list[Pair], line: list[Pair]) -> float:
        """How many leaves of the declared domain: for whole numbers in a hierarchy that counts whole numbers those on
        the line, otherwise the values themselves.
        """
        count = sum(end - start for start, end in merged(held))
        if self.whole and line and self.size > len(self.domain):
            missing = self.domain.has_missing and any(end > self.present for _, end in held)
            return min(sum(max(end - start, 1.0) for start, end in merged(line)) + missing, self.size)
        return max(count, 1.0) if line else count


def _groups(hierarchy: Hierarchy) -> dict[str | None, tuple[list[Pair], float]]:
    """Every label of a hierarchy with the leaves below it; where two levels share a label, they share its leaves or
    the more special one is meant.
    """
    known: dict[str | None, tuple[list[Pair], float]] = {}
    for level in hierarchy.levels:
        runs: list[list[Pair]] = [[] for _ in level.labels]
        edges = np.concatenate([[0], np.flatnonzero(np.diff(level.groups)) + 1, [len(level.groups)]])
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if start < end:
                runs[level.groups[start]].append((start, end))
        for label, found, covered in zip(level.labels, runs, level.covered.tolist(), strict=True):
            known.setdefault(label, (found, covered))
    everything = [(0.0, float(len(hierarchy.levels[0].groups)))]
    known[ROOT] = (everything, hierarchy.size)
    return known
