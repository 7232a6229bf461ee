"""Who an attacker may be looking for: people, what is known of each, and how likely each is before any answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.cells import make_cells
from medveil.engine import Engine
from medveil.errors import InputError
from medveil.table.arrow import encoded_texts
from medveil.table.domain import read_number
from medveil.table.schema import Kind


@dataclass(frozen=True)
class Entries:
    """Entries: distinct records, or distinct (record, person) where a subject is declared, and how many they are.

    `codes[j, i]` is the value of entry i in attribute `names[j]`, below `sizes[j]`; `counts[i]` its records;
    `person[i]` who it belongs to (None: every record is a person of its own). `mass[i]` is the probability that the
    attacker's target is that person and shows these values; None where it is `counts[i]` / `people`. `initial` is
    S_0 = -sum over people of p(r) log2 p(r), the attacker's uncertainty before any answer, in bits.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    sizes: tuple[int, ...]
    counts: NDArray[np.int64]
    people: int
    initial: float
    mass: NDArray[np.float64] | None = None
    person: NDArray[np.int32] | None = None


def entries_of(
    engine: Engine,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    prior: str | None = None,
    kinds: Mapping[str, Kind | None] | None = None,
    formats: Mapping[str, str] | None = None,
) -> Entries:
    """The people of a loaded table.

    `subject`: the column that says who a record belongs to; records without one count as one person together.
    `prior`: a column of numbers of at least 0, how likely each person is the target, up to a factor.
    """
    extra = [name for name in (subject, prior) if name is not None]
    raw = engine.cells((*columns, *extra))
    # Two readings of a date tell people apart alike.
    cells = make_cells(raw, columns, [], dict(kinds or {}), formats, doubtful_as_texts=True)
    person = weights = None
    if subject is not None:
        person = encoded_texts(raw[f"q{len(columns)}"])[0]
    if prior is not None:
        weights = _weights(raw[f"q{len(columns) + len(extra) - 1}"], prior)
    sizes = tuple(len(cells.domains[name]) for name in columns)
    return make_entries(columns, cells.codes, sizes, cells.counts, person=person, weights=weights)


def make_entries(
    names: Sequence[str],
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    *,
    person: NDArray[np.int32] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Entries:
    """Entries from arrays; `weights` are those of each entry's person, up to a factor, equal where left out.

    A person of several records shows each of them equally often: p(person, record) = p(person) / (their records).
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    counts = np.ascontiguousarray(counts, dtype=np.int64)
    if person is None:
        mass, initial = _by_record(counts, weights)
        return Entries(tuple(names), codes, tuple(sizes), counts, int(counts.sum()), initial, mass)
    people = int(person.max(initial=-1)) + 1
    records = np.bincount(person, counts, minlength=people)
    likely = np.full(people, 1.0 / max(people, 1)) if weights is None else _by_person(person, weights, people)
    mass = likely[person] * counts / records[person]
    return Entries(
        tuple(names), codes, tuple(sizes), counts, people, _entropy(likely), mass, np.ascontiguousarray(person)
    )


def _by_record(
    counts: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, float]:
    records = int(counts.sum())
    if weights is None:
        return None, float(np.log2(max(records, 1)))
    likely = weights / _total(counts * weights)
    initial = float(-(counts * _times_log(likely)).sum())
    return counts * likely, max(initial, 0.0)


def _by_person(person: NDArray[np.int32], weights: NDArray[np.float64], people: int) -> NDArray[np.float64]:
    least, most = np.full(people, np.inf), np.full(people, -np.inf)
    np.minimum.at(least, person, weights)
    np.maximum.at(most, person, weights)
    if np.any(least != most):
        raise InputError(
            f"{np.count_nonzero(least != most)} people have several prior weights.",
            "Give every record of one person the same weight.",
        )
    return np.asarray(most / _total(most), dtype=np.float64)


def _total(weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    if not 0 < total < np.inf:
        raise InputError("The prior weights add up to nothing.", "Give at least one person a weight above 0.")
    return total


def _times_log(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """P log2 p, 0 where p is 0."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(shares * logs, dtype=np.float64)


def _entropy(shares: NDArray[np.float64]) -> float:
    return max(float(-_times_log(shares).sum()), 0.0)


def _weights(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    codes, texts = encoded_texts(column)
    read = [None if text is None else read_number(text) for text in texts]
    wrong = sum(number is None or float(number) < 0 for number in read)
    if wrong:
        raise InputError(
            f"{wrong} of the {len(texts)} distinct values of the prior '{name}' are missing or not numbers from 0 up.",
            "Give every record a weight: how likely its person is the one looked for, up to a common factor.",
        )
    return np.array([float(number or 0) for number in read], dtype=np.float64)[codes]
