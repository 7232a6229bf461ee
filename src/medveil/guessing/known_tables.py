"""Tables whose columns nobody needs to guess, because a published model says what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from medveil.guessing.code_trees import find_code_tree, with_code_tree
from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess, guess
from medveil.guessing.links import FoundLinks, Pointer
from medveil.table.schema import Kind, Role

TERMINOLOGY = "terminology"
REPORTED = "medveil reports how many people it singles out."
"""The concept of a column that names code systems: addresses of the web, though nobody's."""
BIRTH_YEAR = "birth-year"
"""The concept of a date of birth that is published as it is, to the year."""
EMPTY = "It is empty here."
NOT_HERE = "It points to a table that is not here."


@dataclass(frozen=True)
class KnownTable:
    """A table of a published model: the column that names its records, the columns that point to other tables, and what
    every other column is.
    """

    key: str
    points: Mapping[str, str]
    columns: Mapping[str, Guess]


def known_links(tables: Mapping[str, KnownTable], root: str) -> FoundLinks:
    """The links between these tables, those of people first; `root` holds the people."""
    pointers = [
        Pointer(name, column, target, tables[target].key)
        for name, table in tables.items()
        for column, target in table.points.items()
        if target in tables
    ]
    apart = [name for name in tables if name != root and not any(p.table == name for p in pointers)]
    keys = {name: table.key for name, table in tables.items() if name not in apart}
    return FoundLinks(root, keys, pointers, apart)


def known_guesses(table: KnownTable, here: frozenset[str], profiles: Sequence[ColumnProfile]) -> list[Guess]:
    """What each column is; `here` are the tables that are there. Sensitive codes get the tree that fits them."""
    return [_known(table, profile, here) for profile in profiles]


def _known(table: KnownTable, profile: ColumnProfile, here: frozenset[str]) -> Guess:
    if profile.name == table.key:
        return Guess(Kind.CODE, Role.KEY, "It names the records.")
    if profile.name in table.points:
        if table.points[profile.name] not in here:
            return hidden(NOT_HERE)
        return Guess(Kind.CODE, Role.KEY, f"It points to {table.points[profile.name]}.")
    if not profile.present:
        return hidden(EMPTY)
    found = table.columns.get(profile.name)
    if found is None:
        return hidden("The model has no such column: nobody knows what it holds.")
    if found.concept == "zip":
        return replace(found, hierarchy=with_code_tree(profile, guess(profile)).hierarchy)
    if found.role is Role.SENSITIVE and found.kind is Kind.CODE and found.hierarchy is None:
        return replace(found, hierarchy=find_code_tree(profile.sample, found.concept))
    return found


def hidden(reason: str) -> Guess:
    return Guess(Kind.CATEGORY, Role.IDENTIFIER, reason)


def plain(reason: str, kind: Kind = Kind.CATEGORY) -> Guess:
    return Guess(kind, Role.PLAIN, reason)


def date(reason: str = "A date.") -> Guess:
    return Guess(Kind.DATE, Role.DATE, reason)
