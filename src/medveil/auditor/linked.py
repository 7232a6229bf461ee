"""The tables of a linked release, read from its files: keys, whose each record is, and what is known of a person.

Everything is found out from pseudonyms in the files; nothing here is shared with what wrote them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from medveil.auditor.context import Refuted
from medveil.auditor.evidence import Evidence
from medveil.auditor.in_process import FileDoor
from medveil.auditor.published import ReleaseFiles, open_release
from medveil.auditor.uncovered import LinkedRows, uncovered
from medveil.release.manifest import Manifest

Attribute = Mapping[str, Any]
PSEUDONYM = "[0-9a-f]{32}"


@dataclass(frozen=True)
class LinkedTable:
    """A table as the manifest tells it."""

    name: str
    number: int
    content: Mapping[str, Any]

    @property
    def attributes(self) -> Sequence[Attribute]:
        found: Sequence[Attribute] = self.content["attributes"]
        return found

    @property
    def key(self) -> str | None:
        found: str | None = self.content["key"]
        return found

    @property
    def foreign(self) -> dict[str, tuple[str, str]]:
        """The columns that point to another table, that table, and its key."""
        return {column: (t.partition(".")[0], t.partition(".")[2]) for column, t in self.content["foreign"].items()}

    @property
    def pointers(self) -> dict[str, str]:
        """The tables that it points to, and the column that does; the first where several do."""
        found: dict[str, str] = {}
        for column, (above, _) in self.foreign.items():
            found.setdefault(above, column)
        return found

    @property
    def rows(self) -> str:
        """The table of the connection that holds its rows: f0, f1, ... by attribute, the number of the `person`, and
        for each table that it points to, up_<number>, the number of the row there.
        """
        return f"linked_{self.number}"

    @property
    def keys(self) -> str:
        """The table with each `key` once, the number of its `record`, and of its `person`."""
        return f"keys_{self.number}"

    def column(self, name: str) -> str:
        return f"f{[a['name'] for a in self.attributes].index(name)}"


class LinkedRelease:
    """The files of a linked release in a connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> None:
        self.connection = connection
        self.manifest = manifest
        self.tables = {name: LinkedTable(name, i, content) for i, (name, content) in enumerate(manifest.tables.items())}
        self.files: dict[str, ReleaseFiles] = {}
        for table in self.tables.values():
            self._load(table, folder)

    @property
    def root(self) -> LinkedTable:
        return next(iter(self.tables.values()))

    def _load(self, table: LinkedTable, folder: Path) -> None:
        file = open_release([folder / table.content["file"]])
        self.files[table.name] = file
        if {a["name"] for a in table.attributes} != set(file.names):
            return
        columns = "".join(f"own.f{file.names.index(a['name'])} AS f{i}, " for i, a in enumerate(table.attributes))
        joins = []
        for above, column in table.pointers.items():
            up = self.tables[above]
            if up.number >= table.number or table.foreign[column][1] != up.key:
                raise ValueError("a table points to no key of one before it")
            place = f"own.f{file.names.index(column)}"
            joins.append(f"LEFT JOIN {up.keys} AS k{up.number} ON k{up.number}.key = {place}")
        if table is self.root:
            # Whoever is there twice is one person.
            place = f"own.f{file.names.index(str(table.key))}"
            who = f"CASE WHEN {place} IS NOT NULL THEN dense_rank() OVER (ORDER BY {place}) END"
        else:
            nearest = self.root.name if self.root.name in table.pointers else next(iter(table.pointers))
            who = f"k{self.tables[nearest].number}.person"
        numbers = [self.tables[above].number for above in table.pointers]
        ups = "".join(f", k{number}.record AS up_{number}" for number in numbers)
        self.connection.execute(
            f"CREATE TABLE {table.rows} AS SELECT {columns}CAST({who} AS INTEGER) AS person{ups} "
            f"FROM {file.relation} AS own {' '.join(joins)}"
        )
        if table.key is not None:
            key = table.column(table.key)
            self.connection.execute(
                f"CREATE TABLE {table.keys} AS SELECT {key} AS key, min(rowid) AS record, min(person) AS person "
                f"FROM {table.rows} WHERE {key} IS NOT NULL GROUP BY {key}"
            )

    def one(self, query: str) -> tuple[Any, ...]:
        return tuple(self.connection.execute(query).fetchall()[0])

    def count(self, table: LinkedTable) -> int:
        return int(self.one(f"SELECT count(*) FROM {table.rows}")[0])

    # Keys

    def key_problems(self) -> list[str]:
        """What is wrong with keys: a foreign key that points to nothing, a key that names two records, a key that is no
        pseudonym, a record that is nobody's.
        """
        found = []
        for table in self.tables.values():
            found += self._own_key(table)
            found += [p for a in table.attributes if a["role"] == "key" for p in self._form(table, a["name"])]
            (nobodys,) = self.one(f"SELECT count(*) FROM {table.rows} WHERE person IS NULL")
            if nobodys:
                found.append(f"{nobodys:,} records of '{table.name}' are nobody's")
            for column, (above, _) in table.foreign.items():
                found += self._foreign(table, column, self.tables[above])
        return found

    def _own_key(self, table: LinkedTable) -> list[str]:
        if table.key is None:
            return []
        (rows,), (distinct,) = (self.one(f"SELECT count(*) FROM {one}") for one in (table.rows, table.keys))
        return [] if rows == distinct else [f"'{table.name}.{table.key}' does not name one record each"]

    def _form(self, table: LinkedTable, name: str) -> list[str]:
        column = table.column(name)
        (strange,) = self.one(
            f"SELECT count(*) FROM {table.rows} WHERE {column} IS NOT NULL "
            f"AND NOT regexp_full_match({column}, '{PSEUDONYM}')"
        )
        return [f"'{table.name}.{name}' holds {strange:,} keys that are no pseudonyms"] if strange else []

    def _foreign(self, table: LinkedTable, column: str, above: LinkedTable) -> list[str]:
        own = table.column(column)
        joined = f"{above.keys} AS keys ON keys.key = own.{own}"
        if table.pointers[above.name] == column:
            joined = f"{above.rows} AS keys ON keys.rowid = own.up_{above.number}"
        dangling, others = self.one(
            f"SELECT count(*) FILTER (keys.rowid IS NULL), count(*) FILTER (keys.person <> own.person) "
            f"FROM {table.rows} AS own LEFT JOIN {joined} WHERE own.{own} IS NOT NULL"
        )
        problems = []
        if dangling:
            problems.append(f"'{table.name}.{column}' points to nothing in {dangling:,} records")
        if others:
            problems.append(f"'{table.name}.{column}' points to another person's record in {others:,} records")
        return problems

    # The view of a person

    @cached_property
    def seen(self) -> list[tuple[str, LinkedTable, Attribute]]:
        """The columns that claims about classes look at, `table.column`: quasi-identifiers, and sensitive attributes
        that some claim names.
        """
        claimed = {claim.get("attribute") for claim in self.manifest.claims if claim["model"] != "km-anonymity"}
        return [
            (f"{table.name}.{a['name']}", table, a)
            for table in self.tables.values()
            for a in table.attributes
            if a["role"] == "quasi" or (a["role"] == "sensitive" and f"{table.name}.{a['name']}" in claimed)
        ]

    def evidence(self, folder: Path, **given: Any) -> Evidence:
        """The view as a table in which people are told by their pseudonyms, for the checks of classes."""
        names = (str(self.manifest.subject), *(called for called, _, _ in self.seen))
        columns = ", ".join(["CAST(person AS VARCHAR) AS f0", *(f"v{i} AS f{i + 1}" for i in range(len(self.seen)))])
        door = FileDoor(self.connection, ReleaseFiles(names, f"(SELECT {columns} FROM {self._joined()})"))
        subject = {"name": self.manifest.subject, "role": "key", "type": "code"}
        attributes = [subject, *({**a, "name": called, "change": None} for called, _, a in self.seen)]
        flat = Manifest(
            status=self.manifest.status,
            method=self.manifest.method,
            claims=self.manifest.claims,
            rows={},
            attributes=attributes,
            release=self.manifest.release,
            subject=self.manifest.subject,
        )
        evidence = LinkedEvidence(door, folder, flat, **given)
        evidence.linked_release = self
        return evidence

    def _joined(self) -> str:
        """The table `joined`: `person` and v0, v1, ...: every combination of one record of each table, where records
        that point to each other go together.
        """
        places = {called: f"v{i}" for i, (called, _, _) in enumerate(self.seen)}
        used = [table for table in self.tables.values() if any(t is table for _, t, _ in self.seen)]
        query = f"SELECT DISTINCT person FROM {self.root.rows}"
        for cluster in self._clusters([table for table in used if table is not self.root]):
            query = f"SELECT * FROM ({query}) LEFT JOIN ({self._cluster(cluster, places)}) USING (person)"
        own = "".join(f", {self.root.column(a['name'])} AS {places[c]}" for c, t, a in self.seen if t is self.root)
        query = f"SELECT * FROM ({query}) JOIN (SELECT person{own} FROM {self.root.rows}) USING (person)"
        self.connection.execute(f"CREATE OR REPLACE TABLE joined AS SELECT DISTINCT * FROM ({query})")
        return "joined"

    def _clusters(self, tables: Sequence[LinkedTable]) -> list[list[LinkedTable]]:
        clusters: list[list[LinkedTable]] = []
        for table in tables:
            above = {name for name, _ in table.foreign.values()}
            home = [cluster for cluster in clusters if any(member.name in above for member in cluster)]
            if home:
                home[0].append(table)
            else:
                clusters.append([table])
        return clusters

    def _cluster(self, cluster: Sequence[LinkedTable], places: Mapping[str, str]) -> str:
        query = ""
        for table in cluster:
            values = "".join(f", {table.column(a['name'])} AS {places[c]}" for c, t, a in self.seen if t is table)
            own = f"SELECT person, rowid AS record_{table.number}{values}"
            inside = [member.number for member in cluster if member.name in table.pointers]
            if not query:
                query = f"{own} FROM {table.rows}"
                continue
            above = max(inside)
            own = f"{own}, up_{above} AS record_{above} FROM {table.rows}"
            query = f"SELECT * FROM ({query}) FULL JOIN ({own}) USING (person, record_{above})"
        shown = "".join(f", {places[c]}" for c, t, _ in self.seen if t in cluster)
        return f"SELECT DISTINCT person{shown} FROM ({query})"

    # What is left

    def uncovered(self) -> list[dict[str, Any]]:
        """What no claim covers."""
        rows = [
            LinkedRows(t.name, t.number, t.rows, t.attributes, t is self.root, self._above(t))
            for t in self.tables.values()
        ]
        claimed = {
            str(claim["attribute"]): int(claim["required"].get("m", 1))
            for claim in self.manifest.claims
            if claim["model"] == "km-anonymity" and isinstance(claim["required"].get("m", 1), int)
        }
        told = [
            str(c["attribute"]) for c in self.manifest.claims if c["model"] != "km-anonymity" and c.get("attribute")
        ]
        # A profile's claim, which asks for no faults, hides nobody among others.
        classes = [c for c in self.manifest.claims if c["model"] != "km-anonymity" and "faults" not in c["required"]]
        shields = [None if (on := claim.get("on")) is None else [str(name) for name in on] for claim in classes]
        people = f"(SELECT DISTINCT person FROM {self.root.rows} WHERE person IS NOT NULL)"
        return uncovered(self.connection, people, rows, claimed, told, shields)

    def _above(self, table: LinkedTable) -> tuple[int, ...]:
        """The tables, other than that of people, whose records its records point to."""
        return tuple(self.tables[above].number for above in table.pointers if above != self.root.name)


class LinkedEvidence(Evidence):
    """Evidence of a view, which knows the tables behind it."""

    linked_release: LinkedRelease

    def shown(self, left_out: Collection[str]) -> Iterator[tuple[str, Attribute, list[str]]]:
        """Of every table, not of the view alone."""
        for table in self.linked_release.tables.values():
            for attribute in table.attributes:
                called = f"{table.name}.{attribute['name']}"
                if called not in left_out:
                    found = self.distinct(table.rows, table.column(attribute["name"]))
                    yield called, attribute, [value for value in found if value is not None]

    def sets(self, claim: Mapping[str, Any]) -> str:
        name, _, column = str(claim.get("attribute")).partition(".")
        table = self.linked_release.tables.get(name)
        if table is None or column not in {a["name"] for a in table.attributes if a.get("form") == "set"}:
            raise Refuted("the claim is about no published set-valued attribute")
        value = table.column(column)
        return (
            f"SELECT DISTINCT person, {value} AS v FROM {table.rows} WHERE {value} IS NOT NULL AND person IS NOT NULL"
        )
