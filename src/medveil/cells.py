"""The distinct tuples with their counts: what every search works on instead of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine import Engine
from medveil.errors import InputError
from medveil.sources.source import Source
from medveil.table.arrow import encoded_texts, number_array, numpy_of
from medveil.table.domain import Domain, encode, find_kind
from medveil.table.schema import Kind, Schema


@dataclass(frozen=True)
class Subjects:
    """Who the records of each cell belong to: cell i has `codes[offsets[i]:offsets[i + 1]]`, each once."""

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    count: int


@dataclass(frozen=True)
class Cells:
    """Distinct (quasi codes, sensitive codes) with the number of records.

    `codes[j, i]` is the leaf code of cell i in quasi-identifier `quasi[j]`; `sensitive[name][i]` its sensitive code;
    `counts[i]` its records (0 for a tuple that is only in the population). Splitting a cell in two changes nothing.
    """

    quasi: tuple[str, ...]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    sensitive: dict[str, NDArray[np.int32]]
    domains: dict[str, Domain]
    subjects: Subjects | None = None
    population: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def records(self) -> int:
        return int(self.counts.sum())


def make_cells(
    table: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    kinds: Mapping[str, Kind | None],
    formats: Mapping[str, str] | None = None,
    *,
    doubtful_as_texts: bool = False,
) -> Cells:
    """Cells from the engine's distinct tuples (columns q0, q1, ... and `records`), raw texts read as their kinds.

    A kind that is None is found out from the values, and so is the format of dates and numbers that have none. What
    cannot be read, or in two ways, is refused or stays text.
    """
    codes, domains = [], {}
    for position, name in enumerate((*quasi, *sensitive)):
        indices, texts = encoded_texts(table[f"q{position}"])
        kind = kinds.get(name) or find_kind([text for text in texts if text is not None])
        try:
            domains[name], recode = encode(texts, kind, name, (formats or {}).get(name))
        except InputError:
            if not doubtful_as_texts:
                raise
            domains[name], recode = encode(texts, Kind.CATEGORY, name)
        codes.append(recode[indices])
    counts = numpy_of(table["records"]).astype(np.int64)
    shape = (len(quasi), len(counts))
    return Cells(
        quasi=tuple(quasi),
        codes=np.array(codes[: len(quasi)], dtype=np.int32).reshape(shape),
        counts=counts,
        sensitive=dict(zip(sensitive, codes[len(quasi) :], strict=True)),
        domains=domains,
    )


def with_population(
    raw: pa.Table,
    schema: Schema,
    population: Source | None,
    counted: Callable[[Source, Sequence[str]], AbstractContextManager[Engine]],
) -> tuple[pa.Table, NDArray[np.int64] | None]:
    """The distinct tuples of the data followed by those of a population, which have no records, and for each tuple
    how many of the population it stands for (None without a population). `counted` opens an engine.
    """
    if population is None:
        return raw, None
    with counted(population, schema.quasi) as engine:
        people = engine.cells(schema.quasi)
    anything = raw.slice(0, 1)
    columns = {
        name: people[name]
        if name in people.column_names and name != "records"
        else _repeat(anything[name], len(people))
        for name in raw.column_names
    }
    columns["records"] = number_array(np.zeros(len(people), dtype=np.int64))
    joined = pa.concat_tables([raw, pa.table(columns).cast(raw.schema)])
    return joined, np.concatenate([np.zeros(len(raw), dtype=np.int64), numpy_of(people["records"])])


def _repeat(value: pa.ChunkedArray, times: int) -> pa.Array:
    """A column of one value: nobody reads the sensitive value of a tuple without records."""
    return value.combine_chunks().take(number_array(np.zeros(times, dtype=np.int64)))
