"""What no claim covers: what a person has in several records, and what alone would single that person out.

Pseudonyms link the records of a person, so that whoever has the release can compare people by all of them together:
how many there are, how far apart their dates are, which values they hold. For each of these, and for all together, the
share of people is counted who are alone with theirs. It is counted in the release, and so is known to its recipients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb


@dataclass(frozen=True)
class LinkedRows:
    """A published table: a relation with the column `person` and one f<i> for each attribute, in their order."""

    name: str
    relation: str
    attributes: Sequence[Mapping[str, Any]]
    one_each: bool
    """Whether every person has one record, as in the table of people."""


def uncovered(
    connection: duckdb.DuckDBPyConnection,
    people: str,
    tables: Sequence[LinkedRows],
    claimed: Mapping[str, int],
    told: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """What is left to an attacker, with the share of people singled out.

    `people` is a relation of each `person` once; `claimed` says of which set-valued attributes, `table.column`, claims
    cover how many values; `told` are attributes that a claim covers one by one.
    """
    found: list[dict[str, Any]] = []
    prints: list[str] = []
    for number, table in enumerate(tables):
        for what, expression, relation in _fingerprints(table, claimed, told):
            view = f"fingerprint_{number}_{len(prints)}"
            connection.execute(
                f"CREATE OR REPLACE TABLE {view} AS SELECT person, {expression} AS own FROM {relation} "
                "WHERE person IS NOT NULL GROUP BY person"
            )
            prints.append(view)
            found.append({"what": what, "singled_out": _alone(connection, people, [view])})
    known = _known(connection, tables)
    if found and len(prints) + len(known) > 1:
        together = "all of these together" + (" with the quasi-identifiers" if known else "")
        found.append({"what": together, "singled_out": _alone(connection, people, [*prints, *known])})
    return found


def _known(connection: duckdb.DuckDBPyConnection, tables: Sequence[LinkedRows]) -> list[str]:
    """The quasi-identifiers of the table of people, which claims cover, but only by themselves."""
    views = []
    for number, table in enumerate(tables):
        quasi = [f"f{i}" for i, attribute in enumerate(table.attributes) if attribute["role"] == "quasi"]
        if table.one_each and quasi:
            views.append(f"fingerprint_{number}_quasi")
            connection.execute(
                f"CREATE OR REPLACE TABLE {views[-1]} AS SELECT person, [{', '.join(quasi)}] AS own "
                f"FROM {table.relation}"
            )
    return views


def _fingerprints(table: LinkedRows, claimed: Mapping[str, int], told: Sequence[str]) -> list[tuple[str, str, str]]:
    """What is looked at in a table, in words and as an aggregate over the records of a person, in a relation."""
    prefix, rows = f"{table.name}." if table.name else "", table.relation
    found = [] if table.one_each else [(f"the number of records{_in(table)}", "count(*)", rows)]
    for i, attribute in enumerate(table.attributes):
        name, column, role = f"{prefix}{attribute['name']}", f"f{i}", attribute["role"]
        alone = not table.one_each
        if role == "date" and alone:
            day = f"TRY_CAST({column} AS DATE)"
            gaps = f"(SELECT person, {day} - min({day}) OVER (PARTITION BY person) AS gap FROM {rows})"
            found.append((f"intervals between the shifted dates in {name}", "list_sort(list(gap))", gaps))
        elif name in claimed:
            words = f"more than {claimed[name]} of the values in {name}"
            found.append((words, f"list_sort(list(DISTINCT {column}))", rows))
        elif (role == "quasi" or name in told) and alone:
            found.append((f"the values of all records in {name}, of which claims cover one", _values(column), rows))
        elif role in {"plain", "sensitive"} and name not in told:
            found.append((f"the values in {name}", _values(column), rows))
    return found


def _in(table: LinkedRows) -> str:
    return f" in {table.name}" if table.name else ""


def _values(column: str) -> str:
    return f"list_sort(list(coalesce('=' || {column}, '')))"


def _alone(connection: duckdb.DuckDBPyConnection, people: str, prints: Sequence[str]) -> float:
    joins = " ".join(f"LEFT JOIN {view} AS p{j} ON p{j}.person = people.person" for j, view in enumerate(prints))
    columns = ", ".join(f"p{j}.own AS o{j}" for j in range(len(prints)))
    grouped = f"SELECT {columns}, count(*) AS n FROM {people} AS people {joins} GROUP BY ALL"
    (alone, everybody) = connection.execute(
        f"SELECT coalesce(sum(n) FILTER (n = 1), 0), coalesce(sum(n), 0) FROM ({grouped})"
    ).fetchall()[0]
    return round(int(alone) / int(everybody), 4) if everybody else 0.0
