"""Classes counted by DuckDB: a table of codes that is made once, and one check of it for each node."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.classes import Asked, CountedClasses, Groups, Told
from medveil.engine.duckdb_publication import DuckDBPublication, stars_of
from medveil.engine.duckdb_session import Session
from medveil.engine.links import write_links
from medveil.table.arrow import number_array, numpy_of, text_array


@dataclass(frozen=True)
class DuckDBCodedPublication:
    """`query` has a row for each record of the source: its line, whether it was kept, and p0, p1, ..., which are its
    labels and after them its plain columns.
    """

    session: Session
    query: str
    labelled: tuple[str, ...]
    plain: tuple[str, ...]
    suppressed: int
    stars: bool

    @property
    def published(self) -> DuckDBPublication:
        names = (*self.labelled, *self.plain)
        shown = ", ".join(f"p{j}" for j in range(len(names)))
        query = f"SELECT {shown} FROM ({self.query}) WHERE kept"
        return DuckDBPublication(
            self.session, query + stars_of(self.suppressed if self.stars else 0, len(names)), names
        )

    def write_links(self, path: Path) -> None:
        labels = [f"p{j}" for j in range(len(self.labelled))]
        links = self.session.table(f"SELECT line, kept, {', '.join(labels)} FROM ({self.query}) ORDER BY line")
        texts = links.select(labels).rename_columns(list(self.labelled))
        write_links(path, numpy_of(links["kept"]), texts, numpy_of(links["line"]))


class DuckDBCodedTable:
    """Distinct codes (c0, c1, ...: the quasi-identifiers, then the sensitive attributes), with whose they are where
    people are counted, and their number of records `n`.
    """

    def __init__(
        self,
        session: Session,
        names: Sequence[str],
        quasi: int,
        codes: Sequence[pa.Table],
        column: Callable[[str], str],
        subject: str | None,
    ) -> None:
        """The first `quasi` of the columns are the quasi-identifiers; `column` tells what the engine calls one."""
        self._session = session
        self._names = tuple(names)
        self._quasi = quasi
        self._codes = tuple(codes)
        self._column = column
        self._has_people = subject is not None
        self._name = _fresh("coded")
        with ExitStack() as stack:
            views = [stack.enter_context(session.registered(table)) for table in codes]
            selected = [f"m{j}.code AS c{j}" for j in range(len(names))]
            joined = self._joined(views)
            if subject is not None:
                person = column(subject)
                selected.append("people.code AS person")
                joined += (
                    f" JOIN (SELECT {person} AS who, row_number() OVER () AS code FROM (SELECT DISTINCT {person} "
                    f"FROM data)) AS people ON data.{person} IS NOT DISTINCT FROM people.who"
                )
            session.run(
                f"CREATE TABLE {self._name} AS SELECT {', '.join(selected)}, count(*) AS n FROM data {joined} "
                "GROUP BY ALL"
            )
        self._most_of_one = 1
        if subject is not None:
            self._most_of_one = int(
                session.row(f"SELECT max(n) FROM (SELECT sum(n) AS n FROM {self._name} GROUP BY person)")[0]
            )

    def _joined(self, views: Sequence[str]) -> str:
        """What adds to each record of the data the entry m0, m1, ... of each of its values."""
        return " ".join(
            f"JOIN {view} AS m{j} ON data.{self._column(name)} IS NOT DISTINCT FROM m{j}.value"
            for j, (view, name) in enumerate(zip(views, self._names, strict=True))
        )

    @property
    def _people(self) -> str:
        """What counts people."""
        return "count(DISTINCT person)" if self._has_people else "sum(n)::BIGINT"

    # The classes of a node

    @contextmanager
    def _grouped(self, groups: dict[int, NDArray[np.int32]]) -> Iterator[str]:
        """The table with the groups of some columns beside its codes: g2 beside c2. The maps are tables, not text."""
        with ExitStack() as stack:
            joined, selected = [], []
            for j, group_of in groups.items():
                codes = np.arange(len(group_of), dtype=np.int32)
                mapped = pa.table({"code": number_array(codes), "grp": number_array(_int32(group_of))})
                view = stack.enter_context(self._session.registered(mapped))
                selected.append(f"m{j}.grp AS g{j}")
                joined.append(f"JOIN {view} AS m{j} ON coded.c{j} = m{j}.code")
            yield f"(SELECT {', '.join(['coded.*', *selected])} FROM {self._name} AS coded {' '.join(joined)})"

    @contextmanager
    def _judged(self, groups: Groups, asked: Asked, most: int) -> Iterator[tuple[str, int]]:
        """A table of classes by their groups g0, g1, ..., with their records `n` and whether each `holds`; and how many
        records fail, at least, where those are more than `most`.
        """
        keys = [f"g{j}" for j in range(len(groups))]
        classes = _fresh("classes")
        with self._grouped(dict(enumerate(groups))) as coded:
            try:
                # Nobody is more people, or has more values, than there are records: this alone rules most nodes out.
                self._session.run(
                    f"CREATE TEMP TABLE {classes} AS SELECT {', '.join(keys)}, sum(n)::BIGINT AS n, "
                    f"sum(n) >= {asked.records} AS holds FROM {coded} GROUP BY ALL"
                )
                failing = self._failing(classes)
                if failing <= most and (asked.distinct or (self._has_people and asked.people > 1)):
                    self._look_closer(classes, coded, keys, asked)
                    failing = self._failing(classes)
                yield classes, failing
            finally:
                self._session.run(f"DROP TABLE IF EXISTS {classes}")

    def _failing(self, classes: str) -> int:
        return int(self._session.row(f"SELECT coalesce(sum(n) FILTER (NOT holds), 0)::BIGINT FROM {classes}")[0])

    def _look_closer(self, classes: str, coded: str, keys: Sequence[str], asked: Asked) -> None:
        """Count people and values of the classes that records leave open. Where nobody has more than m records, a class
        of more than (k - 1) m has at least k people.
        """
        conditions = [f"count(DISTINCT c{self._quasi + place}) >= {number}" for place, number in asked.distinct.items()]
        open_ones = "holds"
        if self._has_people and asked.people > 1:
            conditions.append(f"count(DISTINCT person) >= {asked.people}")
            if not asked.distinct:
                open_ones = f"holds AND n <= {(asked.people - 1) * self._most_of_one}"
        same = " AND ".join(f"coded.{key} = classes.{key}" for key in keys)
        counted = (
            f"SELECT {', '.join(f'coded.{key}' for key in keys)}, {' AND '.join(conditions)} AS found FROM {coded} AS "
            f"coded JOIN (SELECT * FROM {classes} WHERE {open_ones}) AS classes ON {same} "
            f"GROUP BY {', '.join(f'coded.{key}' for key in keys)}"
        )
        found = " AND ".join(f"{classes}.{key} = counted.{key}" for key in keys)
        self._session.run(f"UPDATE {classes} SET holds = counted.found FROM ({counted}) AS counted WHERE {found}")

    def check(self, groups: Groups, asked: Asked, most: int) -> CountedClasses:
        with self._judged(groups, asked, most) as (classes, failing):
            if failing > most:
                return CountedClasses(failing)
            squares, number = self._session.row(
                f"SELECT coalesce(sum(n::HUGEINT * n), 0), count(*) FROM {classes} WHERE holds"
            )
            hidden = self._hidden(classes, groups) if failing else [_nothing(group_of) for group_of in groups]
            return CountedClasses(failing, tuple(hidden), int(squares), int(number))

    def _hidden(self, classes: str, groups: Groups) -> list[NDArray[np.int64]]:
        """The failing records of each group of each quasi-identifier, counted together: grouping(...) has a bit for
        each column that a set leaves out.
        """
        keys = [f"g{j}" for j in range(len(groups))]
        told = self._session.table(
            f"SELECT grouping({', '.join(keys)})::BIGINT AS left_out, coalesce({', '.join(keys)}) AS grp, "
            f"sum(n)::BIGINT AS n FROM {classes} WHERE NOT holds "
            f"GROUP BY GROUPING SETS ({', '.join(f'({key})' for key in keys)})"
        )
        everything = (1 << len(keys)) - 1
        left_out, group, records = (numpy_of(told[name]) for name in ("left_out", "grp", "n"))
        hidden = []
        for j, group_of in enumerate(groups):
            mine = left_out == everything - (1 << (len(keys) - 1 - j))
            hidden.append(_filled(_nothing(group_of), group[mine], records[mine]))
        return hidden

    def least(self, groups: Groups, attributes: Sequence[int]) -> tuple[int, dict[int, int]]:
        counted = [f"{self._people} AS people"]
        counted += [f"count(DISTINCT c{self._quasi + place}) AS v{place}" for place in attributes]
        keys = ", ".join(f"g{j}" for j in range(len(groups)))
        asked = ", ".join(["min(people)", *(f"min(v{place})" for place in attributes)])
        with self._grouped(dict(enumerate(groups))) as coded:
            fewest, *values = self._session.row(
                f"SELECT {asked} FROM (SELECT {', '.join(counted)} FROM {coded} {f'GROUP BY {keys}' if keys else ''})"
            )
        return int(fewest), dict(zip(attributes, map(int, values), strict=True))

    # Columns and pairs

    def cross(
        self, first: int, of_first: NDArray[np.int32], second: int, of_second: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        with self._grouped({first: of_first, second: of_second}) as coded:
            pairs = self._session.table(
                f"SELECT g{first} AS a, g{second} AS b, sum(n)::BIGINT AS n FROM {coded} GROUP BY ALL"
            )
        found = np.zeros((len(_nothing(of_first)), len(_nothing(of_second))), dtype=np.int64)
        found[numpy_of(pairs["a"]), numpy_of(pairs["b"])] = numpy_of(pairs["n"])
        return found

    def people(self, column: int, group_of: NDArray[np.int32]) -> NDArray[np.int64]:
        with self._grouped({column: group_of}) as coded:
            found = self._session.table(f"SELECT g{column} AS grp, {self._people} AS n FROM {coded} GROUP BY ALL")
        return _filled(_nothing(group_of), numpy_of(found["grp"]), numpy_of(found["n"]))

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        keys = ", ".join(f"c{j}" for j in range(self._quasi))
        found = self._session.table(
            f"SELECT size, count(*) AS often FROM (SELECT {self._people} AS size FROM {self._name} "
            f"{f'GROUP BY {keys}' if keys else ''}) GROUP BY size ORDER BY size"
        )
        return numpy_of(found["size"]), numpy_of(found["often"])

    def told(self, columns: Sequence[int]) -> Told:
        return told_of(self._session, self._name, [f"c{j}" for j in columns], "person" if self._has_people else None)

    # What is published

    def publish(
        self,
        groups: Groups,
        asked: Asked,
        labels: Sequence[Sequence[str | None]],
        plain: Sequence[str],
        *,
        stars: bool,
    ) -> DuckDBCodedPublication:
        """Each value is mapped to its group and label, and the groups of classes that fail are a table to look in."""
        everybody = int(self._session.row(f"SELECT sum(n)::BIGINT FROM {self._name}")[0])
        left_out = _fresh("failing")
        with self._judged(groups, asked, everybody) as (classes, failing):
            self._session.run(f"CREATE TABLE {left_out} AS SELECT * EXCLUDE (n, holds) FROM {classes} WHERE NOT holds")
        views = []
        for j, (table, texts) in enumerate(zip(self._codes, labels, strict=True)):
            codes = numpy_of(table["code"])
            group = _int32(groups[j][codes] if j < len(groups) else codes)
            label = text_array(texts).take(number_array(group))
            views.append(
                self._session.register(pa.table({"value": table["value"], "grp": number_array(group), "label": label}))
            )
        same = " AND ".join(f"m{j}.grp = failing.g{j}" for j in range(len(groups)))
        shown = [f"m{j}.label AS p{j}" for j in range(len(views))]
        shown += [f"data.{self._column(name)} AS p{len(views) + j}" for j, name in enumerate(plain)]
        query = (
            f"SELECT data.line AS line, failing.g0 IS NULL AS kept, {', '.join(shown)} FROM data "
            f"{self._joined(views)} LEFT JOIN {left_out} AS failing ON {same}"
        )
        return DuckDBCodedPublication(self._session, query, self._names, tuple(plain), failing, stars)


def told_of(session: Session, relation: str, keys: Sequence[str], person: str | None) -> Told:
    """What the columns `keys` of a relation tell of who somebody is, where each of its rows stands for `n` records;
    `person` is an expression that is never null.

    A person of several records shows one of them, each equally often. With m(i, j) the share of person i's records
    that have combination j, and N people, an attacker lacks on average

        1/N sum over j of ( m(j) log2 m(j) - sum over i of m(i, j) log2 m(i, j) )    with m(j) = sum over i of m(i, j)
    """
    by = ", ".join(keys)
    if person is None:
        values, lacking, unique, people = session.row(
            "SELECT count(*), coalesce(sum(n * log2(n)), 0.0), count(*) FILTER (n = 1), coalesce(sum(n), 0)::BIGINT "
            f"FROM (SELECT sum(n)::BIGINT AS n FROM {relation} GROUP BY {by})"
        )
    else:
        held = f"SELECT {by}, {person} AS who, sum(n)::BIGINT AS n FROM {relation} GROUP BY {by}, who"
        shares = f"SELECT {by}, who, n / sum(n) OVER (PARTITION BY who) AS m FROM ({held})"
        combinations = (
            f"SELECT sum(m) AS all_of_it, sum(m * log2(m)) AS by_person, count(*) AS people, min(who) AS who "
            f"FROM ({shares}) GROUP BY {by}"
        )
        values, lacking, unique = session.row(
            "SELECT count(*), coalesce(sum(all_of_it * log2(all_of_it) - by_person), 0.0), "
            f"count(DISTINCT who) FILTER (people = 1) FROM ({combinations})"
        )
        (people,) = session.row(f"SELECT count(DISTINCT {person}) FROM {relation}")
    return Told(int(values), float(lacking) / max(int(people), 1), int(unique), int(people))


def _fresh(what: str) -> str:
    return f"{what}_{uuid.uuid4().hex}"


def _int32(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.ascontiguousarray(groups, dtype=np.int32)


def _nothing(group_of: NDArray[np.int32]) -> NDArray[np.int64]:
    """No records yet in each group."""
    return np.zeros(int(group_of.max(initial=-1)) + 1, dtype=np.int64)


def _filled(counts: NDArray[np.int64], places: NDArray[np.int32], values: NDArray[np.int64]) -> NDArray[np.int64]:
    counts[places] = values
    return counts
