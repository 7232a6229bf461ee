"""The original, what recipients got of it, and the classes that the published records form."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.codes.combine import Codes, combine, count_people
from medveil.engine import with_rows
from medveil.engine.links import read_links
from medveil.evaluation.coverage import Coverage, cover, encode_labels
from medveil.evaluation.reality import reality
from medveil.evaluation.settings import EvaluationPolicy
from medveil.hierarchy.hierarchy import ROOT
from medveil.methods.problem import Problem
from medveil.release.marginals import MARGINALS, records_by_value
from medveil.run import Run
from medveil.table.arrow import number_array, numpy_of, text_array
from medveil.table.labels import Span

CODE_BOOK = "codebook.csv"
MEANS, PERCENTAGES = "means", "percentages"


@dataclass(frozen=True)
class Score:
    """A figure, with the ends of its confidence interval where it is estimated; `parts` by attribute or query, and
    which of them were left out for what reason.
    """

    value: float
    low: float | None = None
    high: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """Why there is no figure."""

    reason: str


@dataclass(frozen=True)
class PublishedClasses:
    """Groups of published rows with the same labels: what each row belongs to (-1: suppressed), and the label code of
    each group in each column (`labels[j, class]`).
    """

    of_row: Codes
    labels: NDArray[np.int32]
    records: Codes

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True)
class PublishedHistogram:
    """How much weight of each value is in each class: parallel arrays, sorted by class, then value.

    Weights are people (records where they are not known); a label that covers several values is spread over them.
    """

    classes: Codes
    values: Codes
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """The original, and what recipients got of it: the published table as text, and what came with it.

    times: how many published rows each line of `published` stands for; None where each is one row.
    forms: what is published instead of values, by column, such as `ids` or `means`.
    links: the file that says what became of each record of the original; only with it can people be counted.
    original: False where there is none, and `problem` is about the published table itself.
    settings: what the policy asks of the measures.
    other: another release of the same people.
    folder: the release directory, where there is one.
    attacked: means are taken for what an attacker knows to be behind them: the interval that the code book tells.
    run: who is told how far measuring is, and may stop it.
    memory: figures that several measures need, kept from the first to the last.
    """

    problem: Problem
    published: pa.Table
    method: Mapping[str, Any] = field(default_factory=dict)
    companions: Mapping[str, pa.Table] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    links: Path | None = None
    original: bool = True
    settings: EvaluationPolicy = field(default_factory=EvaluationPolicy)
    other: Comparison | None = None
    folder: Path | None = None
    attacked: bool = False
    run: Run = field(default_factory=Run, compare=False, repr=False)
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    times: NDArray[np.int64] | None = None

    @cached_property
    def by_row(self) -> Comparison:
        """The same with a line for every published row, for what looks at rows one by one."""
        if self.times is None:
            return self
        lines = number_array(np.repeat(np.arange(len(self.times)), self.times))
        return replace(self, published=self.published.take(lines), times=None)

    def count_rows(
        self, codes: NDArray[Any], number: int, lines: slice | NDArray[Any] = slice(None)
    ) -> NDArray[np.int64]:
        """How many published rows have each code; these are the codes of some lines."""
        if self.times is None:
            return np.bincount(codes, minlength=number)
        return np.bincount(codes, self.times[lines], minlength=number).astype(np.int64)

    def random(self, purpose: str) -> np.random.Generator:
        """Random numbers of its own for each purpose, the same in every run: measures must repeat."""
        return np.random.default_rng(zlib.crc32(purpose.encode()))

    @cached_property
    def coverage(self) -> Mapping[str, Coverage]:
        """For each quasi-identifier, what its published labels stand for."""
        return {name: self._cover(name) for name in self.problem.schema.quasi}

    @cached_property
    def sensitive_coverage(self) -> Mapping[str, Coverage]:
        """The same for each sensitive attribute."""
        return {name: self._cover(name) for name in self.problem.schema.sensitive}

    def _cover(self, name: str) -> Coverage:
        problem = self.problem
        hierarchy = problem.hierarchies.get(name, problem.reference.hierarchies.get(name))
        book = self._book(name) if self.forms.get(name) == "ids" else None
        intervals = self._intervals(name) if self.attacked or self.forms.get(name) == PERCENTAGES else {}
        records = records_by_value(self.companions.get(MARGINALS), name)
        return cover(self.column(name), problem.cells.domains[name], hierarchy, book, intervals, records)

    def column(self, name: str) -> pa.ChunkedArray:
        """A published column; one that was left out says nothing in every row."""
        if name in self.published.column_names:
            return self.published[name]
        stars = pa.DictionaryArray.from_arrays(
            number_array(np.zeros(self.published.num_rows, dtype=np.int32)), text_array([ROOT])
        )
        return pa.chunked_array([stars])

    def _book(self, name: str) -> dict[str, str] | None:
        """What each published id of a column stands for."""
        book = self.companions.get(CODE_BOOK)
        if book is None:
            return None
        lines = zip(*(book[key].to_pylist() for key in ("attribute", "published", "stands_for")), strict=True)
        return {published: value for attribute, published, value in lines if attribute == name}

    def _intervals(self, name: str) -> dict[str, list[Span]]:
        """What the published means of a column are the means of, where the code book tells it of all of them. The
        outermost intervals are open: what lies beyond them must be somewhere. A percentage whose interval is not told
        may stand for any number.
        """
        book, form = self.companions.get(CODE_BOOK), self.forms.get(name)
        if form not in {MEANS, PERCENTAGES} or book is None or not {"low", "high"} <= set(book.column_names):
            return {}
        rows = book.filter(pc.equal(book["attribute"].cast(pa.string()), name))
        means, lows, highs = (rows[key].cast(pa.string()).to_pylist() for key in ("published", "low", "high"))
        if not means or not all(lows) or not all(highs):
            return {text: [Span(None, None)] for text in means} if form == PERCENTAGES else {}
        first, last = min(lows, key=float), max(highs, key=float)
        found: dict[str, list[Span]] = {}
        for mean, low, high in zip(means, lows, highs, strict=True):
            span = Span(None if low == first else low, None if high == last else high, high_closed=False)
            found.setdefault(mean, []).append(span)
        return found

    @cached_property
    def approximate(self) -> frozenset[str]:
        """Quasi-identifiers of which numbers are published that need not be anybody's own, such as means: who looks for
        somebody takes the nearest.
        """
        return frozenset(
            name
            for name, coverage in self.coverage.items()
            if coverage.foreign.any()
            or (coverage.line is not None and self.forms.get(name) == MEANS and not self._intervals(name))
        )

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which published rows are nothing but `*`."""
        stars = np.ones(self.published.num_rows, dtype=np.bool_)
        for column in self.published.columns:
            if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
                return np.zeros(self.published.num_rows, dtype=np.bool_)
            labels, codes = encode_labels(column)
            stars &= codes == (labels.index(ROOT) if ROOT in labels else -1)
            if not stars.any():
                break
        return stars

    @cached_property
    def reality(self) -> NDArray[np.float64]:
        """The probability of each published record to be real: 1 where no catalog of counterfeits says otherwise."""
        return reality(self)

    @cached_property
    def real_rows(self) -> NDArray[np.float64]:
        """How many real records are expected behind each line of `published`."""
        return self.reality if self.times is None else self.reality * self.times

    @cached_property
    def unpublished(self) -> float:
        """How many records of the original are not published, as far as numbers and the catalog tell."""
        return max(self.problem.cells.records - float(self.weights.sum()), 0.0)

    @cached_property
    def classes(self) -> PublishedClasses:
        """The classes that the published records form."""
        return self._grouped(list(self.coverage.values()))

    @cached_property
    def tuples(self) -> PublishedClasses:
        """The distinct combinations of published quasi-identifiers and sensitive values."""
        return self._grouped([*self.coverage.values(), *self.sensitive_coverage.values()])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """How many real records are expected behind each of these combinations."""
        kept = self.tuples.of_row >= 0
        rows = slice(None) if kept.all() else kept
        found = np.bincount(self.tuples.of_row[rows], self.real_rows[rows], minlength=len(self.tuples))
        return found.astype(np.float64)

    def label_weights(self, name: str) -> NDArray[np.float64]:
        """The same for each label of a quasi-identifier or a sensitive attribute."""
        columns = {**self.coverage, **self.sensitive_coverage}
        labels = self.tuples.labels[list(columns).index(name)]
        return np.bincount(labels, self.weights, minlength=len(columns[name].labels)).astype(np.float64)

    def _grouped(self, coverage: Sequence[Coverage]) -> PublishedClasses:
        kept = np.flatnonzero(~self.suppressed) if self.suppressed.any() else slice(None)
        number = len(self.suppressed) - int(self.suppressed.sum())
        first, numbers = combine([one.codes[kept] for one in coverage], [len(one.labels) for one in coverage], number)
        records = self.count_rows(numbers, len(first), kept)
        if isinstance(kept, slice):
            of_row, rows = numbers, first
        else:
            of_row = np.full(len(self.suppressed), -1, dtype=np.int64)
            of_row[kept] = numbers
            rows = kept[first]
        labels = np.array([one.codes[rows] for one in coverage], dtype=np.int32).reshape(len(coverage), -1)
        return PublishedClasses(of_row, labels, records)

    @cached_property
    def _people(self) -> tuple[NDArray[np.int64], NDArray[np.int64], pa.Table] | None:
        """For records of known people: their class, the person, and their published row; None where nobody is known."""
        subject = self.problem.schema.subject
        if subject is None or not self.problem.engine.has_rows or (self.original and self.links is None):
            return None
        codes = numpy_of(with_rows(self.problem.engine).codes(subject).indices).astype(np.int64)
        if not self.original:
            return self.classes.of_row, codes, self.published
        assert self.links is not None
        links = read_links(self.links)
        return self._class_of(links.published), codes[links.kept], links.published

    def _class_of(self, table: pa.Table) -> NDArray[np.int64]:
        """The class of each row of a table with published labels, -1 where there is none such."""
        quasi = list(self.coverage)
        if not quasi:
            return np.zeros(table.num_rows, dtype=np.int64)
        sizes = [len(self.coverage[name].labels) for name in quasi]
        # A column that was left out has one label, which says nothing.
        nothing = np.zeros(table.num_rows, dtype=np.int32)
        columns = [
            label_codes(table[name], self.coverage[name]) if name in table.column_names else nothing for name in quasi
        ]
        known = np.all([column >= 0 for column in columns], axis=0)
        together = [
            np.concatenate([labels.astype(np.int64), column[known]])
            for labels, column in zip(self.classes.labels, columns, strict=True)
        ]
        _, numbers = combine(together, sizes)
        number_of_class = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
        number_of_class[numbers[: len(self.classes)]] = np.arange(len(self.classes))
        found = np.full(table.num_rows, -1, dtype=np.int64)
        found[known] = number_of_class[numbers[len(self.classes) :]]
        return found

    @property
    def counted(self) -> str:
        """What sizes count."""
        return "records" if self._people is None else "people"

    @cached_property
    def sizes(self) -> Codes:
        """The people of each class; its records where people are not known. A counterfeit is a person of its own."""
        if self._people is None:
            return self.classes.records
        group, people, _ = self._people
        linked = np.bincount(group[group >= 0], minlength=len(self.classes))
        extra = np.maximum(self.classes.records - linked, 0)
        return np.asarray(count_people(group, len(self.classes), people) + extra)

    def histogram(self, name: str) -> PublishedHistogram:
        """How often each class has each value of a sensitive attribute, in people where they are known."""
        coverage = self.sensitive_coverage[name]
        number = max(len(coverage.labels), 1)
        if self._people is None:
            group, people, codes = self.classes.of_row, None, coverage.codes.astype(np.int64)
        else:
            group, people, table = self._people
            codes = label_codes(table[name], coverage)
        member = (group >= 0) & (codes >= 0)
        keys = np.where(member, group * number + codes, -1)
        used, place = np.unique(keys[member], return_inverse=True)
        pairs = np.full(len(keys), -1, dtype=np.int64)
        pairs[member] = place.reshape(-1)
        if people is None:
            counts = self.count_rows(pairs[member], len(used), member)
        else:
            counts = count_people(pairs, len(used), people)
        return _spread(used // number, used % number, counts.astype(np.float64), coverage)


def label_codes(column: pa.ChunkedArray, coverage: Coverage) -> NDArray[np.int64]:
    """The label code of each entry of a column, -1 where it is no label of the release."""
    found = pc.index_in(column.cast(pa.string()), value_set=text_array(coverage.labels))
    return numpy_of(found.fill_null(number_array(np.array([-1], dtype=np.int32))[0])).astype(np.int64)


def _spread(classes: Codes, labels: Codes, counts: NDArray[np.float64], coverage: Coverage) -> PublishedHistogram:
    """From labels in classes to values in classes."""
    held = coverage.held
    width = held.totals.astype(np.int64)[labels]
    # Every (class, label) becomes as many pairs as the label covers values: its runs laid out one after the other.
    leaves = np.repeat(held.starts.astype(np.int64), (held.ends - held.starts).astype(np.int64)) + _within(
        (held.ends - held.starts).astype(np.int64)
    )
    begin = np.concatenate([[0], np.cumsum(held.totals.astype(np.int64))])
    index = np.repeat(begin[labels], width) + _within(width)
    weights = np.repeat(np.divide(counts, width, out=np.zeros(len(counts)), where=width > 0), width)
    size = max(len(coverage.domain), 1)
    keys = np.repeat(classes, width) * size + leaves[index]
    used, place = np.unique(keys, return_inverse=True)
    summed = np.bincount(place.reshape(-1), weights, minlength=len(used)).astype(np.float64)
    return PublishedHistogram(used // size, used % size, summed)


def _within(lengths: Codes) -> Codes:
    """0, 1, ... within each stretch.

    >>> _within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    return np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
