"""Whether the tables of a linked release are those of the source: every record of every published person, once, under
the right pseudonyms, with dates that moved by one offset a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from medveil.auditor.changed import ChangedSource, SourceTable, windows
from medveil.auditor.context import CannotTell
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import levels
from medveil.auditor.in_process import FileDoor
from medveil.auditor.linked import LinkedRelease, LinkedTable
from medveil.auditor.published import ReleaseFiles
from medveil.auditor.tables import SAME_SOURCE
from medveil.auditor.truth import Truth, labels_of
from medveil.errors import InputError
from medveil.release.manifest import INTERNAL, Manifest
from medveil.sources.source import Source
from medveil.table.arrow import text_array
from medveil.table.domain import encode
from medveil.workspace import Workspace

RECODING = "recoding.json"
"""Where the steward's files tell what each value of a set-valued attribute is published as."""
Attribute = Mapping[str, Any]


@dataclass
class LinkedTruth:
    """A linked release beside the tables that it was made from, in the connection of the release."""

    release: LinkedRelease
    sources: Mapping[str, Source]
    secret: bytes
    folder: Path
    base: Workspace
    places: Mapping[str, Path]
    spill: Path

    def compare(self) -> Truth:
        """What is wrong with any table, and what could not be looked at."""
        self.connection = self.release.connection
        space = str(self.release.manifest.subject)
        tables = {name: self._source_table(table) for name, table in self.release.tables.items()}
        changed = ChangedSource(self.connection, tables, self.secret, space, self.spill)
        problems, unchecked = self._offset_problems(changed), []
        self._name_people(changed.pseudonyms(space))
        self._find_alive()
        for table in self.release.tables.values():
            problems += self._missing(table)
            truth = self._rows(table, changed)
            problems += [f"'{table.name}': {problem}" for problem in truth.problems]
            unchecked += [f"'{table.name}': {words}" for words in truth.unchecked]
        return Truth(tuple(problems), tuple(unchecked))

    def _source_table(self, table: LinkedTable) -> SourceTable:
        source, root = self.sources[table.name], self.release.root
        attributes = [a for a in table.attributes if a.get("form") != "set"]
        beside = tuple(a["name"] for a in table.attributes if a.get("form") == "set")
        if table is root:
            return SourceTable(source, attributes, table.key, beside=beside)
        direct = table.pointers.get(root.name)
        if direct is not None:
            return SourceTable(source, attributes, direct, beside=beside)
        column, (above, key) = next(iter(table.foreign.items()))
        return SourceTable(source, attributes, through=(column, above, key), beside=beside)

    def _one(self, query: str) -> tuple[Any, ...]:
        return tuple(self.connection.execute(query).fetchall()[0])

    # Who is there

    def _name_people(self, pseudonyms: str) -> None:
        """The table `named`: the number that the release gives to each person of the source who is published."""
        self.connection.execute(
            f"CREATE TABLE named AS SELECT own.key AS person, keys.person AS number "
            f"FROM {pseudonyms} AS own JOIN {self.release.root.keys} AS keys ON keys.key = own.value"
        )

    def _find_alive(self) -> None:
        """For each table, there_<n>: the numbers of records that can be published, since their person is among the
        people, and whatever they point to is there and is that person's.
        """
        root = self.release.root
        for table in self.release.tables.values():
            tests = ["person IS NOT NULL"]
            if table is not root:
                tests = [f"person IN (SELECT person FROM raw_{root.number})"]
            names = self.sources[table.name].names
            for column, (above, key) in table.foreign.items():
                if above == root.name and table.pointers[above] == column:
                    continue
                parent = self.release.tables[above]
                place, own = f"c{self.sources[above].names.index(key)}", f"own.c{names.index(column)}"
                found = (
                    f"SELECT 1 FROM raw_{parent.number} AS up SEMI JOIN there_{parent.number} AS there "
                    f"ON there.record = up.record WHERE up.{place} = {own} AND up.person = own.person"
                )
                tests.append(f"({own} IS NULL OR EXISTS ({found}))")
            self.connection.execute(
                f"CREATE TABLE there_{table.number} AS SELECT own.record FROM raw_{table.number} AS own "
                f"WHERE {' AND '.join(tests)}"
            )

    def _missing(self, table: LinkedTable) -> list[str]:
        """Whether each published person has as many records in the release as in the source."""
        number = table.number
        (total,), (there,) = (self._one(f"SELECT count(*) FROM {one}_{number}") for one in ("raw", "there"))
        problems = []
        if table.content["rows"].get("strays") != total - there:
            problems.append(f"'{table.name}': {total - there:,} of the records of the source are strays")
        (wrong,) = self._one(
            f"SELECT count(*) FROM (SELECT named.number AS person, count(*) AS n FROM raw_{number} AS own "
            f"SEMI JOIN there_{number} AS there ON there.record = own.record JOIN named ON named.person = own.person "
            "GROUP BY ALL) "
            f"AS own FULL JOIN (SELECT person, count(*) AS n FROM {table.rows} WHERE person IS NOT NULL "
            "GROUP BY person) AS published USING (person) WHERE own.n IS DISTINCT FROM published.n"
        )
        if wrong:
            problems.append(f"'{table.name}': {wrong:,} people have other numbers of records than in the source")
        return problems

    def _offset_problems(self, changed: ChangedSource) -> list[str]:
        """Whether offsets differ from person to person, and stay in the window that is told."""
        told = windows([a for table in self.release.tables.values() for a in table.attributes])
        problems = []
        for days in told:
            people, offsets, outside = self._one(
                f"SELECT count(*), count(DISTINCT value), count(*) FILTER (abs(value) NOT BETWEEN 1 AND {days}) "
                f"FROM {changed.offsets(days)}"
            )
            if outside:
                problems.append("an offset of dates is outside of the window that the manifest tells")
            if people > 20 and offsets < 2 <= days:
                problems.append("all dates moved by one offset")
        return problems

    # Rows

    def _rows(self, table: LinkedTable, changed: ChangedSource) -> Truth:
        """Whether every published row is a record of the source, each taken once."""
        names, query = changed.changed(table.name)
        problems: list[str] = []
        unchecked: list[str] = []
        compared: list[str] = []
        shown: list[str] = []
        joins: list[str] = []
        for attribute in table.attributes:
            name, place = str(attribute["name"]), f"c{names.index(attribute['name'])}"
            try:
                labels = self._labels(table, attribute, f"SELECT {place} AS v FROM ({query})", problems)
            except CannotTell as reason:
                unchecked.append(str(reason))
                continue
            compared.append(name)
            if labels is None:
                shown.append(f"own.{place}")
                continue
            view = f"labels_{table.number}_{len(joins)}"
            self.connection.register(view, labels)
            joins.append(f"LEFT JOIN {view} ON {view}.value IS NOT DISTINCT FROM own.{place}")
            shown.append(f"{view}.label")
        published = [table.column(name) for name in compared]
        (strangers,) = self._one(
            "SELECT coalesce(sum(greatest(d, 0)), 0)::BIGINT FROM (SELECT row, sum(d) AS d FROM ("
            f"SELECT {_whole(published)} AS row, 1 AS d FROM {table.rows} UNION ALL "
            f"SELECT {_whole(shown)}, -1 FROM ({query}) AS own {' '.join(joins)}) GROUP BY row)"
        )
        if strangers:
            listed = ", ".join(f"'{name}'" for name in compared[:8]) or "no column"
            problems.append(
                f"{strangers:,} published rows match no record of the source (compared in {listed}); {SAME_SOURCE}"
            )
        return Truth(tuple(problems), tuple(unchecked))

    def _labels(self, table: LinkedTable, attribute: Attribute, values: str, problems: list[str]) -> pa.Table | None:
        """What each `value` of a column must be published as, its `label`; None where it stands as it is."""
        name = attribute["name"]
        if attribute.get("form") == "set":
            mapping = self._recoding(f"{table.name}.{name}")
            if mapping is None:
                raise CannotTell(f"whether '{name}' is published as the original has it: needs {RECODING}")
            problems += self._not_ancestors(table, attribute, mapping)
            return pa.table({"value": text_array(mapping), "label": text_array(mapping.values())})
        if not any(t is table and a["name"] == name for _, t, a in self.release.seen):
            return None
        if attribute["role"] == "quasi" and attribute.get("level") is None:
            raise CannotTell(f"which values of the original are behind '{name}': they were not published at one level")
        rows = self.connection.execute(f"SELECT v, count(*) FROM ({values}) GROUP BY v").fetchall()
        try:
            with self._evidence(table, attribute) as evidence:
                labels = labels_of(evidence, name, rows)
        except CannotTell as reason:
            raise CannotTell(f"whether '{name}' is published as the original has it: {reason}") from None
        except InputError as error:
            problems.append(f"the source does not fit the manifest: {error.problem}; {SAME_SOURCE}")
            return None
        return pa.table({"value": text_array([text for text, _ in rows]), "label": text_array(labels)})

    @contextmanager
    def _evidence(self, table: LinkedTable, attribute: Attribute) -> Iterator[Evidence]:
        """What the manifest says of one column, without any rows."""
        described = {key: value for key, value in attribute.items() if key not in {"change", "form"}}
        flat = Manifest("", {}, [], {}, [described], table.content["file"])
        nothing = ReleaseFiles((attribute["name"],), "(SELECT NULL::VARCHAR AS f0 WHERE false)")
        with duckdb.connect() as connection:
            door = FileDoor(connection, nothing)
            yield Evidence(door, self.folder, flat, None, self.base, self._places(table))

    def _places(self, table: LinkedTable) -> dict[str, Path]:
        prefix = f"{table.name}."
        return {name.removeprefix(prefix): path for name, path in self.places.items() if name.startswith(prefix)}

    def _recoding(self, name: str) -> dict[str, str | None] | None:
        try:
            content = json.loads((self.folder / INTERNAL / RECODING).read_text(encoding="utf-8"))
            return {str(value): label for value, label in content[name]["labels"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _not_ancestors(self, table: LinkedTable, attribute: Attribute, mapping: Mapping[str, str | None]) -> list[str]:
        """Whether each value is published as one of its groups."""
        name, texts = attribute["name"], list(mapping)
        with self._evidence(table, {**attribute, "role": "sensitive"}) as evidence:
            domain, codes = encode(texts, evidence.kinds[name], name, evidence.formats.get(name))
            known = levels(evidence, name, domain)
        wrong = sum(
            all(level[code] != mapping[text] for level in known)
            for text, code in zip(texts, codes.tolist(), strict=True)
        )
        return [f"'{name}': {wrong:,} values are published as no group of theirs"] if wrong else []


def _whole(columns: Sequence[str]) -> str:
    """All columns of a row as one number of 128 bits, by what stands in them and how long it is."""
    texts = [f"coalesce(strlen({column}) || ':' || {column}, '-')" for column in columns] or ["''"]
    return f"md5_number({' || '.join(texts)})"
