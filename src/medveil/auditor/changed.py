"""The source as its changed columns must be published: pseudonyms, shifted dates and derived columns, computed anew.

Nothing here is shared with what made the release: HMAC is spelled out, ages go by Python's calendar.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from medveil.auditor.context import Refuted
from medveil.auditor.reading import quote_text, relation, text
from medveil.errors import InputError
from medveil.release.changes import DERIVED, PSEUDONYM, SHIFT
from medveil.sources.csv_dialect import explain
from medveil.sources.parquet import ParquetSource
from medveil.sources.source import Source
from medveil.table.arrow import text_array
from medveil.table.dates import date_format_fault
from medveil.table.domain import canonical
from medveil.table.schema import Kind

_BLOCK = 64
BATCH = 100_000
"""So many keys are computed with at a time."""
_TIME = (
    r"^(\d\d\d\d-\d\d-\d\d)[T ][0-9][0-9]:[0-9][0-9]"
    r"(?:[:][0-9][0-9](?:[.][0-9]+)?)?(?:Z|[-+][0-9][0-9]:?[0-9][0-9])?$"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NO_DAY = re.compile(r"[0-9]{4}(-[0-9]{2})?\Z")
PERSON = " person"
"""The column, of a name that no source has, that says whose a record is."""
Attribute = Mapping[str, Any]


def is_change(change: Any) -> bool:
    """Whether a manifest says in full how a column was made."""
    if change is None:
        return True
    if not isinstance(change, Mapping) or not isinstance(change.get("of"), str):
        return False
    written = change.get("format")
    if written is not None and (not isinstance(written, str) or date_format_fault(written) is not None):
        return False
    kind, days = change.get("kind"), change.get("days")
    if kind == PSEUDONYM:
        return isinstance(change.get("space"), str)
    if kind == SHIFT:
        return isinstance(days, int) and not isinstance(days, bool) and 1 <= days <= 36500
    by, fixed, table = change.get("by"), change.get("fixed"), change.get("table")
    well = isinstance(by, str) and isinstance(fixed, bool) and isinstance(table, str | None)
    well = well and isinstance(change.get("most"), int | None) and not isinstance(change.get("most"), bool)
    return kind in DERIVED and well and (not fixed or _is_date(str(by)))


def _is_date(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def windows(attributes: Sequence[Attribute]) -> set[int]:
    """The windows of days in which dates were shifted."""
    changes = [attribute.get("change") or {} for attribute in attributes]
    return {change["days"] for change in changes if change.get("kind") == SHIFT}


def needs_secret(attributes: Sequence[Attribute]) -> bool:
    """Whether columns were made with a secret."""
    return any((a.get("change") or {}).get("kind") in {PSEUDONYM, SHIFT} for a in attributes)


@lru_cache(maxsize=8)
def _rounds(secret: bytes, purpose: str, space: str) -> tuple[Any, Any]:
    """The two rounds of HMAC as far as they are the same for all values."""
    block = (hashlib.sha256(secret).digest() if len(secret) > _BLOCK else secret).ljust(_BLOCK, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
    inner.update(b":".join([purpose.encode(), str(len(space)).encode(), space.encode(), b""]))
    return inner, hashlib.sha256(bytes(byte ^ 0x5C for byte in block))


def digest(secret: bytes, purpose: str, space: str, value: str) -> bytes:
    """HMAC-SHA256 by its definition, H((K xor opad) H((K xor ipad) m)), of a purpose, a space and a value.

    >>> digest(b"Jefe", "p", "s", "v").hex()[:8]
    '41bc1371'
    """
    first, second = (part.copy() for part in _rounds(secret, purpose, space))
    first.update(value.encode())
    second.update(first.digest())
    return bytes(second.digest())


def days_of(secret: bytes, space: str, person: str, most: int) -> int:
    """The offset of a person: a sign and a size from 1 to `most`."""
    odd, size = divmod(int.from_bytes(digest(secret, f"offset:{most}", space, person)), most)
    return (size + 1) * (-1 if odd % 2 else 1)


@dataclass(frozen=True)
class SourceTable:
    """A table of the source and the columns that are published of it.

    person: the column that names the person of a record. through: where none does, the column that points to the key
    of another table, that table and that key. beside: columns that are needed as they are.
    """

    source: Source
    attributes: Sequence[Attribute]
    person: str | None = None
    through: tuple[str, str, str] | None = None
    beside: tuple[str, ...] = ()


class ChangedSource:
    """Tables of a source in a connection, as they must be published. Table number n is `raw_<n>`: texts c0, c1, ...,
    `person`, and the number of the `record`, in the order of the source where people are named in the table itself.

    folder: where their texts are kept, since those of all tables together may be more than memory should hold.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        tables: Mapping[str, SourceTable],
        secret: bytes | None,
        space: str,
        folder: Path,
    ) -> None:
        self.connection = connection
        self.folder = folder
        self.tables = tables
        self.secret = secret or b""
        self.space = space
        self._numbers = {name: number for number, name in enumerate(tables)}
        self._views = 0
        self._pseudonyms: dict[str, str] = {}
        self._offsets: str | None = None
        for name in tables:
            self._load(name)

    def _load(self, name: str) -> None:
        table, number = self.tables[name], self._numbers[name]
        texts = ", ".join(f"{text(table.source, column)} AS c{i}" for i, column in enumerate(table.source.names))
        rows = relation(self.connection, table.source)
        file = quote_text(str(self.folder / f"raw_{number}.parquet"))
        who, joined = "NULL::VARCHAR", ""
        if table.person is not None:
            who = f"own.{self._column(name, table.person)}"
        elif table.through is not None:
            column, parent, key = table.through
            above = f"SELECT {self._column(parent, key)} AS key, any_value(person) AS person"
            joined = f" LEFT JOIN ({above} FROM raw_{self._numbers[parent]} GROUP BY ALL) AS above ON "
            who, joined = "above.person", f"{joined}above.key = own.{self._column(name, column)}"
        try:
            self.connection.execute(
                f"COPY (SELECT own.*, {who} AS person FROM (SELECT {texts} FROM {rows}) AS own{joined}) "
                f"TO {file} (FORMAT parquet)"
            )
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise InputError("The source cannot be read.", explain(str(error))) from None
        self.connection.execute(
            f"CREATE VIEW raw_{number} AS SELECT file_row_number AS record, * EXCLUDE (file_row_number) "
            f"FROM read_parquet({file}, file_row_number = true)"
        )

    def _column(self, name: str, column: str) -> str:
        return f"c{self.tables[name].source.position(column)}"

    def _distinct(self, name: str, expression: str) -> list[str]:
        query = f"SELECT DISTINCT {expression} FROM raw_{self._numbers[name]} WHERE {expression} IS NOT NULL"
        return [value for (value,) in self.connection.execute(query).fetchall()]

    def _lookup(self, values: Mapping[str, str | None], kind: str) -> str:
        """A table from keys to values."""
        self._views += 1
        view = f"lookup_{self._views}"
        pairs = pa.table({"key": text_array(values.keys()), "value": text_array(values.values())})
        self.connection.register("arriving", pairs)
        self.connection.execute(f"CREATE TABLE {view} AS SELECT key, CAST(value AS {kind}) AS value FROM arriving")
        self.connection.unregister("arriving")
        return view

    def pseudonyms(self, space: str) -> str:
        """The table with the pseudonym, `value`, of every `key` of a space, wherever it stands."""
        if space not in self._pseudonyms:
            places = [
                f"SELECT {self._column(name, a['change']['of'])} AS key FROM raw_{self._numbers[name]}"
                for name, table in self.tables.items()
                for a in table.attributes
                if (a.get("change") or {}).get("kind") == PSEUDONYM and a["change"]["space"] == space
            ]
            self._pseudonyms[space] = self._computed(
                places, "VARCHAR", lambda key: digest(self.secret, "pseudonym", space, key)[:16].hex()
            )
        return self._pseudonyms[space]

    def offsets(self, days: int) -> str:
        """The table with the offset, `value`, of every person, `key`, in the one window of days."""
        if self._offsets is None:
            people = [f"SELECT person AS key FROM raw_{number}" for number in self._numbers.values()]
            self._offsets = self._computed(
                people, "INTEGER", lambda person: days_of(self.secret, self.space, person, days)
            )
        return self._offsets

    def _computed(self, places: Sequence[str], kind: str, value: Callable[[str], Any]) -> str:
        """A table from every distinct `key` to what is computed of it; some keys at a time, since there may be
        millions.
        """
        self._views += 1
        view = f"lookup_{self._views}"
        distinct = f"SELECT DISTINCT key FROM ({' UNION ALL '.join(places)}) WHERE key IS NOT NULL"
        keys = self.connection.sql(distinct).to_arrow_table()["key"].combine_chunks()
        self.connection.execute(f"CREATE TABLE {view} (key VARCHAR, value {kind})")
        for start in range(0, len(keys), BATCH):
            some = keys.slice(start, BATCH)
            arriving = pa.table({"key": some, "value": pa.array(map(value, some.to_pylist()))})
            self.connection.register("arriving", arriving)
            self.connection.execute(f"INSERT INTO {view} SELECT key, value FROM arriving")
            self.connection.unregister("arriving")
        return view

    def write(self, name: str, path: Path) -> Source:
        """A table as it must be published, in a file, in the order of the source."""
        names, query = self.changed(name)
        self.connection.execute(f"COPY ({query} ORDER BY raw.record) TO {quote_text(str(path))} (FORMAT parquet)")
        return ParquetSource(names, frozenset({""}), path)

    def changed(self, name: str) -> tuple[tuple[str, ...], str]:
        """A table as it must be published: the names of its columns, and a query for them, c0, c1, ..."""
        table, number = self.tables[name], self._numbers[name]
        joins: list[str] = []
        columns = [self._expression(name, attribute, joins) for attribute in table.attributes]
        columns += [f"raw.{self._column(name, column)}" for column in table.beside] + ["raw.person"]
        selected = ", ".join(f"{column} AS c{j}" for j, column in enumerate(columns))
        names = (*(str(attribute["name"]) for attribute in table.attributes), *table.beside, PERSON)
        return names, f"SELECT {selected} FROM raw_{number} AS raw {' '.join(joins)}"

    def _expression(self, name: str, attribute: Attribute, joins: list[str]) -> str:
        change = attribute.get("change")
        if change is None:
            return f"raw.{self._column(name, attribute['name'])}"
        raw, kind, written = self._column(name, change["of"]), change["kind"], change.get("format")
        if kind == PSEUDONYM:
            return self._join(joins, self.pseudonyms(change["space"]), f"raw.{raw}")
        own = self._join(joins, self._dates(name, change["of"], written), self._date_part(name, change["of"], written))
        if kind == SHIFT:
            offset = self._join(joins, self.offsets(change["days"]), "raw.person")
            return f"strftime({own} + to_days({offset}), '%Y-%m-%d')"
        return self._derived(name, change, own, joins)

    def _join(self, joins: list[str], view: str, on: str) -> str:
        alias = f"j{len(joins)}"
        joins.append(f"LEFT JOIN {view} AS {alias} ON {alias}.key = {on}")
        return f"{alias}.value"

    def _date_part(self, name: str, column: str, written: str | None, of: str = "raw.") -> str:
        """What stands before the time in a text of ISO form: years to seconds are many, days are few."""
        own = f"{of}{self._column(name, column)}"
        if written is not None and written != "%Y-%m-%d":
            return own
        return f"coalesce(nullif(regexp_extract({own}, '{_TIME}', 1), ''), {own})"

    def _dates(self, name: str, column: str, written: str | None) -> str:
        texts = self._distinct(name, self._date_part(name, column, written, ""))
        if written in {None, "%Y-%m-%d"} and any(_DAY.match(text) for text in texts):
            # A year or a month among days tells no day, and is published as missing.
            texts = [text for text in texts if not _NO_DAY.match(text)]
        try:
            dates = canonical(texts, Kind.DATE, column, written)
        except InputError:
            raise Refuted(f"the source's column '{column}' does not hold dates, as the manifest says") from None
        return self._lookup(dict(zip(texts, dates, strict=True)), "DATE")

    def _derived(self, name: str, change: Mapping[str, Any], own: str, joins: list[str]) -> str:
        by, kind = change["by"], change["kind"]
        if kind == "days_since":
            return _counted(self._first(change.get("table") or name, by, joins), own, change.get("most"))
        written = self._format_of(name, by)
        if kind == "days_after":
            other = self._join(joins, self._dates(name, by, written), self._date_part(name, by, written))
            return _counted(other, own, change.get("most"))
        first = (name, change["of"], change.get("format"))
        born = dict(self._pairs(self._dates(*first)))
        if change["fixed"]:
            at = dt.date.fromisoformat(by)
            ages = {text: _age(date, at) for text, date in born.items()}
            return self._join(joins, self._lookup(ages, "VARCHAR"), self._date_part(*first))
        when = dict(self._pairs(self._dates(name, by, written)))

        def both(of: str) -> str:
            return f"{self._date_part(*first, of)} || chr(0) || {self._date_part(name, by, written, of)}"

        pairs = (pair.partition("\0") for pair in self._distinct(name, both("")))
        ages = {f"{a}\0{b}": _age(born[a], when[b]) for a, _, b in pairs if a in born and b in when}
        return self._join(joins, self._lookup(ages, "VARCHAR"), f"({both('raw.')})")

    def _first(self, name: str, column: str, joins: list[str]) -> str:
        """The first date of each person in a column."""
        if name not in self.tables:
            raise Refuted("a column is derived from a table that the manifest does not describe")
        written = self._format_of(name, column)
        dates, day = self._dates(name, column, written), self._date_part(name, column, written)
        self._views += 1
        view = f"lookup_{self._views}"
        self.connection.execute(
            f"CREATE TABLE {view} AS SELECT raw.person AS key, min(dates.value) AS value "
            f"FROM raw_{self._numbers[name]} AS raw JOIN {dates} AS dates ON dates.key = {day} "
            "WHERE raw.person IS NOT NULL GROUP BY raw.person"
        )
        return self._join(joins, view, "raw.person")

    def _format_of(self, name: str, column: str) -> str | None:
        """How a column of dates is written, where something that is made of it tells so."""
        for attribute in self.tables[name].attributes:
            change = attribute.get("change")
            if change is not None and change["of"] == column and change.get("format"):
                return str(change["format"])
            if change is None and attribute["name"] == column and attribute.get("format"):
                return str(attribute["format"])
        return None

    def _pairs(self, view: str) -> list[tuple[str, dt.date]]:
        return self.connection.execute(f"SELECT key, value FROM {view}").fetchall()


def _counted(start: str, end: str, most: int | None) -> str:
    """The days from one date to another, unless there are more than `most`."""
    days = f"date_diff('day', {start}, {end})"
    return (
        f"CAST({days} AS VARCHAR)"
        if most is None
        else f"if({days} BETWEEN -{most} AND {most}, CAST({days} AS VARCHAR), NULL)"
    )


def _age(born: dt.date, at: dt.date) -> str | None:
    """Full years: how many birthdays there were; one on 29 February is had on 1 March where there is none."""
    if born > at:
        return None
    years = at.year - born.year
    try:
        birthday = born.replace(year=at.year)
    except ValueError:
        birthday = dt.date(at.year, 3, 1)
    return str(years if birthday <= at else years - 1)
