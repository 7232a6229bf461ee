"""What no claim covers: what a person has in several records, and what alone would single that person out.

Pseudonyms link the records of a person, so that whoever has the release can compare people by all of them together:
how many there are, how far apart their dates are, which values they hold, in which visit. For each of these, and for
all together, the share of people is counted who are alone with theirs. It is counted in the release, and so is known
to its recipients.

The records of a person are compared as a sum of hashes, in whatever order they stand, with a salt that is drawn for
each audit: two people whose records differ have one sum with a chance of about 2^-64.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from medveil.table.arrow import numpy_of

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class LinkedRows:
    """A published table: a relation with the column `person`, one f<i> for each attribute, in their order, and up_<n>,
    the number of the row in table number n that a row points to.

    one_each: every person has one record, as in the table of people. above: the tables that rows point to, but for
    that of people.
    """

    name: str
    number: int
    relation: str
    attributes: Sequence[Mapping[str, Any]]
    one_each: bool
    above: tuple[int, ...] = ()

    def columns(self, *roles: str) -> list[tuple[str, str, Mapping[str, Any]]]:
        """The columns of these roles: `table.column`, f<i>, and what the manifest says."""
        return [
            (f"{self.name}.{attribute['name']}", f"f{i}", attribute)
            for i, attribute in enumerate(self.attributes)
            if attribute["role"] in roles
        ]


def uncovered(
    connection: duckdb.DuckDBPyConnection,
    people: str,
    tables: Sequence[LinkedRows],
    claimed: Mapping[str, int],
    told: Sequence[str] = (),
    shields: Sequence[Collection[str] | None] = (None,),
) -> list[dict[str, Any]]:
    """What is left to an attacker, with the share of people singled out.

    `people` is a relation of each `person` once; `claimed` says of which set-valued attributes, `table.column`, claims
    cover how many values; `told` are attributes that a claim covers one by one; `shields` are the quasi-identifiers
    that each claim about classes is on, None where it is on all of them.
    """
    return _Left(connection, people, tables, claimed, told, shields).found()


@dataclass(frozen=True)
class _Left:
    connection: duckdb.DuckDBPyConnection
    people: str
    tables: Sequence[LinkedRows]
    claimed: Mapping[str, int]
    told: Sequence[str]
    shields: Sequence[Collection[str] | None]
    salt: int = field(default_factory=lambda: secrets.randbits(62))

    def found(self) -> list[dict[str, Any]]:
        (everybody,) = self._one(f"SELECT count(*) FROM {self.people}")
        self._first_dates()
        found = []
        for table in self.tables:
            for what, expression, relation in self._prints(table):
                summed = f"SELECT person, {self._sum(expression)} AS own FROM {relation} GROUP BY person"
                found.append({"what": what, "singled_out": self._alone(summed, everybody)})
            found += [
                {"what": what, "singled_out": round(share / everybody, 4) if everybody else 0.0}
                for what, share in self._known_dates(table)
            ]
            found += self._quasi_identifiers(table, everybody)
        found += [
            {"what": what, "singled_out": self._alone(summed, everybody)} for what, summed in self._beside_each_other()
        ]
        dates = [(table, column) for table in self.tables for _, column, _ in table.columns("date")]
        if len(dates) > 1:
            parts = [
                f"SELECT person, {self._sum(f'{number}, {self._gap(column)}')} AS own FROM {self._dated(table)} "
                f"WHERE {column} IS NOT NULL GROUP BY person"
                for number, (table, column) in enumerate(dates)
            ]
            found.append({"what": "intervals between all shifted dates", "singled_out": self._all(parts, everybody)})
        known = any(table.columns("quasi") for table in self.tables if table.one_each)
        if found:
            together = "all of these together" + (" with the quasi-identifiers" if known else "")
            found.append({"what": together, "singled_out": self._all(self._whole_records(), everybody)})
        return found

    def _one(self, query: str) -> tuple[Any, ...]:
        return tuple(self.connection.execute(query).fetchall()[0])

    def _sum(self, expression: str) -> str:
        """A number for the values of several records, whatever their order."""
        return f"sum(CAST(hash({expression}, {self.salt}) AS HUGEINT))"

    def _alone(self, summed: str, everybody: int) -> float:
        """The share of people whose number nobody else has; whoever has no records is like others without."""
        (alone,) = self._one(
            f"SELECT coalesce(sum(n) FILTER (n = 1), 0) FROM (SELECT count(*) AS n FROM {self.people} AS people "
            f"LEFT JOIN ({summed}) AS prints USING (person) GROUP BY prints.own)"
        )
        return round(int(alone) / everybody, 4) if everybody else 0.0

    def _all(self, parts: Sequence[str], everybody: int) -> float:
        """The same for several things at once."""
        together = " UNION ALL ".join(parts)
        return self._alone(f"SELECT person, sum(own) AS own FROM ({together}) GROUP BY person", everybody)

    def _prints(self, table: LinkedRows) -> list[tuple[str, str, str]]:
        """What is looked at in a table: in words, as an expression for each record, and where."""
        several, rows = not table.one_each, f"(SELECT * FROM {table.relation} WHERE person IS NOT NULL)"
        found = [(f"the number of records in {table.name}", "0", rows)] if several else []
        for name, column, attribute in table.columns("date", "quasi", "plain", "sensitive"):
            role, value = attribute["role"], f"coalesce('=' || {column}, '')"
            if role == "date" and several:
                day = f"TRY_CAST({column} AS DATE)"
                gaps = f"(SELECT person, {day} - min({day}) OVER (PARTITION BY person) AS gap FROM {rows})"
                found.append((f"intervals between the shifted dates in {name}", "coalesce(gap, -1)", gaps))
            elif name in self.claimed:
                found.append((f"more than {self.claimed[name]} of the values in {name}, or how often", value, rows))
            elif role == "quasi" and not self._is_shielded([name]):
                found.append((f"the values in {name}", value, rows))
            elif (role == "quasi" or name in self.told) and several:
                found.append((f"the values of all records in {name}, of which claims cover one", value, rows))
            elif role in {"plain", "sensitive"} and name not in self.told:
                found.append((f"the values in {name}", value, rows))
        return found

    # Quasi-identifiers

    def _is_shielded(self, names: Collection[str]) -> bool:
        """Whether some claim is on all of these columns at once."""
        return any(shield is None or set(names) <= set(shield) for shield in self.shields)

    def _quasi_identifiers(self, table: LinkedRows, everybody: int) -> list[dict[str, Any]]:
        """Those of the table of people, where no claim hides people by all of them."""
        columns = table.columns("quasi") if table.one_each else []
        if not columns:
            return []
        values = ", ".join(f"coalesce('=' || {column}, '')" for _, column, _ in columns)
        rows = f"{table.relation} WHERE person IS NOT NULL"
        share = self._alone(f"SELECT person, {self._sum(values)} AS own FROM {rows} GROUP BY person", everybody)
        shielded = self._is_shielded([name for name, _, _ in columns])
        # One column that no claim is on was told by itself.
        is_new = share > 0 if shielded else len(columns) > 1
        return [{"what": f"all quasi-identifiers in {table.name}", "singled_out": share}] if is_new else []

    def _beside_each_other(self) -> list[tuple[str, str]]:
        """Quasi-identifiers of two tables whose records point to one record of a third, which no claim looks at: the
        joined view has them beside each other whether they are of one visit or not.
        """
        seen = {t.number: t for t in self.tables if self._in_view(t)}
        names = {table.number: table.name for table in self.tables}
        found = []
        for one, other in combinations((t for t in seen.values() if not t.one_each), 2):
            for above in sorted(set(one.above) & set(other.above) - seen.keys()):
                values = [
                    f"coalesce('=' || t{n}.{column}, '')"
                    for n, table in enumerate((one, other))
                    for _, column in self._in_view(table)
                ]
                summed = (
                    f"SELECT t0.person, {self._sum(', '.join(values))} AS own FROM {one.relation} AS t0 "
                    f"JOIN {other.relation} AS t1 ON t0.up_{above} = t1.up_{above} AND t0.person = t1.person "
                    "GROUP BY t0.person"
                )
                found.append((f"records in {one.name} and {other.name} of one record in {names[above]}", summed))
        return found

    def _in_view(self, table: LinkedRows) -> list[tuple[str, str]]:
        """The columns of a table that claims about classes look at."""
        columns = table.columns("quasi", "sensitive")
        return [(name, column) for name, column, a in columns if a["role"] == "quasi" or name in self.told]

    # Dates

    def _first_dates(self) -> None:
        """The table `firsts`: the first shifted date of each person, in whichever column."""
        days = [
            f"SELECT person, TRY_CAST({column} AS DATE) AS day FROM {table.relation}"
            for table in self.tables
            for _, column, _ in table.columns("date")
        ]
        every = " UNION ALL ".join(days) or "SELECT 0 AS person, NULL::DATE AS day WHERE false"
        self.connection.execute(
            f"CREATE OR REPLACE TABLE firsts AS SELECT person, min(day) AS first FROM ({every}) "
            "WHERE person IS NOT NULL GROUP BY person"
        )

    def _gap(self, column: str) -> str:
        return f"coalesce(TRY_CAST({column} AS DATE) - first, -1)"

    def _dated(self, table: LinkedRows) -> str:
        """The rows of a table beside the first date of their person."""
        return (
            f"(SELECT rows.*, rows.rowid AS record, firsts.first FROM {table.relation} AS rows "
            "LEFT JOIN firsts USING (person) WHERE rows.person IS NOT NULL)"
        )

    def _known_dates(self, table: LinkedRows) -> list[tuple[str, float]]:
        """How many people are singled out by one true date of theirs: nobody else has a shifted one so near."""
        found = []
        for name, column, attribute in table.columns("date"):
            window = int(attribute["change"]["days"])
            dates = self.connection.sql(
                f"SELECT DISTINCT person, TRY_CAST({column} AS DATE) - DATE '1970-01-01' AS day FROM {table.relation} "
                f"WHERE person IS NOT NULL AND TRY_CAST({column} AS DATE) IS NOT NULL ORDER BY day, person"
            ).to_arrow_table()
            people, days = (numpy_of(dates[key]).astype(np.int64) for key in ("person", "day"))
            words = f"one true date, known to be within {window} days of a shifted one in {name}"
            found.append((words, singled_out_by_a_date(people, days, window)))
        return found

    # Whole records

    def _whole_records(self) -> list[str]:
        """Every record as a whole, with the record that it points to: who has which of them."""
        parts = []
        for table in self.tables:
            shown = [
                self._gap(column) if attribute["role"] == "date" else f"coalesce('=' || {column}, '')"
                for _, column, attribute in table.columns("date", "quasi", "plain", "sensitive")
            ]
            joins = [f"LEFT JOIN whole_{n} AS w{n} ON w{n}.record = rows.up_{n}" for n in table.above]
            shown += [f"coalesce(w{n}.own, 0)" for n in table.above]
            self.connection.execute(
                f"CREATE OR REPLACE TABLE whole_{table.number} AS SELECT rows.person, rows.record, "
                f"hash({', '.join([str(table.number), *shown, str(self.salt)])}) AS own "
                f"FROM {self._dated(table)} AS rows {' '.join(joins)}"
            )
            parts.append(f"SELECT person, {self._sum('own')} AS own FROM whole_{table.number} GROUP BY person")
        return parts


def singled_out_by_a_date(people: Numbers, days: Numbers, window: int) -> float:
    """How many of these people, on average over the offsets of dates, are alone with a date of theirs.

    `people` and `days` go together, sorted by day. Who knows the true date t of a person looks for people with a
    shifted date from t - w to t + w. With a days to the date before that is somebody else's, and b to the one after,
    nobody else is there where the offset o of the person has w - b < o < a - w; each o from -w to w but 0 is as likely
    as any other. Of several dates of a person, whose offset is one, it is enough that one tells.

    >>> singled_out_by_a_date(np.array([1, 2]), np.array([0, 40]), 10), singled_out_by_a_date(
    ...     np.array([1, 2, 3]), np.array([0, 15, 40]), 10
    ... )
    (2.0, 2.4)
    """
    if not len(people):
        return 0.0
    starts = np.flatnonzero(np.append(True, people[1:] != people[:-1]))
    lengths = np.diff(np.append(starts, len(people)))
    far = 10 * (window + 1) + int(days[-1] - days[0])
    before = np.append(days[0] - far, days[starts[1:] - 1])
    after = np.append(days[starts[1:]], days[-1] + far)
    a, b = days - np.repeat(before, lengths), np.repeat(after, lengths) - days
    low, high = np.maximum(-window, window - b + 1), np.minimum(window, a - window - 1)
    told = high >= low
    people, low, high = people[told], low[told], high[told]
    order = np.lexsort((low, people))
    # Each person's offsets on a stretch of their own, so that one pass unites them.
    stretch = people[order] * (4 * window + 4)
    low, high = low[order] + stretch, high[order] + stretch
    reached = np.append(np.int64(-(4 * window + 4)), np.maximum.accumulate(high)[:-1]) if len(high) else high
    offsets = np.maximum(high - np.maximum(low - 1, reached), 0).sum()
    unmoved = len(np.unique(stretch[(low <= stretch) & (stretch <= high)]))
    return float((offsets - unmoved) / (2 * window))
