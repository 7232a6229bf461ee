"""How columns and linked tables fit together: whose a record is, and which table points to which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from medveil.policy.attribute import AttributePolicy
from medveil.table.schema import Role

if TYPE_CHECKING:
    from medveil.policy.document import Policy

_TABLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TAKEN = frozenset({"manifest", "report", "internal", "release"})


def check_tables(policy: Policy) -> None:
    """Refuse tables that cannot be linked: one holds the people, and every other leads to it."""
    if policy.model_fields_set & {"data", "attributes"}:
        raise PydanticCustomError("both", "'tables' replaces 'data' and 'attributes': use one or the other")
    if policy.output.database is not None:
        raise PydanticCustomError("one_table", "'output.database' is for one table, not for linked ones")
    for name in policy.tables:
        if not _TABLE_NAME.fullmatch(name) or name.lower() in _TAKEN:
            raise PydanticCustomError(
                "table_name",
                "a table's name becomes that of its file: it has letters, digits, - and _ only, and is not {taken}",
                {"taken": ", ".join(sorted(_TAKEN))},
            )
    if len({name.lower() for name in policy.tables}) < len(policy.tables):
        raise PydanticCustomError(
            "table_names", "two names of tables differ only in case, which file names may not: rename one"
        )
    roots = [name for name, table in policy.tables.items() if not table.key]
    if len(roots) != 1:
        raise PydanticCustomError(
            "roots",
            "one table holds the people and points to no other, and every other has a 'key' that leads to it; here {n} "
            "tables point to no other",
            {"n": len(roots)},
        )
    for name, table in policy.tables.items():
        for target in table.key.values():
            _check_target(policy, name, target)
        if any(a.role is Role.SUBJECT or a.subject for a in table.attributes.values()):
            raise PydanticCustomError("table_subject", "in linked tables the key of the first table names the person")
        twice = sorted(table.key.keys() & table.attributes.keys())
        if twice:
            raise PydanticCustomError(
                "key_twice", "'{name}' already points to another table: remove it from 'attributes'", {"name": twice[0]}
            )
        _own_key(policy, name)
    in_order(policy)


def _own_key(policy: Policy, name: str) -> str | None:
    """The column that other tables point to."""
    keys = [column for column, a in policy.tables[name].attributes.items() if a.role is Role.KEY]
    if len(keys) > 1 or (not keys and not policy.tables[name].key):
        raise PydanticCustomError(
            "own_key", "table '{table}' needs one column of role key, which names its records", {"table": name}
        )
    return keys[0] if keys else None


def _check_target(policy: Policy, name: str, target: str) -> None:
    table, _, column = target.partition(".")
    if table not in policy.tables or table == name or _own_key(policy, table) != column:
        raise PydanticCustomError(
            "target",
            "'{target}' is not the key of another table: write 'table.column', with a column of role key",
            {"target": target},
        )


def in_order(policy: Policy) -> list[str]:
    """The tables, each after those that it points to."""
    ordered: list[str] = []
    while len(ordered) < len(policy.tables):
        ready = [
            name
            for name, table in policy.tables.items()
            if name not in ordered and all(target.partition(".")[0] in ordered for target in table.key.values())
        ]
        if not ready:
            raise PydanticCustomError("circle", "tables point to each other in a circle")
        ordered += ready
    return ordered


def check_windows(policy: Policy) -> None:
    """All dates of a person move by one offset, so that one window holds for the whole release."""
    shifted = {name: a.shift.days for name, a in policy.attributes.items() if a.shift is not None}
    for table, given in policy.tables.items():
        shifted |= {f"{table}.{name}": a.shift.days for name, a in given.attributes.items() if a.shift is not None}
    first = next(iter(shifted), None)
    other = next((name for name, days in shifted.items() if first is not None and days != shifted[first]), None)
    if other is not None:
        raise PydanticCustomError(
            "windows",
            "all dates of a person move by one offset, and '{first}' is shifted by up to {one} days, '{other}' by up "
            "to {two}: write the same number of days for both",
            {"first": first, "one": shifted[str(first)], "other": other, "two": shifted[other]},
        )


def check_people(attributes: Mapping[str, AttributePolicy], *, named: bool) -> None:
    """Whose a record is must be clear where keys link records, or dates move by person."""
    keys = [name for name, a in attributes.items() if a.role is Role.KEY]
    if len(keys) > 1 and not named:
        raise PydanticCustomError(
            "several_keys", "several columns are keys: give the one that names the person 'subject: true'"
        )
    moved = [
        name
        for name, a in attributes.items()
        if a.role is Role.DATE or (a.derive is not None and a.derive.days_since is not None)
    ]
    if moved and not keys and not named:
        raise PydanticCustomError(
            "nobodys_dates",
            "'{name}' goes by person: give the column that names the person the role key or subject",
            {"name": moved[0]},
        )
