"""Whether the tables of a linked release are those of the source: every record of every published person, once, under
the right pseudonyms, with dates that moved by one offset a person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from medveil.auditor.changed import ChangedSource, SourceTable, days_of, digest
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import levels as levels_of
from medveil.auditor.in_process import FileDoor
from medveil.auditor.linked import LinkedRelease, LinkedTable
from medveil.auditor.reading import quote_text
from medveil.auditor.truth import Truth, compare_with_source
from medveil.release.manifest import INTERNAL, Manifest
from medveil.sources.parquet import ParquetSource
from medveil.sources.source import Source
from medveil.table.arrow import text_array
from medveil.table.domain import encode
from medveil.workspace import Workspace

RECODING = "recoding.json"
"""Where the steward's files tell what each value of a set-valued attribute is published as."""


@dataclass
class LinkedTruth:
    """A linked release beside the tables that it was made from."""

    release: LinkedRelease
    sources: Mapping[str, Source]
    secret: bytes
    folder: Path
    spill: Path
    base: Workspace
    places: Mapping[str, Path]

    def compare(self) -> Truth:
        """What is wrong with any table, and what could not be looked at."""
        manifest = self.release.manifest
        space = str(manifest.subject)
        self.connection = duckdb.connect(config={"temp_directory": str(self.spill)})
        try:
            tables = {name: self._source_table(table) for name, table in self.release.tables.items()}
            changed = ChangedSource(self.connection, tables, self.secret, space)
            problems, unchecked = self._offset_problems(space), []
            alive = self._alive()
            for table in self.release.tables.values():
                problems += self._missing(table, alive[table.name], space)
                truth = self._rows(table, changed)
                problems += [f"'{table.name}': {problem}" for problem in truth.problems]
                unchecked += [f"'{table.name}': {words}" for words in truth.unchecked]
        finally:
            self.connection.close()
        return Truth(tuple(problems), tuple(unchecked))

    def _source_table(self, table: LinkedTable) -> SourceTable:
        source, root = self.sources[table.name], self.release.root
        attributes = [a for a in table.attributes if a.get("form") != "set"]
        beside = tuple(a["name"] for a in table.attributes if a.get("form") == "set")
        if table is root:
            return SourceTable(source, attributes, table.key, beside=beside)
        direct = next((column for column, (above, _) in table.foreign.items() if above == root.name), None)
        if direct is not None:
            return SourceTable(source, attributes, direct, beside=beside)
        column, (above, key) = next(iter(table.foreign.items()))
        return SourceTable(source, attributes, through=(column, above, key), beside=beside)

    # Who is there

    def _alive(self) -> dict[str, str]:
        """For each table, a query for the lines and people of records that can be published: their person is in the
        table of people, and whatever they point to is there and is that person's.
        """
        queries: dict[str, str] = {}
        for table in self.release.tables.values():
            names = self.sources[table.name].names
            if table is self.release.root:
                self.connection.execute(
                    f"CREATE TABLE there_{table.number} AS SELECT line, person FROM raw_{table.number} "
                    "WHERE person IS NOT NULL"
                )
            else:
                tests = [f"person IN (SELECT person FROM there_{self.release.root.number})"]
                for column, (above, key) in table.foreign.items():
                    parent = self.release.tables[above]
                    place = f"c{self.sources[above].names.index(key)}"
                    found = (
                        f"SELECT 1 FROM raw_{parent.number} AS up JOIN there_{parent.number} AS there USING (line) "
                        f"WHERE up.{place} = own.c{names.index(column)} AND there.person = own.person"
                    )
                    tests.append(f"(own.c{names.index(column)} IS NULL OR EXISTS ({found}))")
                self.connection.execute(
                    f"CREATE TABLE there_{table.number} AS SELECT own.line, own.person FROM raw_{table.number} AS own "
                    f"WHERE {' AND '.join(tests)}"
                )
            queries[table.name] = f"there_{table.number}"
        return queries

    def _missing(self, table: LinkedTable, alive: str, space: str) -> list[str]:
        """Whether each published person has as many records in the release as in the source."""
        published = self.release.connection.sql(
            f"SELECT person, count(*) AS n FROM {table.rows} WHERE person IS NOT NULL GROUP BY person"
        ).to_arrow_table()
        root = self.release.root
        shown = self.release.connection.sql(f"SELECT DISTINCT person FROM {root.rows}").to_arrow_table()
        (total,) = self.connection.execute(f"SELECT count(*) FROM raw_{table.number}").fetchall()[0]
        (there,) = self.connection.execute(f"SELECT count(*) FROM {alive}").fetchall()[0]
        told = table.content["rows"]
        problems = []
        if (told.get("input"), told.get("strays")) != (total, total - there):
            problems.append(f"'{table.name}': the source has {total:,} records, {total - there:,} of them strays")
        self._name_people(root, space)
        self.connection.register("published_people", published)
        self.connection.register("shown_people", shown)
        (wrong,) = self.connection.execute(
            f"SELECT count(*) FROM (SELECT named.pseudonym AS person, count(*) AS n FROM {alive} AS there "
            "JOIN named ON named.person = there.person JOIN shown_people AS shown ON shown.person = named.pseudonym "
            "GROUP BY ALL) AS own FULL JOIN published_people AS published USING (person) "
            "WHERE own.n IS DISTINCT FROM published.n"
        ).fetchall()[0]
        if wrong:
            problems.append(f"'{table.name}': {wrong:,} people have other numbers of records than in the source")
        return problems

    def _name_people(self, root: LinkedTable, space: str) -> None:
        """The table `named`: the pseudonym of each person of the source."""
        people = self._people(root)
        pseudonyms = [digest(self.secret, "pseudonym", space, person)[:16].hex() for person in people]
        self.connection.register(
            "arriving", pa.table({"person": text_array(people), "pseudonym": text_array(pseudonyms)})
        )
        self.connection.execute("CREATE TABLE IF NOT EXISTS named AS SELECT * FROM arriving")
        self.connection.unregister("arriving")

    def _people(self, root: LinkedTable) -> list[str]:
        query = f"SELECT DISTINCT person FROM raw_{root.number} WHERE person IS NOT NULL"
        return [person for (person,) in self.connection.execute(query).fetchall()]

    def _offset_problems(self, space: str) -> list[str]:
        """Whether offsets differ from person to person, and stay in the window that is told."""
        windows = {
            a["change"]["days"]
            for table in self.release.tables.values()
            for a in table.attributes
            if a["role"] == "date"
        }
        people = self._people(self.release.root)
        problems = []
        for days in sorted(windows):
            offsets = {days_of(self.secret, space, person, days) for person in people}
            if any(not 1 <= abs(offset) <= days for offset in offsets):
                problems.append("an offset of dates is outside of the window that the manifest tells")
            if len(people) > 20 and len(offsets) < 2 <= days:
                problems.append("all dates moved by one offset")
        return problems

    # Rows

    def _rows(self, table: LinkedTable, changed: ChangedSource) -> Truth:
        """Whether every published row is a record of the source."""
        sets = [a for a in table.attributes if a.get("form") == "set"]
        mapped, unchecked, problems = {}, [], []
        source = changed.write(table.name, self.spill / f"changed_{table.number}.parquet")
        for attribute in sets:
            mapping = self._recoding(f"{table.name}.{attribute['name']}")
            if mapping is None:
                unchecked.append(f"whether '{attribute['name']}' is published as the original has it: needs {RECODING}")
                continue
            problems += self._not_ancestors(table, attribute, mapping, source)
            mapped[attribute["name"]] = mapping
        source = self._with_labels(source, mapped, table)
        compared = [self._compared(table, a) for a in table.attributes if a.get("form") != "set" or a["name"] in mapped]
        flat = Manifest(
            status=self.release.manifest.status,
            method={},
            claims=[],
            rows={"input": 0},
            attributes=compared,
            release=table.content["file"],
        )
        with duckdb.connect(config={"temp_directory": str(self.spill)}) as connection:
            door = FileDoor(connection, self.release.files[table.name])
            evidence = Evidence(door, self.spill, flat, source, self.base, self._places(table))
            truth = compare_with_source(evidence)
        return Truth((*problems, *truth.problems), (*unchecked, *truth.unchecked))

    def _places(self, table: LinkedTable) -> dict[str, Path]:
        prefix = f"{table.name}."
        return {name.removeprefix(prefix): path for name, path in self.places.items() if name.startswith(prefix)}

    def _compared(self, table: LinkedTable, attribute: Mapping[str, Any]) -> dict[str, Any]:
        """A column as it is compared: what no class is made of stands in the files as the source has it."""
        seen = any(t is table and a["name"] == attribute["name"] for _, t, a in self.release.seen)
        told = {key: value for key, value in attribute.items() if key not in {"change", "form"}}
        return told if seen else {**told, "role": "plain"}

    def _recoding(self, name: str) -> dict[str, str | None] | None:
        try:
            content = json.loads((self.folder / INTERNAL / RECODING).read_text(encoding="utf-8"))
            return {str(value): label for value, label in content[name]["labels"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _not_ancestors(
        self, table: LinkedTable, attribute: Mapping[str, Any], mapping: Mapping[str, str | None], source: Source
    ) -> list[str]:
        """Whether each value is published as one of its groups."""
        name = attribute["name"]
        described = {**attribute, "role": "sensitive", "form": None}
        flat = Manifest("", {}, [], {}, [described], table.content["file"])
        texts = list(mapping)
        with duckdb.connect() as connection:
            door = FileDoor(connection, self.release.files[table.name])
            evidence = Evidence(door, self.spill, flat, source, self.base, self._places(table))
            domain, codes = encode(texts, evidence.kinds[name], name, evidence.formats.get(name))
            known = levels_of(evidence, name, domain, None)  # type: ignore[arg-type]
        wrong = sum(
            all(level[code] != mapping[text] for level in known)
            for text, code in zip(texts, codes.tolist(), strict=True)
        )
        return [f"'{name}': {wrong:,} values are published as no group of theirs"] if wrong else []

    def _with_labels(
        self, source: Source, mapped: Mapping[str, Mapping[str, str | None]], table: LinkedTable
    ) -> Source:
        if not mapped:
            return source
        assert isinstance(source, ParquetSource)
        path = self.spill / f"labelled_{table.number}.parquet"
        joins, columns = [], []
        for i, name in enumerate(source.names):
            if name in mapped:
                pairs = pa.table({"value": text_array(mapped[name]), "label": text_array(mapped[name].values())})
                self.connection.register(f"labels_{i}", pairs)
                joins.append(f"LEFT JOIN labels_{i} ON labels_{i}.value = c{i}")
                columns.append(f"labels_{i}.label AS c{i}")
            else:
                columns.append(f"c{i}")
        self.connection.execute(
            f"COPY (SELECT {', '.join(columns)} FROM read_parquet({quote_text(str(source.file))}) {' '.join(joins)}) "
            f"TO {quote_text(str(path))} (FORMAT parquet)"
        )
        return ParquetSource(source.names, source.missing, path)
