"""A paper's figures beside ours."""

from __future__ import annotations

from rich.table import Table

from medveil.app.reproduce import Reproduced
from medveil.terminal.console import console


def show_reproduction(found: Reproduced) -> None:
    console.print(f"{found.paper}", style="bold")
    for section in found.sections:
        table = Table("figure", "paper", "medveil", "verdict", "why", title=section.title, title_justify="left")
        for line in section.lines:
            table.add_row(line.what, line.paper, line.ours, line.verdict.value, line.why)
        console.print(table)
        if section.note:
            console.print(section.note)
