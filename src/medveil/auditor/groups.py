"""Groups of classes that publish the bundles of all their people, read from the files and counted.

The catalog lists the classes of each group together, once for every value v of the people's bundles R, with (g - 1) R_v
counterfeits (g: classes of the group) and r_i, the people of each class. A class that it does not list is a group by
itself, of nobody but its own people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.evidence import Evidence
from medveil.auditor.tables import PERSON
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, read_catalog

_LINE = "  "
"""What the column with the lines of the source is called in the links."""


@dataclass(frozen=True)
class Group:
    """One line-up of classes: their ids and people, and how many counterfeits of each value the catalog counts."""

    ids: tuple[int, ...]
    people: tuple[int, ...]
    counts: Mapping[tuple[str | None, ...], int]

    @property
    def size(self) -> int:
        """|R|, the people of all its classes."""
        return sum(self.people)


class ClassGroups:
    """The groups of a release; refused where the files are not of that structure.

    Makes the tables `class_rows` (id, quasi-identifiers, sensitive s0, s1, ..., plain p0, p1, ... and how many, `n`)
    and `members` (each listed class with its group `grp`, the number of classes `g` and its people `r`).
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.sensitive = evidence.names("sensitive")
        self.plain = evidence.names("plain")
        self.listed = _read(evidence, len(self.sensitive))
        self._count_rows()
        self._keep_members()
        self._compare_classes()
        self._compare_catalog()

    @property
    def values(self) -> str:
        return "".join(f", s{j}" for j in range(len(self.sensitive)))

    def _count_rows(self) -> None:
        evidence = self.evidence
        if not any(a["name"] == CLASS_ID and a.get("made") for a in evidence.manifest.attributes):
            raise Refuted(f"the release has no column '{CLASS_ID}' of the method's own")
        quasi = ", ".join(evidence.column(name) for name in evidence.names("quasi"))
        named = "".join(f", {evidence.column(name)} AS s{j}" for j, name in enumerate(self.sensitive))
        named += "".join(f", {evidence.column(name)} AS p{j}" for j, name in enumerate(self.plain))
        shown = (*evidence.names("quasi"), *self.sensitive, *self.plain, CLASS_ID)
        evidence.connection.execute(
            f"CREATE OR REPLACE TABLE class_rows AS SELECT TRY_CAST({evidence.column(CLASS_ID)} AS BIGINT) AS id, "
            f"{quasi}{named}, sum(n)::BIGINT AS n FROM ({evidence.published_rows(shown)}) GROUP BY ALL"
        )
        several, unread = evidence.one(
            f"SELECT (SELECT count(*) FROM (SELECT id FROM (SELECT DISTINCT id, {quasi} FROM class_rows) "
            "GROUP BY id HAVING count(*) > 1)), (SELECT count(*) FROM class_rows WHERE id IS NULL)"
        )
        if several or unread:
            raise Refuted(f"'{CLASS_ID}' does not stand for one published combination of quasi-identifiers")

    def _keep_members(self) -> None:
        rows = [
            (number, grp, len(group.ids), r)
            for grp, group in enumerate(self.listed)
            for number, r in zip(group.ids, group.people, strict=True)
        ]
        if len({row[0] for row in rows}) != len(rows):
            raise Refuted("the catalog lists a class in two groups")
        columns = [pa.array([row[j] for row in rows], pa.int64()) for j in range(4)]
        self.evidence.keep("members", pa.table(columns, names=["id", "grp", "g", "r"]))
        (unknown,) = self.evidence.one(
            "SELECT count(*) FROM members WHERE id NOT IN (SELECT id FROM class_rows WHERE id IS NOT NULL)"
        )
        if unknown:
            raise Refuted("the catalog lists a class that the release does not have")

    def _compare_classes(self) -> None:
        """Every class of a group publishes the same sensitive and plain values, each as often, one row a person."""
        keys = self.values + "".join(f", p{j}" for j in range(len(self.plain)))
        of_class = f"SELECT id{keys}, sum(n)::BIGINT AS n FROM class_rows GROUP BY ALL"
        (unlike,) = self.evidence.one(
            f"SELECT count(*) FROM (SELECT grp{keys} FROM ({of_class}) JOIN members USING (id) "
            f"GROUP BY grp{keys} HAVING count(*) <> any_value(g) OR min(n) <> max(n))"
        )
        if unlike:
            raise Refuted("the classes of a group do not publish the same values")
        (short,) = self.evidence.one(
            "SELECT count(*) FROM (SELECT id, sum(n) AS n FROM class_rows GROUP BY id) JOIN members USING (id) "
            "JOIN (SELECT grp, sum(r) AS people FROM members GROUP BY grp) USING (grp) WHERE n <> people"
        )
        if short:
            raise Refuted("a class of a group does not publish one record for each of the group's people")

    def _compare_catalog(self) -> None:
        """Of every value v the catalog counts (g - 1) R_v counterfeits."""
        flat = [(grp, values, count) for grp, group in enumerate(self.listed) for values, count in group.counts.items()]
        columns = [pa.array([row[0] for row in flat], pa.int64()), pa.array([row[2] for row in flat], pa.int64())]
        columns += [pa.array([row[1][j] for row in flat], pa.string()) for j in range(len(self.sensitive))]
        names = ["grp", "d", *(f"s{j}" for j in range(len(self.sensitive)))]
        self.evidence.keep("counted_counterfeits", pa.table(columns, names=names))
        (wrong,) = self.evidence.one(
            f"SELECT count(*) FROM (SELECT grp{self.values}, sum(d) AS d FROM ("
            f"SELECT grp{self.values}, d FROM counted_counterfeits UNION ALL BY NAME "
            f"SELECT grp{self.values}, -(sum(n) * (g - 1) // g) AS d FROM class_rows JOIN members USING (id) "
            f"GROUP BY grp, g{self.values}) GROUP BY grp{self.values}) WHERE d <> 0"
        )
        if wrong:
            raise Refuted("the catalog does not count the counterfeits of every value of a group")

    @property
    def counterfeits(self) -> int:
        return sum(sum(group.counts.values()) for group in self.listed)

    @property
    def least_real(self) -> float:
        """The least probability r_i / |R| of a published record to be real; 1 without groups of several classes."""
        return min((r / group.size for group in self.listed for r in group.people), default=1.0)

    def smallest(self) -> int:
        """The fewest people of any group; with a subject the people of single classes are counted in the source."""
        sizes = [group.size for group in self.listed]
        single = "id NOT IN (SELECT id FROM members)"
        if self.evidence.counts_people:
            self.need_people()
            query = f"SELECT min(n) FROM (SELECT count(DISTINCT {PERSON}) AS n FROM seated WHERE {single} GROUP BY id)"
        else:
            query = f"SELECT min(n) FROM (SELECT sum(n)::BIGINT AS n FROM class_rows WHERE {single} GROUP BY id)"
        (least,) = self.evidence.one(query)
        return min([*sizes, *([] if least is None else [int(least)])], default=0)

    def need_people(self) -> None:
        """Make the table `seated`: the class, the person and the sensitive values of each record that was published.

        Refused where links put a person into two classes, or another number of people into one than the catalog says.
        """
        evidence = self.evidence
        evidence.need_linked()
        links = pyarrow.parquet.read_table(evidence.links)
        if CLASS_ID not in links.column_names or links.column_names[1] != _LINE:
            raise CannotTell("the links do not say which class a record is in")
        seats = pa.table({"line": links.column(1).cast(pa.int64()), "id": links[CLASS_ID].cast(pa.int64())})
        evidence.keep("seats", seats)
        quasi = "".join(
            f", links.{evidence.column(name)} AS {evidence.column(name)}" for name in evidence.names("quasi")
        )
        own = "".join(f", origin.{evidence.column(name)} AS s{j}" for j, name in enumerate(self.sensitive))
        own += "".join(f", origin.{evidence.column(name)} AS p{j}" for j, name in enumerate(self.plain))
        evidence.connection.execute(
            f"CREATE OR REPLACE TABLE seated AS SELECT seats.id{quasi}{own}, "
            f"coalesce('=' || origin.{PERSON}, '') AS {PERSON} FROM origin "
            "JOIN links ON origin.line = links.line JOIN seats ON seats.line = origin.line WHERE links.kept"
        )
        self._check_people()

    def _check_people(self) -> None:
        several = f"SELECT {PERSON} FROM seated GROUP BY {PERSON} HAVING count(DISTINCT id) > 1"
        twice, wrong = self.evidence.one(
            f"SELECT (SELECT count(*) FROM ({several})), "
            f"(SELECT count(*) FROM members LEFT JOIN (SELECT id, count(DISTINCT {PERSON}) AS people, count(*) AS n "
            "FROM seated GROUP BY id) AS told USING (id) "
            "WHERE told.people IS DISTINCT FROM members.r OR told.n IS DISTINCT FROM members.r)"
        )
        if twice:
            raise Refuted(f"{twice:,} people are in several classes")
        if wrong:
            raise Refuted(f"in {wrong:,} classes there are not as many people as the catalog says")
        columns = ", ".join(
            ["id", *(self.evidence.column(name) for name in self.evidence.names("quasi"))]
            + [f"s{j}" for j in range(len(self.sensitive))]
            + [f"p{j}" for j in range(len(self.plain))]
        )
        (elsewhere,) = self.evidence.one(
            f"SELECT count(*) FROM (SELECT {columns}, sum(n) AS d FROM (SELECT {columns}, n FROM class_rows UNION ALL "
            f"SELECT {columns}, -1 FROM seated) GROUP BY ALL HAVING sum(n) < 0)"
        )
        if elsewhere:
            raise Refuted("the links put people into classes that do not publish their records")


def _read(evidence: Evidence, sensitive: int) -> list[Group]:
    path = evidence.folder / CATALOG
    if path.name not in evidence.manifest.files and evidence.manifest.files:
        raise Refuted("the manifest does not list the catalog among its files")
    try:
        entries = read_catalog(path, sensitive)
    except (OSError, ValueError, pa.ArrowException):
        raise Refuted("the catalog cannot be read") from None
    told = evidence.manifest.rows.get("counterfeit")
    if told is None:
        raise CannotTell("the manifest does not say how many counterfeits there are")
    if sum(entry.count for entry in entries) != told:
        raise Refuted(f"the catalog does not cover the {told:,} counterfeits of the manifest")
    return _line_up(entries)


def _line_up(entries: list[Entry]) -> list[Group]:
    """The catalog's rows by the classes that they list."""
    people: dict[tuple[int, ...], tuple[int, ...]] = {}
    counts: dict[tuple[int, ...], dict[tuple[str | None, ...], int]] = {}
    for entry in entries:
        if not entry.people or people.setdefault(entry.class_ids, entry.people) != entry.people:
            raise Refuted("the catalog does not say how many people are in the classes of each group")
        of_group = counts.setdefault(entry.class_ids, {})
        if entry.values in of_group:
            raise Refuted("the catalog lists a value of a group twice")
        of_group[entry.values] = entry.count
    return [Group(ids, people[ids], counts[ids]) for ids in counts]


class InGroups(Evidence):
    """Evidence in which a class is a whole group: what a person of any of its classes may have."""

    @classmethod
    def of(cls, evidence: Evidence) -> Evidence:
        groups = ClassGroups(evidence)
        if evidence.counts_people:
            groups.need_people()
        grouped = evidence.seen_as(cls)
        assert isinstance(grouped, InGroups)
        grouped.make(groups)
        return grouped

    def make(self, groups: ClassGroups) -> None:
        """The table `in_groups`: the group under the name of every quasi-identifier, the sensitive values, and the
        person. Of a group of several classes one class tells all: every row of it is a person's.
        """
        quasi = "".join(f"{{group}} AS {self.column(name)}, " for name in self.names("quasi"))
        values = "".join(f"s{j} AS {self.column(name)}, " for j, name in enumerate(groups.sensitive))
        first = "SELECT min(id) FROM members GROUP BY grp"
        single = "id NOT IN (SELECT id FROM members)"
        number = f"chr(0) || row_number() OVER () AS {PERSON}"
        several = f"{quasi.format(group='id')}{values}{number} FROM class_rows, unnest(range(n))"
        alone = (
            f"SELECT {quasi.format(group='id')}{values}{PERSON} FROM seated WHERE {single}"
            if self.counts_people
            else f"SELECT {several} WHERE {single}"
        )
        self.connection.execute(
            f"CREATE OR REPLACE TABLE in_groups AS {alone} UNION ALL SELECT {several} WHERE id IN ({first})"
        )

    def reference(self, attribute: str) -> str:
        """By records: counted by people it would tell who has a value in several records."""
        self.need_origin()
        return f"SELECT {self.column(attribute)} AS s, sum(n)::BIGINT AS n FROM origin GROUP BY ALL"

    def _counted(self, selected: str) -> str:
        distinct = f"SELECT DISTINCT {selected}, {PERSON} FROM in_groups"
        return f"SELECT * EXCLUDE ({PERSON}), count(*) AS n FROM ({distinct}) GROUP BY ALL"


def need_groups(evidence: Evidence, claim: Mapping[str, Any]) -> ClassGroups:
    """The groups that a claim about a catalog names."""
    parameters = claim["parameters"]
    if parameters.get("column") != CLASS_ID or parameters.get("catalog") != CATALOG:
        raise Refuted("the claim is about a catalog other than the release's")
    return ClassGroups(evidence)
