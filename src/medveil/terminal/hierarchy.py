"""Hierarchies: a proposal, and values that one lacks."""

from __future__ import annotations

import json

from rich.table import Table
from rich.text import Text

from medveil.app.hierarchy import Proposal
from medveil.app.missing_values import MissingValues
from medveil.hierarchy.draw import draw
from medveil.terminal.claims import visible
from medveil.terminal.console import console


def show_proposal(found: Proposal) -> None:
    console.print(Text(f"hierarchy: {json.dumps(found.to_dict())}\n\n{draw(found.bound)}"))


def show_missing_values(found: MissingValues) -> None:
    if not found.values:
        console.print(Text(f"The hierarchy covers all {found.distinct:,} values of '{found.column}'."))
        return
    table = Table("value", "records", box=None, header_style="bold", pad_edge=False)
    for value, records in found.values.items():
        table.add_row(Text(visible(value)), f"{records:,}")
    console.print(table)
    told = f"{len(found.values):,} of {found.distinct:,} values of '{found.column}' are not in its hierarchy."
    console.print(Text(f"{told} They are values of your data: keep this list to yourself."))
