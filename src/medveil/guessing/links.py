"""Which columns of several tables are keys, and which point to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess
from medveil.table.schema import Kind

MOST_STRAYS = 0.05
"""A column points to a key where all but this share of its values are among those of the key."""


@dataclass(frozen=True)
class Pointer:
    """A column that points to the key of another table."""

    table: str
    column: str
    to_table: str
    to_column: str


@dataclass(frozen=True)
class FoundLinks:
    """The table of people, the key of each table that others point to, and what points there, as far as it leads to the
    people; `apart` are tables that nothing connects with them.
    """

    root: str | None
    keys: Mapping[str, str]
    pointers: Sequence[Pointer]
    apart: Sequence[str]


Columns = Sequence[tuple[ColumnProfile, Guess]]


def find_links(tables: Mapping[str, Columns], shared: Callable[[Pointer], float]) -> FoundLinks:
    """The links between tables. `shared` tells what share of a column's values are among those of the key.

    A key has a value of its own in every record. Of several that one column could point to, the table with the fewest
    records is meant; of several keys of a table, the one that most columns point to.
    """
    found = []
    for name, columns in tables.items():
        for other, others in tables.items():
            if other == name:
                continue
            for key in filter(_is_key, others):
                found += [
                    pointer
                    for profile, guess in columns
                    if _may_point(profile, guess, key[0])
                    and shared(pointer := Pointer(name, profile.name, other, key[0].name)) >= 1 - MOST_STRAYS
                ]
    return _settled(tables, found)


def _is_key(column: tuple[ColumnProfile, Guess]) -> bool:
    profile, guess = column
    return profile.distinct == profile.rows > 1 and guess.kind is not Kind.DATE and not guess.free_text


def _may_point(profile: ColumnProfile, guess: Guess, key: ColumnProfile) -> bool:
    """Small numbers are among the values of any key that counts from 1: a column must look like what it points to."""
    if guess.kind is Kind.DATE or guess.free_text or not profile.distinct or profile.distinct > key.distinct:
        return False
    return abs(profile.average_length - key.average_length) <= 1 and profile.longest <= key.longest + 1


def _settled(tables: Mapping[str, Columns], found: Sequence[Pointer]) -> FoundLinks:
    votes: dict[tuple[str, str], int] = {}
    for pointer in found:
        place = (pointer.to_table, pointer.to_column)
        votes[place] = votes.get(place, 0) + 1
    keys: dict[str, str] = {}
    for (table, column), _ in sorted(votes.items(), key=lambda vote: -vote[1]):
        keys.setdefault(table, column)
    kept = [p for p in found if keys.get(p.to_table) == p.to_column and keys.get(p.table) != p.column]
    one_each: dict[tuple[str, str], Pointer] = {}
    for pointer in sorted(kept, key=lambda p: _rows(tables, p.to_table)):
        one_each.setdefault((pointer.table, pointer.column), pointer)
    pointers = list(one_each.values())
    roots = [name for name in keys if not any(p.table == name for p in pointers)]
    root = max(roots, key=lambda name: sum(p.to_table == name for p in pointers), default=None)
    led: set[str] = set() if root is None else {root}
    while True:
        further = {p.table for p in pointers if p.to_table in led} - led
        if not further:
            break
        led |= further
    leading = [p for p in pointers if p.table in led and p.to_table in led]
    used = {p.to_table for p in leading}
    return FoundLinks(
        root, {n: c for n, c in keys.items() if n in used}, leading, [name for name in tables if name not in led]
    )


def _rows(tables: Mapping[str, Columns], name: str) -> int:
    return max((profile.rows for profile, _ in tables[name]), default=0)
