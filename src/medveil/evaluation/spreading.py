"""A table that recipients could compute with: every label replaced by a value drawn evenly from what it covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.evaluation.runs import are_whole
from medveil.table.arrow import number_array, text_array
from medveil.table.domain import Domain
from medveil.table.schema import Kind


def drawn_codes(coverage: Coverage, labels: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """A leaf code for each of these label codes, drawn evenly from the leaves of the label, or as common as marginals
    say; -1 where it has none.
    """
    if coverage.weights is not None:
        return _weighted_codes(coverage, labels, random)
    position = coverage.held.draw(labels, random)
    return np.where(np.isnan(position), -1, np.floor(np.nan_to_num(position))).astype(np.int64)


def drawn_numbers(coverage: Coverage, labels: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    """A number (a day for dates) for each of these label codes, drawn evenly from the line that the label covers, or
    from its values as common as marginals say; NaN where it is missing.
    """
    assert coverage.line is not None
    if coverage.weights is not None:
        leaves = _weighted_codes(coverage, labels, random)
        return np.where(leaves < 0, np.nan, coverage.domain.numbers[np.maximum(leaves, 0)])
    position = coverage.line.draw(labels, random)
    length = coverage.line.totals
    if are_whole(coverage.domain.numbers):
        # Points keep what was published, such as a mean of 34.6.
        position = np.where(length[labels] > 0, np.floor(position), position)
    missing = random.random(len(position)) < coverage.missing[labels]
    return np.where(missing, np.nan, position)


def _weighted_codes(coverage: Coverage, labels: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """A leaf for each label, with the probability that the marginals give it: first a run, then a place in it."""
    held, running = coverage.held, coverage.running
    if not len(held.starts):
        return np.full(len(labels), -1, dtype=np.int64)
    before = np.concatenate([[0.0], np.cumsum(coverage.masses)])
    begin, end = before[held.offsets[labels]], before[held.offsets[labels + 1]]
    target = begin + random.random(len(labels)) * (end - begin)
    run = np.clip(np.searchsorted(before, target, side="right") - 1, 0, len(held.starts) - 1)
    run = np.clip(run, held.offsets[labels], np.maximum(held.offsets[labels + 1] - 1, 0))
    first, last = held.starts[run].astype(np.int64), held.ends[run].astype(np.int64) - 1
    leaf = np.searchsorted(running, running[first] + target - before[run], side="right") - 1
    empty = held.offsets[labels + 1] == held.offsets[labels]
    return np.where(empty, -1, np.clip(leaf, first, np.maximum(last, first))).astype(np.int64)


@dataclass(frozen=True)
class Values:
    """A column to compute with: numbers (NaN where missing), or codes of a domain (-1 where unknown)."""

    domain: Domain
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.int64] | None

    def to_arrow(self) -> pa.Array:
        """As SQL should see it: whole numbers, numbers, dates or text."""
        if self.numbers is not None:
            missing = np.isnan(self.numbers)
            filled = np.where(missing, 0, self.numbers)
            if self.domain.kind is Kind.DATE:
                days = np.floor(filled).astype(np.int32)
                return number_array(days, missing=missing).cast(pa.date32())
            if np.all(np.mod(filled, 1) == 0) and np.abs(filled).max(initial=0) < 2**53:
                return number_array(filled.astype(np.int64), missing=missing)
            return number_array(filled, missing=missing)
        assert self.codes is not None
        values = text_array(self.domain.values)
        indices = number_array(np.maximum(self.codes, 0), missing=self.codes < 0)
        return values.take(indices) if len(values) else pa.nulls(len(self.codes), pa.string())


def drawn(
    coverage: Coverage, random: np.random.Generator, labels: NDArray[np.int32 | np.int64] | None = None
) -> Values:
    """A value instead of each label: of the published rows, or of these label codes."""
    codes = (coverage.codes if labels is None else labels).astype(np.int64)
    if coverage.line is not None:
        return Values(coverage.domain, drawn_numbers(coverage, codes, random), None)
    return Values(coverage.domain, None, drawn_codes(coverage, codes, random))


def original(domain: Domain, codes: NDArray[np.int64 | np.int32]) -> Values:
    """A column of the original, from the leaf code of each record."""
    if domain.kind in {Kind.NUMBER, Kind.DATE} and domain.present:
        return Values(domain, domain.numbers[codes], None)
    return Values(domain, None, codes.astype(np.int64))
