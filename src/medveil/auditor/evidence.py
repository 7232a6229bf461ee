"""What checks count: people, or records where no subject is declared, in every class."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.links import link
from medveil.auditor.tables import PERSON, STAR, Tables
from medveil.release.manifest import INTERNAL, LINKS
from medveil.table.domain import Domain


class Evidence(Tables):
    """The tables, and the queries that count them.

    linked: a further table, the distinct (counted columns as published, person) of kept records (see `need_linked`).
    domains: the values of attributes, by the table that numbers them.
    """

    @cached_property
    def domains(self) -> dict[str, Domain]:
        return {}

    def seen_as(self, kind: type[Evidence]) -> Evidence:
        """The same tables, counted in another way."""
        seen = copy.copy(self)
        seen.__class__ = kind
        return seen

    def shown(self, left_out: Collection[str]) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
        """Every column that is published from the source, but for some: its name, what the manifest says of it, and
        its distinct values.
        """
        for attribute in self.manifest.attributes:
            name = str(attribute["name"])
            if name not in left_out and not attribute.get("made"):
                found = self.distinct(f"({self.published_rows([name])})", self.column(name))
                yield name, attribute, [value for value in found if value is not None]

    @property
    def counts_people(self) -> bool:
        return self.manifest.subject is not None

    @property
    def number_of_people(self) -> str:
        """How many people (records where no subject is declared) the rows of `kept` belong to, as an aggregate. Records
        of which nobody knows whose they are count as one person's, and never as none.
        """
        return f"count(DISTINCT coalesce('=' || {PERSON}, ''))" if self.counts_people else "count(*)"

    def need_linked(self) -> None:
        """Make the table `linked`: from the release where it publishes a pseudonym of each person, which else needs the
        source and honest links.
        """
        if self.manifest.subject in self.names("key"):
            self._link_by_key()
            return
        if self.source is None or not self.links.is_file():
            raise CannotTell(f"needs --source and {INTERNAL}/{LINKS}")
        self.consulted.add("source")
        if self._dishonest:
            raise Refuted(self._dishonest)

    def _link_by_key(self) -> None:
        """Rows of `*` are nobody's, and no pseudonym is `*`."""
        person = self.column(str(self.manifest.subject))
        columns, joins = [], []
        for name in self.counted:
            column = self.column(name)
            if name in self.formed:
                joins.append(f"LEFT JOIN forms_{column} ON forms_{column}.text = rows.{column}")
                columns.append(f"coalesce(forms_{column}.form, rows.{column}) AS {column}, ")
            else:
                columns.append(f"rows.{column}, ")
        rows = self.published_rows((*self.counted, str(self.manifest.subject)))
        self.connection.execute(
            f"CREATE TABLE IF NOT EXISTS linked AS SELECT DISTINCT {''.join(columns)}rows.{person} AS {PERSON} "
            f"FROM ({rows}) AS rows {' '.join(joins)} WHERE rows.{person} IS DISTINCT FROM '{STAR}'"
        )

    @cached_property
    def _dishonest(self) -> str:
        """Why the links cannot be believed; empty where they can. Makes the table `linked`."""
        return link(self)

    def sets(self, claim: Mapping[str, Any]) -> str:  # noqa: ARG002 - for linked tables
        """A query for the distinct (`person`, `v`) of a set-valued attribute, which only linked tables have."""
        raise Refuted("the claim is about sets of values, and the release has no linked tables")

    def in_records(self) -> Evidence:
        """The same evidence, counted in records: all that can be counted where nobody may know whose they are."""
        return self.seen_as(InRecords)

    def sizes(self, shield: Sequence[str]) -> str:
        """A query for the people (records where no subject is declared) of each class: the shield's columns, `n`."""
        return self._counted(self.columns(shield))

    def pairs(self, shield: Sequence[str], attribute: str) -> str:
        """A query for how many people (records where no subject is declared) of each class have each value: the
        shield's columns, `s` and `n`. Of a recoded attribute the source's own values are counted.
        """
        if self.recoded(attribute):
            return self._people(f"{self.columns(shield)}, {self.original(attribute)} AS s")
        return self._counted(f"{self.columns(shield)}, {self.column(attribute)} AS s")

    def _counted(self, selected: str) -> str:
        if not self.counts_people:
            return f"SELECT {selected}, sum(n)::BIGINT AS n FROM cells GROUP BY ALL"
        return self._people(selected)

    def _people(self, selected: str) -> str:
        self.need_linked()
        distinct = f"SELECT DISTINCT {selected}, {PERSON} FROM linked"
        return f"SELECT * EXCLUDE ({PERSON}), count(*) AS n FROM ({distinct}) GROUP BY ALL"

    def reference(self, attribute: str) -> str:
        """A query for how the input has the attribute's values, in people where a subject is declared: `s`, `n`."""
        column = self.column(attribute)
        self.need_origin()
        if not self.counts_people:
            return f"SELECT {column} AS s, sum(n)::BIGINT AS n FROM origin GROUP BY ALL"
        return f"SELECT s, count(*) AS n FROM (SELECT DISTINCT {column} AS s, {PERSON} FROM origin) GROUP BY ALL"


class InRecords(Evidence):
    """Evidence that counts records, whoever they belong to."""

    def shown(self, left_out: Collection[str]) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
        """Every column that is published from the source, but for some: its name, what the manifest says of it, and
        its distinct values.
        """
        for attribute in self.manifest.attributes:
            name = str(attribute["name"])
            if name not in left_out and not attribute.get("made"):
                found = self.distinct(f"({self.published_rows([name])})", self.column(name))
                yield name, attribute, [value for value in found if value is not None]

    @property
    def counts_people(self) -> bool:
        return False
