"""Linked tables: whose each record is, the view of everything that is known of a person, and one publication a table.

A record is *alive* where its person is among the people of the first table and everything that it points to is there
and alive too; others are left out, so that foreign keys hold in what is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.duckdb_changing import DuckDBChangedTables
from medveil.engine.duckdb_publication import DuckDBPublication
from medveil.engine.duckdb_reading import quote_text
from medveil.engine.tables import PERSON
from medveil.errors import InputError
from medveil.sources.parquet import ParquetSource
from medveil.sources.source import Source
from medveil.table.arrow import number_array, numpy_of, text_array


class DuckDBLinkedTables(DuckDBChangedTables):
    """Tables that point to each other, the first of them to none: it holds the people, each in one record."""

    in_order = False

    def _read(self) -> None:
        super()._read()
        for name in self.tables:
            self._find_alive(name)
        self._forget()

    @property
    def root(self) -> str:
        return next(iter(self.tables))

    def _changed_view(self, name: str) -> str:
        """A table as it is published, with the numbers of its lines, c0, c1, ... and the person."""
        return f"read_parquet({quote_text(str(self._file('changed', name)))})"

    def _find_alive(self, name: str) -> None:
        """The table alive_<n>: the lines that stay, and the number of their person."""
        table, number = self.tables[name], self._numbers[name]
        if table.key is not None:
            self._check_key(name, table.key)
        if name == self.root:
            self._session.run(
                f"CREATE TABLE alive_{number} AS SELECT line, line AS number, person FROM people_{number} "
                "WHERE person IS NOT NULL"
            )
            return
        raw, root = f"raw_{number}", f"alive_{self._numbers[self.root]}"
        joins, conditions = [], ["true"]
        for j, key in enumerate(table.foreign):
            above, column = self._numbers[key.table], f"raw.{self._column(name, key.column)}"
            joins.append(
                f"LEFT JOIN (SELECT keys.{self._column(key.table, key.key)} AS key, alive.number "
                f"FROM alive_{above} AS alive JOIN raw_{above} AS keys USING (line)) AS k{j} ON k{j}.key = {column}"
            )
            conditions.append(f"({column} IS NULL OR k{j}.number = root.number)")
        self._session.run(
            f"CREATE TABLE alive_{number} AS SELECT raw.line, root.number FROM {raw} AS raw "
            f"JOIN people_{number} AS people USING (line) JOIN {root} AS root ON root.person = people.person "
            f"{' '.join(joins)} WHERE {' AND '.join(conditions)}"
        )

    def _check_key(self, name: str, key: str) -> None:
        column = self._column(name, key)
        rows, present, distinct = self._session.row(
            f"SELECT count(*), count({column}), count(DISTINCT {column}) FROM raw_{self._numbers[name]}"
        )
        if present < rows:
            raise InputError(
                f"Table '{name}': {rows - present:,} records have no '{key}', which names them.",
                "Every record needs a key of its own: fix these records, or remove them.",
            )
        if distinct < rows:
            raise InputError(
                f"Table '{name}': '{key}' does not name one record each: {rows - distinct:,} are repeated.",
                "Is it the right column? Each record needs a key of its own.",
            )

    def rows(self, name: str) -> int:
        return int(self._session.row(f"SELECT count(*) FROM raw_{self._numbers[name]}")[0])

    def alive(self, name: str) -> int:
        """How many records of a table can be published at all."""
        return int(self._session.row(f"SELECT count(*) FROM alive_{self._numbers[name]}")[0])

    # The view

    def view(self, columns: Sequence[tuple[str, str, str]]) -> Source:
        """What may be known of a person: the distinct combinations of one record of each table, `PERSON` first.

        `columns` are a table, a column of it as it is published, and a name for it. Records that point to each other
        stay together; a person without records in a table has missing values there.
        """
        of_table: dict[str, list[tuple[str, str]]] = {self.root: []}
        for table, column, called in columns:
            of_table.setdefault(table, []).append((column, called))
        names = [called for _, _, called in columns]
        places = {called: f"v{j}" for j, called in enumerate(names)}
        root = f"alive_{self._numbers[self.root]}"
        query = f"SELECT number AS person FROM {root}"
        for group in self._groups(list(of_table)):
            part = self._together(group, of_table, places)
            query = f"SELECT * FROM ({query}) LEFT JOIN ({part}) USING (person)"
        selected = ", ".join(["CAST(person AS VARCHAR) AS person", *(f"{places[name]}" for name in names)])
        path = self._session.folder / "view.parquet"
        self._session.run(
            f"COPY (SELECT {selected} FROM ({query}) ORDER BY ALL) TO {quote_text(str(path))} (FORMAT parquet)"
        )
        return ParquetSource((PERSON, *names), frozenset({""}), path)

    def _groups(self, names: Sequence[str]) -> list[list[str]]:
        """Tables that are joined record by record, because one points to the other; the first table is alone."""
        groups: list[list[str]] = []
        for name in sorted(names, key=lambda name: self._numbers[name]):
            above = {key.table for key in self.tables[name].foreign}
            found = next((group for group in groups if above & set(group) - {self.root}), None)
            if found is None:
                groups.append([name])
            else:
                found.append(name)
        return groups

    def _together(
        self, group: Sequence[str], columns: Mapping[str, Sequence[tuple[str, str]]], places: Mapping[str, str]
    ) -> str:
        """The distinct combinations of a group of tables, by person."""
        first, *others = group
        query = self._records(first, columns[first], places)
        for name in others:
            inside = [key for key in self.tables[name].foreign if key.table in group]
            key = max(inside, key=lambda key: self._numbers[key.table])
            n, above = self._numbers[name], self._numbers[key.table]
            parent = (
                f"SELECT raw.line AS l{n}, keys.line AS l{above} FROM raw_{n} AS raw JOIN raw_{above} AS keys "
                f"ON keys.{self._column(key.table, key.key)} = raw.{self._column(name, key.column)}"
            )
            own = f"SELECT * FROM ({self._records(name, columns[name], places)}) LEFT JOIN ({parent}) USING (l{n})"
            query = f"SELECT * FROM ({query}) FULL JOIN ({own}) USING (person, l{above})"
        kept = ", ".join(["person", *(places[called] for name in group for _, called in columns[name])])
        return f"SELECT DISTINCT {kept} FROM ({query})"

    def _records(self, name: str, columns: Sequence[tuple[str, str]], places: Mapping[str, str]) -> str:
        number = self._numbers[name]
        order = [column.name for column in self.tables[name].columns]
        shown = "".join(f", changed.c{order.index(column)} AS {places[called]}" for column, called in columns)
        return (
            f"SELECT alive.number AS person, alive.line AS l{number}{shown} FROM {self._changed_view(name)} AS changed "
            f"JOIN alive_{number} AS alive USING (line)"
        )

    # People and their values

    def sets(self, name: str, column: str, kept: NDArray[np.int64]) -> pa.Table:
        """The distinct (`person`, `value`) of a column, of the people that are kept, by their numbers."""
        number = self._numbers[name]
        order = [one.name for one in self.tables[name].columns]
        with self._session.registered(pa.table({"number": number_array(kept)})) as view:
            return self._session.table(
                f"SELECT DISTINCT alive.number AS person, changed.c{order.index(column)} AS value "
                f"FROM {self._changed_view(name)} AS changed JOIN alive_{number} AS alive USING (line) "
                f"JOIN {view} AS kept ON kept.number = alive.number"
            )

    def texts(self, name: str, column: str) -> frozenset[str]:
        """The distinct values of a column as it is counted, without the missing one."""
        place = [one.name for one in self.tables[name].columns].index(column)
        found = self._session.table(
            f"SELECT DISTINCT c{place} AS value FROM {self._changed_view(name)} WHERE c{place} IS NOT NULL"
        )
        return frozenset(found["value"].to_pylist())

    def tells(self, name: str, column: str, other: str) -> bool:
        """Whether most values of a column go with one value of another, as the name of a disease with its code.

        Half of the records are enough, so that a few names that stand for two codes hide nothing. Records with the most
        common value of the other column are left out, which many a column goes with by chance, and so are values that
        one record has: a column with nearly as many values as records tells everything and nothing.
        """
        order = [one.name for one in self.tables[name].columns]
        own, told = f"c{order.index(column)}", f"c{order.index(other)}"
        rows = f"SELECT {own} AS own, {told} AS told FROM {self._changed_view(name)}"
        (found,) = self._session.row(
            f"WITH rows AS ({rows} WHERE {own} IS NOT NULL AND {told} IS NOT NULL), "
            "common AS (SELECT told FROM rows GROUP BY told ORDER BY count(*) DESC, told LIMIT 1), "
            "values AS (SELECT own, count(*) AS n, count(DISTINCT told) AS different, any_value(told) AS told "
            "FROM rows GROUP BY own) "
            "SELECT (SELECT coalesce(sum(n), 0) FROM values ANTI JOIN common USING (told) "
            "WHERE different = 1 AND n > 1) "
            ">= greatest((SELECT count(*) FROM rows ANTI JOIN common USING (told)), 1) / 2"
        )
        return bool(found)

    def repeated(self, hidden: tuple[str, str], values: Sequence[str], shown: tuple[str, str]) -> float:
        """Of the people's values in one column, `table, column`, the share that stands in another column of theirs.
        Only `values` are looked at.
        """
        with self._session.registered(pa.table({"value": text_array(values)})) as wanted:
            found, all_of_them = self._session.row(
                f"WITH own AS ({self._people_and_values(*hidden)} SEMI JOIN {wanted} USING (value)) "
                f"SELECT (SELECT count(*) FROM own SEMI JOIN ({self._people_and_values(*shown)}) AS shown "
                "USING (person, value)), (SELECT count(*) FROM own)"
            )
        return float(found / all_of_them) if all_of_them else 0.0

    def _people_and_values(self, name: str, column: str) -> str:
        place = [one.name for one in self.tables[name].columns].index(column)
        return (
            f"SELECT * FROM (SELECT DISTINCT alive.number AS person, changed.c{place} AS value "
            f"FROM {self._changed_view(name)} AS changed JOIN alive_{self._numbers[name]} AS alive USING (line))"
        )

    def everybody(self) -> NDArray[np.int64]:
        """The numbers of all people."""
        found = self._session.table(f"SELECT number FROM alive_{self._numbers[self.root]} ORDER BY number")
        return numpy_of(found["number"])

    # Publications

    def publish(
        self,
        name: str,
        kept: NDArray[np.int64],
        by_person: Mapping[str, pa.Array],
        by_value: Mapping[str, pa.Table],
    ) -> DuckDBPublication:
        """The records of the people that are kept. `by_person` has a label for each of them, in their order, `by_value`
        from `value` to `label`; other columns are published as they stand.
        """
        number = self._numbers[name]
        names = ["number", *(f"b{j}" for j in range(len(by_person)))]
        view = self._session.register(pa.table([number_array(kept), *by_person.values()], names=names))
        joins, columns = [f"JOIN {view} AS kept ON kept.number = alive.number"], []
        for j, column in enumerate(self.tables[name].columns):
            if column.name in by_person:
                columns.append(f"kept.b{list(by_person).index(column.name)}")
            elif column.name in by_value:
                labels = self._session.register(by_value[column.name])
                joins.append(f"LEFT JOIN {labels} AS m{j} ON m{j}.value IS NOT DISTINCT FROM changed.c{j}")
                columns.append(f"m{j}.label")
            else:
                columns.append(f"changed.c{j}")
        selected = ", ".join(f"{column} AS p{j}" for j, column in enumerate(columns))
        query = (
            f"SELECT {selected} FROM {self._changed_view(name)} AS changed "
            f"JOIN alive_{number} AS alive USING (line) {' '.join(joins)}"
        )
        published = tuple(column.name for column in self.tables[name].columns)
        return DuckDBPublication(self._session, query, published, name)

    @property
    def folder(self) -> Path:
        """Where files are that go with these tables."""
        return self._session.folder
