"""What a first look at a table prints: on one screen what matters, and each reason once."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from medveil.app.inspect import Inspection, LinkedInspection
from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess
from medveil.guessing.missing_words import as_options, proposal
from medveil.report.words import plural
from medveil.table.schema import Role
from medveil.terminal.console import console

SCREEN = 24
"""Columns that are all shown; of more than these only some are."""
FIRST = 10
"""Columns that are shown of many."""
LONGEST = 30
ROLES = (Role.SUBJECT, Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.PLAIN)

Column = tuple[ColumnProfile, Guess]


def show_inspection(found: Inspection, *, every: bool = False) -> None:
    """Roles and counts of the columns; of many those that somebody should look at first, unless `every` is wanted."""
    columns = list(zip(found.profiles, found.guesses, strict=True))
    many = len(columns) > SCREEN and not every
    console.print(f"{plural(found.rows, 'record')}, {plural(len(columns), 'column')}")
    if many:
        _show_roles(columns)
        console.print("\nLook at these first:")
    _show_columns(_first(columns) if many else columns)
    if found.quasi:
        console.print(f"{found.unique:.1%} of the records are unique on the suggested quasi-identifiers.")
    if found.missing_words:
        again = as_options(found.missing_words)
        console.print(Text(f"{proposal(found.missing_words)} If so, inspect again with {again}.", style="yellow"))
    if many:
        console.print("--all shows every column; --policy-out writes all of them into a policy.")


def show_linked_inspection(found: LinkedInspection, *, every: bool = False) -> None:
    for name, table in found.tables.items():
        console.print(f"{name}", style="bold")
        show_inspection(table, every=every)
    if found.links.root is not None:
        console.print(f"The people are in '{found.links.root}'.")
    for pointer in found.links.pointers:
        console.print(Text(f"{pointer.table}.{pointer.column} points to {pointer.to_table}.{pointer.to_column}."))
    for name in found.links.apart:
        console.print(Text(f"Nothing connects '{name}' with the people.", style="yellow"))
    for reason in dict.fromkeys(found.left_out.values()):
        named = ", ".join(name for name, why in found.left_out.items() if why == reason)
        console.print(Text(f"Left out, since {reason}: {named}.", style="yellow"))


def _show_roles(columns: Sequence[Column]) -> None:
    for role in ROLES:
        names = [column.name for column, guess in columns if guess.role is role]
        if names:
            begin = f"  {role.value:<10} {len(names):>5,}  "
            console.print(Text(begin + _listed(names, console.width - len(begin))))


def _listed(names: Sequence[str], width: int) -> str:
    """As many names as fit, and how many more there are.

    >>> _listed(["age", "sex", "zip"], 80), _listed(["age", "sex", "zip"], 12)
    ('age, sex, zip', 'age, 2 more')
    """
    shown: list[str] = []
    for place, name in enumerate(names):
        more = f", {len(names) - place - 1:,} more" if place + 1 < len(names) else ""
        if shown and len(", ".join([*shown, _short(name)]) + more) > width:
            return f"{', '.join(shown)}, {len(names) - place:,} more"
        shown.append(_short(name))
    return ", ".join(shown)


def _first(columns: Sequence[Column]) -> list[Column]:
    """Those with a warning, then in turn of each role the columns with the most values."""
    warned = [column for column in columns if "Warning" in column[1].reason or column[1].free_text]
    of_role = [sorted((c for c in columns if c[1].role is r and c not in warned), key=lambda c: -c[0].distinct)
               for r in ROLES]  # fmt: skip
    others = [column for turn in zip_longest(*of_role) for column in turn if column is not None]
    chosen = {column.name for column, _ in [*warned[: FIRST // 2], *others][:FIRST]}
    return [column for column in columns if column[0].name in chosen]


def _show_columns(columns: Sequence[Column]) -> None:
    reasons = list(dict.fromkeys(guess.reason for _, guess in columns))
    table = Table("column", "type", box=None, header_style="bold", pad_edge=False)
    for name in ("distinct", "missing"):
        table.add_column(name, justify="right")
    table.add_column("role")
    table.add_column("why", justify="right")
    for column, guess in columns:
        table.add_row(
            Text(_short(column.name)),
            guess.kind.value,
            f"{column.distinct:,}",
            f"{column.missing / column.rows:.1%}",
            guess.role.value,
            str(reasons.index(guess.reason) + 1),
        )
    console.print(table)
    for number, reason in enumerate(reasons, start=1):
        begin = f"{number:>3}  "
        console.print(Text(textwrap.fill(reason, console.width, initial_indent=begin, subsequent_indent=" " * 5)))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
