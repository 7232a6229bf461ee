"""Tables as they are counted and published: keys as pseudonyms, dates shifted by person, columns derived.

Every table is read once into a file of raw texts, which the auditor starts from. Distinct keys, people and dates go
through Python; rows stay in DuckDB and come out as one Parquet file a table, in the order of the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import duckdb
import numpy as np
import pyarrow as pa

from medveil.engine.duckdb_reading import quote_text, relation, text
from medveil.engine.duckdb_session import Session
from medveil.engine.interface import Interrupting, Limits
from medveil.errors import InputError
from medveil.sources.csv_dialect import explain
from medveil.sources.parquet import ParquetSource
from medveil.sources.source import Source
from medveil.table.arrow import number_array, text_array
from medveil.table.changes import ChangedColumn, ChangedTable, Derivation, Pseudonym, Shift
from medveil.table.dates import ISO, without_parts
from medveil.table.domain import canonical
from medveil.table.offsets import EARLIEST, LATEST, offset
from medveil.table.pseudonyms import ReleaseKey, hmac_pads
from medveil.table.schema import Kind

_ISO_TIME = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?"
PERSON = " person"
"""The column, of a name that no source has, that says whose a record is, as the source names people."""
LINE = " line"
"""The column, of a name that no source has, that holds the number of a record in the source."""


@dataclass
class DuckDBChangedTables:
    """Tables that are read, and what becomes of their columns. Close it, or use it in a `with`.

    space: what people are named by: the space of their pseudonyms and offsets.
    """

    tables: Mapping[str, ChangedTable]
    sources: Mapping[str, Source]
    key: ReleaseKey
    space: str
    limits: Limits = field(default_factory=Limits)
    interrupting: Interrupting = nullcontext
    in_order: ClassVar[bool] = True
    """Whether records of a changed table stand in the order of its source."""

    def __post_init__(self) -> None:
        self._session = Session(self.limits)
        self._numbers = {name: number for number, name in enumerate(self.tables)}
        try:
            with self.interrupting(self.interrupt):
                self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    def interrupt(self) -> None:
        self._session.connection.interrupt()

    # Reading

    def _read(self) -> None:
        for name in self.tables:
            self._read_raw(name)
        for name in self.tables:
            self._find_people(name)
        for name in self.tables:
            self._change(name)

    @cached_property
    def _raw_names(self) -> dict[str, tuple[str, ...]]:
        """The columns that are read of each table."""
        found: dict[str, list[str]] = {name: [] for name in self.tables}
        for name, table in self.tables.items():
            found[name] += [column.source for column in table.columns]
            found[name] += [column for column in (table.person, table.key) if column is not None]
            found[name] += [key.column for key in table.foreign]
        for name, derivation in self._derivations:
            if not derivation.fixed:
                found[derivation.table or name].append(derivation.by)
        return {name: tuple(dict.fromkeys(columns)) for name, columns in found.items()}

    @property
    def _derivations(self) -> list[tuple[str, Derivation]]:
        return [
            (name, column.change)
            for name, table in self.tables.items()
            for column in table.columns
            if isinstance(column.change, Derivation)
        ]

    def _file(self, kind: str, name: str) -> Path:
        return self._session.folder / f"{kind}_{self._numbers[name]}.parquet"

    def _read_raw(self, name: str) -> None:
        source, number = self.sources[name], self._numbers[name]
        texts = [f"{text(source, column)} AS d{j}" for j, column in enumerate(self._raw_names[name])] or ["1 AS d0"]
        rows = relation(self._session, source)
        file = quote_text(str(self._file("raw", name)))
        try:
            self._session.run(f"COPY (SELECT {', '.join(texts)} FROM {rows}) TO {file} (FORMAT parquet)")
        except duckdb.Error as error:
            if self._session.refused is not None:
                raise self._session.refused from None
            is_csv = source.location is not None and source.location.format == "csv"
            remedy = explain(str(error)) if is_csv else "Is the file complete, with plain columns only?"
            raise InputError(self._in(name, "The data cannot be read."), remedy) from None
        self._session.run(
            f"CREATE VIEW raw_{number} AS SELECT file_row_number AS line, * EXCLUDE (file_row_number) "
            f"FROM read_parquet({file}, file_row_number = true)"
        )

    def _in(self, name: str, sentence: str) -> str:
        return f"Table '{name}': {sentence[0].lower()}{sentence[1:]}" if len(self.tables) > 1 else sentence

    def _column(self, name: str, column: str) -> str:
        return f"d{self._raw_names[name].index(column)}"

    def raw(self, name: str) -> Source:
        """The texts of a table as they were read, for the auditor."""
        return ParquetSource(self._raw_names[name], self.sources[name].missing, self._file("raw", name))

    def changed(self, name: str) -> Source:
        """A table as it is counted: its columns under their published names, `PERSON` and `LINE`."""
        names = (*(column.name for column in self.tables[name].columns), PERSON, LINE)
        return ParquetSource(names, frozenset({""}), self._file("changed", name))

    # People

    def _find_people(self, name: str) -> None:
        """The table people_<n>: whose each record is, as the source names them; NULL where nobody says so."""
        table, number = self.tables[name], self._numbers[name]
        if table.person is not None:
            query = f"SELECT line, {self._column(name, table.person)} AS person FROM raw_{number}"
        elif table.through is not None:
            above = self._numbers[table.through.table]
            query = (
                f"SELECT raw_{number}.line, people.person FROM raw_{number} LEFT JOIN (SELECT parent.person, "
                f"keys.{self._column(table.through.table, table.through.key)} AS key FROM people_{above} AS parent "
                f"JOIN raw_{above} AS keys USING (line)) AS people "
                f"ON people.key = raw_{number}.{self._column(name, table.through.column)}"
            )
        else:
            query = f"SELECT line, NULL::VARCHAR AS person FROM raw_{number}"
        self._session.run(f"CREATE TABLE people_{number} AS {query}")

    @cached_property
    def _offsets(self) -> str:
        """The view that has the offset of each person."""
        (days,) = {
            column.change.days
            for table in self.tables.values()
            for column in table.columns
            if isinstance(column.change, Shift)
        }
        everybody = " UNION ALL ".join(f"SELECT person FROM people_{number}" for number in self._numbers.values())
        named = self._session.table(f"SELECT DISTINCT person FROM ({everybody}) WHERE person IS NOT NULL")
        people = named["person"].to_pylist()
        offsets = np.fromiter((offset(self.key, self.space, one, days) for one in people), np.int32, len(people))
        return self._session.register(pa.table({"person": text_array(people), "days": number_array(offsets)}))

    @cached_property
    def _pseudonyms(self) -> dict[str, str]:
        """For each space, the view that has the pseudonym of each value."""
        columns: dict[str, list[tuple[str, str]]] = {}
        for name, table in self.tables.items():
            for column in table.columns:
                if isinstance(column.change, Pseudonym):
                    columns.setdefault(column.change.space, []).append((name, column.source))
        views: dict[str, str] = {}
        for space, found in columns.items():
            asked = [
                f"SELECT {self._column(name, column)} AS key FROM raw_{self._numbers[name]}" for name, column in found
            ]
            distinct = f"SELECT DISTINCT key FROM ({' UNION ALL '.join(asked)}) WHERE key IS NOT NULL"
            views[space] = f"pseudonyms_{len(views)}"
            with self._session.registered(pads(self.key, space)) as secret:
                self._session.run(
                    f"CREATE TABLE {views[space]} AS SELECT key, left(sha256(outer_pad || unhex(sha256("
                    f"inner_pad || encode(begin || key)))), 32) AS pseudonym FROM ({distinct}), {secret}"
                )
        return views

    # Dates

    @cached_property
    def _dates(self) -> dict[tuple[str, str, str | None], str]:
        return {}

    def _day(self, name: str, column: str, written: str | None) -> str:
        """The part of a text that tells the date: of a time in ISO form its first ten characters, since there may be as
        many times as records.
        """
        raw = f"raw.{self._column(name, column)}"
        if written not in {None, ISO}:
            return raw
        return f"CASE WHEN regexp_full_match({raw}, {quote_text(_ISO_TIME)}) THEN left({raw}, 10) ELSE {raw} END"

    def _dates_of(self, name: str, column: str, written: str | None, *, shifts: bool = False) -> str:
        """A view from the texts of a column, as `_day` tells them, to dates."""
        known = (name, column, written)
        if known not in self._dates:
            raw = self._day(name, column, written)
            found = self._session.table(
                f"SELECT DISTINCT {raw} AS value FROM raw_{self._numbers[name]} AS raw WHERE value IS NOT NULL"
            )
            texts = found["value"].to_pylist()
            whole = without_parts(texts) if written in {None, ISO} else texts
            known_dates = dict(zip(whole, canonical(whole, Kind.DATE, column, written), strict=True))
            dates = text_array(known_dates.get(value) for value in texts)
            self._dates[known] = self._session.register(
                pa.table({"value": text_array(texts), "date": dates.cast(pa.date32())})
            )
        if shifts:
            (strange,) = self._session.row(
                f"SELECT count(*) FROM {self._dates[known]} WHERE date < DATE '{EARLIEST}' OR date > DATE '{LATEST}'"
            )
            if strange:
                raise InputError(
                    self._in(
                        name,
                        f"Column '{column}' holds {strange} dates before {EARLIEST.year} or after "
                        f"{LATEST.year}, which stand for something else: shifted, each would tell its person's offset.",
                    ),
                    "List these texts under 'missing:', or fix them.",
                )
        return self._dates[known]

    # Changing

    def _forget(self) -> None:
        """Drop what only changing needs: texts of every key and person, which are as many as records."""
        for number in self._numbers.values():
            self._session.run(f"DROP TABLE people_{number}")
        for pseudonyms in self._pseudonyms.values():
            self._session.run(f"DROP TABLE {pseudonyms}")

    def _change(self, name: str) -> None:
        table, number = self.tables[name], self._numbers[name]
        joins: list[str] = []
        columns = [self._expression(name, column, joins) for column in table.columns]
        selected = ", ".join(f"{column} AS c{j}" for j, column in enumerate(columns))
        joined = " ".join(joins)
        file = quote_text(str(self._file("changed", name)))
        order = "ORDER BY raw.line" if self.in_order else ""
        self._session.run(
            f"COPY (SELECT {selected}, people.person AS c{len(columns)}, raw.line FROM raw_{number} AS raw "
            f"JOIN people_{number} AS people USING (line) {joined} {order}) TO {file} (FORMAT parquet)"
        )

    def _expression(self, name: str, column: ChangedColumn, joins: list[str]) -> str:
        """What a column is made by, and what must be joined for that."""
        raw, change, alias = f"raw.{self._column(name, column.source)}", column.change, f"j{len(joins)}"
        if change is None:
            return raw
        if isinstance(change, Pseudonym):
            joins.append(f"LEFT JOIN {self._pseudonyms[change.space]} AS {alias} ON {alias}.key = {raw}")
            return f"{alias}.pseudonym"
        if isinstance(change, Shift):
            dates = self._dates_of(name, column.source, column.written, shifts=True)
            day = self._day(name, column.source, column.written)
            joins.append(f"LEFT JOIN {dates} AS {alias} ON {alias}.value = {day}")
            joins.append(f"LEFT JOIN {self._offsets} AS {alias}o ON {alias}o.person = people.person")
            return f"CAST({alias}.date + {alias}o.days AS VARCHAR)"
        return self._derived(name, column, change, joins)

    def _derived(self, name: str, column: ChangedColumn, derivation: Derivation, joins: list[str]) -> str:
        alias = f"j{len(joins)}"
        own = self._dates_of(name, column.source, column.written)
        day = self._day(name, column.source, column.written)
        joins.append(f"LEFT JOIN {own} AS {alias} ON {alias}.value = {day}")
        date, other = f"{alias}.date", f"{alias}b.date"
        if derivation.kind == "days_since":
            above = derivation.table or name
            firsts = self._first_dates(above, derivation.by)
            joins.append(f"LEFT JOIN {firsts} AS {alias}b ON {alias}b.person = people.person")
            return _days(f"{date} - {other}", derivation.most)
        if derivation.fixed:
            other = f"DATE '{derivation.by}'"
        else:
            written = self._written(name, derivation.by)
            beside = self._dates_of(name, derivation.by, written)
            day = self._day(name, derivation.by, written)
            joins.append(f"LEFT JOIN {beside} AS {alias}b ON {alias}b.value = {day}")
        if derivation.kind == "days_after":
            return _days(f"{date} - {other}", derivation.most)
        years = (
            f"year({other}) - year({date}) - CAST((month({other}), day({other})) < (month({date}), day({date})) AS INT)"
        )
        return f"CASE WHEN {date} <= {other} THEN CAST({years} AS VARCHAR) END"

    def _written(self, name: str, column: str) -> str | None:
        return next((c.written for c in self.tables[name].columns if c.source == column), None)

    def _first_dates(self, name: str, column: str) -> str:
        number, written = self._numbers[name], self._written(name, column)
        dates, day = self._dates_of(name, column, written), self._day(name, column, written)
        view = f"firsts_{number}_{self._column(name, column)}"
        self._session.run(
            f"CREATE TABLE IF NOT EXISTS {view} AS SELECT people.person, min(dates.date) AS date "
            f"FROM raw_{number} AS raw JOIN people_{number} AS people USING (line) "
            f"JOIN {dates} AS dates ON dates.value = {day} WHERE people.person IS NOT NULL GROUP BY ALL"
        )
        return view

    def lost(self, name: str) -> Mapping[str, int]:
        """How many records lack each derived value or shifted date although its own date is there: later births above
        all, and dates that tell no day.
        """
        counted: dict[str, int] = {}
        file = quote_text(str(self._file("changed", name)))
        for j, column in enumerate(self.tables[name].columns):
            if isinstance(column.change, Derivation | Shift):
                raw = self._column(name, column.source)
                (lost,) = self._session.row(
                    f"SELECT count(*) FROM read_parquet({file}) AS changed "
                    f"JOIN raw_{self._numbers[name]} AS raw USING (line) "
                    f"WHERE changed.c{j} IS NULL AND raw.{raw} IS NOT NULL"
                )
                counted[column.name] = int(lost)
        return counted


def _days(number: str, most: int | None) -> str:
    """A number of days as text; more than `most` of them, either way, are missing."""
    kept = number if most is None else f"CASE WHEN abs({number}) <= {most} THEN {number} END"
    return f"CAST({kept} AS VARCHAR)"


def pads(key: ReleaseKey, space: str) -> pa.Table:
    """What HMAC is made of, as a table of one row, so that a secret never stands in a query."""
    inner, outer = hmac_pads(key.secret)
    return pa.table(
        {
            "inner_pad": pa.array([inner], pa.binary()),
            "outer_pad": pa.array([outer], pa.binary()),
            "begin": text_array([f"pseudonym:{len(space)}:{space}:"]),
        }
    )
