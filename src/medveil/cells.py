"""The distinct tuples with their counts: what every search works on instead of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.engine import Engine
from medveil.engine.classes import ClassEngine, CodedTable
from medveil.errors import InputError, PolicyError
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

    @property
    def elsewhere(self) -> CellsElsewhere | None:
        """These cells as such that stay with the engine; None where they are here."""
        return None

    @property
    def counts_people(self) -> bool:
        """Whether people are known, so that not every record is taken for a person."""
        return self.subjects is not None

    def codes_of(self, name: str) -> NDArray[np.int32]:
        """The code of each cell in a quasi-identifier or a sensitive attribute."""
        return self.codes[self.quasi.index(name)] if name in self.quasi else self.sensitive[name]

    def records_of(self, name: str) -> NDArray[np.int64]:
        """How many records have each value of a quasi-identifier or a sensitive attribute."""
        return np.bincount(self.codes_of(name), self.counts, minlength=len(self.domains[name])).astype(np.int64)

    def people_of(self, name: str, group_of: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
        """How many people have a value of each group, by the group of each value of a column."""
        return self._people(group_of[self.codes_of(name)], groups)

    def class_sizes(self) -> NDArray[np.int64]:
        """The people of each class of those with the same quasi-identifiers."""
        real = self.counts > 0
        width = [max(len(self.domains[name]), 1) for name in self.quasi]
        columns = [codes[real] for codes in self.codes] or [np.zeros(int(real.sum()), dtype=np.int32)]
        first, numbers = combine(columns, width or [1])
        of_cell = np.full(len(self), -1, dtype=np.int64)
        of_cell[real] = numbers
        return self._people(of_cell, len(first))

    def _people(self, group_of_cell: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
        """The people of each group of cells; a cell of group -1 has no records."""
        if self.subjects is None:
            real = group_of_cell >= 0
            return np.bincount(group_of_cell[real], self.counts[real], minlength=groups).astype(np.int64)
        pairs = np.repeat(group_of_cell, np.diff(self.subjects.offsets)) * self.subjects.count + self.subjects.codes
        return np.bincount(np.unique(pairs) // max(self.subjects.count, 1), minlength=groups)


class CellsElsewhere(Cells):
    """Cells that are too many to travel: they stay with the engine, as a table of codes. Their domains and what is
    counted of columns are known; whoever asks for the cells themselves is refused in a sentence.
    """

    def __init__(
        self,
        engine: ClassEngine,
        schema: Schema,
        kinds: Mapping[str, Kind | None],
        formats: Mapping[str, str],
        number: int,
        most: int,
    ) -> None:
        """`number`: how many cells there are, or pairs of a cell and a person where people are counted, which is more
        than `most`.
        """
        # The others of the fields are what is not here.
        vars(self).update(quasi=schema.quasi, domains={})
        self._number, self._most = number, most
        self._engine, self._schema = engine, schema
        self._records: dict[str, NDArray[np.int64]] = {}
        self._codes: list[pa.Table] = []
        for name in (*schema.quasi, *schema.sensitive):
            values = engine.values(name)
            self.domains[name], codes = _read(values["value"].to_pylist(), name, kinds, formats)
            records = np.bincount(codes, numpy_of(values["records"]), minlength=len(self.domains[name]))
            self._records[name] = records.astype(np.int64)
            self._codes.append(pa.table({"value": values["value"], "code": number_array(codes)}))

    @cached_property
    def coded(self) -> CodedTable:
        """The records as codes, which the engine keeps. It is made when somebody first asks for it."""
        schema = self._schema
        return self._engine.encode(schema.quasi, schema.sensitive, self._codes, schema.subject)

    @property
    def engine(self) -> ClassEngine:
        return self._engine

    @property
    def elsewhere(self) -> CellsElsewhere:
        return self

    @property
    def records(self) -> int:
        return self._engine.rows

    @property
    def counts_people(self) -> bool:
        return self._schema.subject is not None

    def place(self, name: str) -> int:
        """The place of a column in the table of codes."""
        return (*self._schema.quasi, *self._schema.sensitive).index(name)

    def records_of(self, name: str) -> NDArray[np.int64]:
        return self._records[name]

    def people_of(self, name: str, group_of: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
        found = self.coded.people(self.place(name), group_of.astype(np.int32))
        return np.pad(found, (0, groups - len(found)))

    def class_sizes(self) -> NDArray[np.int64]:
        return np.repeat(*self.coded.sizes())

    def __repr__(self) -> str:
        return f"CellsElsewhere({self._number} of {', '.join(self.domains)})"

    def __len__(self) -> int:
        raise self.refusal

    @property
    def codes(self) -> NDArray[np.int32]:
        raise self.refusal

    @property
    def counts(self) -> NDArray[np.int64]:
        raise self.refusal

    @property
    def sensitive(self) -> dict[str, NDArray[np.int32]]:
        raise self.refusal

    @property
    def subjects(self) -> Subjects | None:
        raise self.refusal

    @property
    def refusal(self) -> PolicyError:
        """What is raised where somebody asks for what is not here."""
        return PolicyError(f"This needs all distinct records in memory, and {self.too_many}.", ALLOW_MORE)

    @property
    def too_many(self) -> str:
        """Why the cells are not here, as a part of a sentence."""
        what = "distinct records of people" if self.counts_people else "distinct records"
        return f"there are {self._number:,} {what}, more than the {self._most:,} of 'cells_at_most'"


ALLOW_MORE = (
    "Allow more of them with 'cells_at_most: ...' under 'engine:' where there is memory for them ('type: duckdb' is "
    "the engine where none is named)."
)


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
        domains[name], recode = _read(texts, name, kinds, formats or {}, doubtful_as_texts=doubtful_as_texts)
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


def _read(
    texts: Sequence[str | None],
    name: str,
    kinds: Mapping[str, Kind | None],
    formats: Mapping[str, str],
    *,
    doubtful_as_texts: bool = False,
) -> tuple[Domain, NDArray[np.int32]]:
    """The domain of a column of these distinct texts, and the code of each of them."""
    kind = kinds.get(name) or find_kind([text for text in texts if text is not None])
    try:
        return encode(texts, kind, name, formats.get(name))
    except InputError:
        if not doubtful_as_texts:
            raise
        return encode(texts, Kind.CATEGORY, name)


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
