"""The attack on a single person: who knows some of their values looks for their record, and for what it tells.

Majeed 2018 (section 4): an attacker knows age, sex and zip code of somebody, finds the records that may be theirs, and
reads the disease. Labels say which values they cover; where a number is published as a mean, which covers nothing, the
attacker takes the records whose mean is nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.evaluation.coverage import Coverage, cover
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.risk.nearest import distances
from medveil.table.arrow import numpy_of
from medveil.table.domain import Domain, encode, find_kind
from medveil.table.schema import Kind

Floats = NDArray[np.float64]
BLOCK = 1 << 22
"""The most pairs of targets and published combinations that are compared at a time."""


@dataclass(frozen=True)
class Linkage:
    """What an attacker learns about each target.

    candidates: the published records that may be theirs.
    possible: how many sensitive values those records leave open.
    confidence: the probability that those records give to the value which the target really has.
    best: the largest probability that they give to any value.
    """

    candidates: NDArray[np.int64]
    possible: NDArray[np.int64]
    confidence: Floats
    best: Floats

    @property
    def mean_confidence(self) -> float:
        """The probability of guessing a target's value when guessing by those shares, on average."""
        return float(self.confidence.mean())

    @property
    def certain(self) -> float:
        """The share of targets whose value is known for certain, and rightly so."""
        return float(np.mean((self.possible == 1) & (self.confidence > 0)))

    @property
    def singled_out(self) -> float:
        """The share of targets for whom one record is left."""
        return float(np.mean(self.candidates == 1))


@dataclass(frozen=True)
class Attack:
    """An attack on one release.

    original: the people, as the attacker knows them; its values say what labels may cover.
    published: the release as text.
    known: the columns that the attacker knows.
    sensitive: what is to be learned; it may be published as values, groups or sets.
    hierarchies, books: what groups and ids stand for, by column.
    kinds: what columns are, where that is not found out.
    means: columns that are published as means; those with numbers that nobody has are taken for such anyway.
    """

    original: pa.Table
    published: pa.Table
    known: tuple[str, ...]
    sensitive: str
    hierarchies: Mapping[str, Hierarchy] | None = None
    books: Mapping[str, Mapping[str, str]] | None = None
    kinds: Mapping[str, Kind] | None = None
    means: tuple[str, ...] = ()

    def run(self, targets: pa.Table | None = None) -> Linkage:
        """What the attacker learns about each of the targets, who are people of the original; all where left out."""
        chosen = self.original if targets is None else targets
        facts = [self._codes(chosen, name) for name in self.known]
        first, person = combine(facts, [len(self._domain(name)) for name in self.known])
        distinct = [codes[first] for codes in facts]
        truth = self._codes(chosen, self.sensitive)
        candidates = np.empty(len(first), dtype=np.int64)
        shares = np.empty((len(first), len(self._domain(self.sensitive))))
        step = max(BLOCK // max(len(self._combinations[1]), 1), 1)
        for start in range(0, len(first), step):
            block = slice(start, start + step)
            match = self._match([codes[block] for codes in distinct])
            candidates[block] = match @ self._combinations[1]
            weight = match.astype(np.float64) @ self._histogram
            total = weight.sum(axis=1, keepdims=True)
            shares[block] = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        own = shares[person, truth]
        return Linkage(candidates[person], (shares > 0).sum(axis=1)[person], own, shares.max(axis=1)[person])

    def _domain(self, name: str) -> Domain:
        return self._domains[name]

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        domains = {}
        for name in (*self.known, self.sensitive):
            texts = self.original[name].cast(pa.string()).unique().to_pylist()
            kind = (self.kinds or {}).get(name) or find_kind([text for text in texts if text is not None])
            domains[name] = encode(texts, kind, name)[0]
        return domains

    def _codes(self, table: pa.Table, name: str) -> NDArray[np.int64]:
        """The code of each value of a column of originals."""
        column = table[name].cast(pa.string()).combine_chunks().dictionary_encode(null_encoding="encode")
        domain, codes = encode(column.dictionary.to_pylist(), self._domain(name).kind, name)
        place = {value: code for code, value in enumerate(self._domain(name).values)}
        of_code = np.array([place[value] for value in domain.values], dtype=np.int64)
        return np.asarray(of_code[codes[numpy_of(column.indices)]], dtype=np.int64)

    @cached_property
    def _coverage(self) -> dict[str, Coverage]:
        return {
            name: cover(
                self.published[name].cast(pa.string()),
                self._domain(name),
                (self.hierarchies or {}).get(name),
                (self.books or {}).get(name),
            )
            for name in (*self.known, self.sensitive)
        }

    @cached_property
    def _combinations(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The published combinations of known columns: a row of each, their records, and which one each row has."""
        columns = [self._coverage[name].codes.astype(np.int64) for name in self.known]
        first, number = combine(columns, [max(len(self._coverage[name].labels), 1) for name in self.known])
        return first, np.bincount(number, minlength=len(first)), number

    @cached_property
    def _histogram(self) -> Floats:
        """How much of each sensitive value the records of each combination have, sets by equal shares."""
        read = self._coverage[self.sensitive]
        held = read.leaves.astype(np.float64)
        held /= np.maximum(held.sum(axis=1, keepdims=True), 1.0)
        first, _, number = self._combinations
        pairs, counts = np.unique(number * len(read.labels) + read.codes, return_counts=True)
        found = np.zeros((len(first), held.shape[1]))
        np.add.at(found, pairs // len(read.labels), counts[:, None] * held[pairs % len(read.labels)])
        return found

    def _match(self, facts: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Which combinations may be which target's: those that cover every known value, and of published means the
        nearest, among what the other columns leave; the nearest of all where nothing else is left.
        """
        first = self._combinations[0]
        match = np.ones((len(facts[0]), len(first)), dtype=np.bool_)
        apart = np.zeros(match.shape)
        for name, codes in zip(self.known, facts, strict=True):
            read = self._coverage[name]
            labels = read.codes[first]
            if read.line is not None and (name in self.means or read.foreign.any()):
                apart += distances(read, codes)[:, labels]
            else:
                covers = read.leaves.T[codes][:, labels]
                # Whoever is not covered by anything has a record all the same: the column tells nothing.
                match &= covers | ~covers.any(axis=1, keepdims=True)
        lonely = ~match.any(axis=1)
        match[lonely] = True
        if apart.any():
            left = np.where(match, apart, np.inf)
            match &= left <= left.min(axis=1, keepdims=True) + 1e-12
        return match
