"""The tables and columns of a policy, be it of one table or of several, with what a look at the data found of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medveil.studio.database import Job
from medveil.studio.jobs.queue import DONE

ASKED = ("role", "type", "format", "derive", "shift", "labels", "insist", "subject")
"""What a look at the data needs to know of a column, other than how it may be coarsened."""
ANY = {"model": "k-anonymity", "k": 1}
"""A model that always holds, for looks at the data that ask for none."""


@dataclass(frozen=True)
class PolicyColumn:
    """One column. table: of linked tables, the one that it is in. attribute: what the policy says of it, None where it
    is left out. points: the key of another table that it points to. found: how it looks, where somebody looked.
    """

    number: int
    table: str | None
    name: str
    attribute: Mapping[str, Any] | None
    points: str | None = None
    found: Mapping[str, Any] | None = None

    @property
    def place(self) -> list[str]:
        """Where the policy speaks of it."""
        return [*(() if self.table is None else ("tables", self.table)), "attributes", self.name]

    @property
    def called(self) -> str:
        """What models call it: by the name that is published."""
        published = ((self.attribute or {}).get("derive") or {}).get("name") or self.name
        return published if self.table is None else f"{self.table}.{published}"


def tables_of(policy: Mapping[str, Any]) -> dict[str | None, Mapping[str, Any]]:
    """The tables of a policy by their names; the only one has none."""
    if policy.get("tables"):
        return dict(policy["tables"])
    return {None: {"data": policy.get("data"), "attributes": policy.get("attributes", {})}}


def named(policy: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy says of where its data are."""
    if policy.get("tables"):
        return {"tables": {name: table["data"] for name, table in policy["tables"].items()}}
    return {"data": policy.get("data")}


def columns_of(policy: Mapping[str, Any], look: Job) -> list[PolicyColumn]:
    """Every column of the data and of the policy, those of a table together."""
    listed: list[PolicyColumn] = []
    for table, given in tables_of(policy).items():
        found = {one["name"]: one for one in _found(look, table, given["data"])}
        keys, attributes = given.get("key", {}), given["attributes"]
        for name in dict.fromkeys([*found, *keys, *attributes]):
            listed.append(PolicyColumn(len(listed), table, name, attributes.get(name), keys.get(name), found.get(name)))
    return listed


def _found(look: Job, table: str | None, data: Any) -> list[Mapping[str, Any]]:
    if look.state != DONE:
        return []
    # What was found in another file says nothing of this one.
    same = table is not None and look.result["named"].get("tables", {}).get(table) == data
    inspection = look.result["tables"][table] if same else None if table is not None else look.result["inspection"]
    found: list[Mapping[str, Any]] = [] if inspection is None else inspection["columns"]
    return found


def roles_of(policy: Mapping[str, Any]) -> dict[str, str]:
    """What each column of the policy is, by what models call it."""
    return {
        PolicyColumn(0, table, name, attribute).called: attribute["role"]
        for table, given in tables_of(policy).items()
        for name, attribute in given["attributes"].items()
    }


def has_sets(policy: Mapping[str, Any]) -> bool:
    """Whether some column of linked tables is a set of codes."""
    return any(one.get("set") for given in tables_of(policy).values() for one in given["attributes"].values())


def asked_tables(policy: Mapping[str, Any], whole: PolicyColumn | None = None) -> dict[str, Any]:
    """Linked tables for a look at them: without how columns are coarsened, so that the same look is not taken again
    where that alone changes; `whole`: but of this column with it.
    """

    def asked(table: str | None, name: str, attribute: Mapping[str, Any]) -> dict[str, Any]:
        if whole is not None and (whole.table, whole.name) == (table, name):
            return {key: value for key, value in attribute.items() if key != "set"}
        return {key: attribute[key] for key in ASKED if key in attribute}

    tables = {
        table: {**given, "attributes": {name: asked(table, name, one) for name, one in given["attributes"].items()}}
        for table, given in policy["tables"].items()
    }
    return {"tables": tables, "privacy": [ANY]}
