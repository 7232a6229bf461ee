"""Runs beside each other, and the tour through all methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from rich.text import Text

from medveil.app.compare import ComparedRun
from medveil.app.demo import Tour
from medveil.report.comparison_page import summary
from medveil.report.page import can_be_made
from medveil.terminal.console import console
from medveil.terminal.leakage import show_leakage
from medveil.terminal.release import show_release


def show_comparison(outcomes: Sequence[ComparedRun], out: Path) -> None:
    done = [asdict(outcome) for outcome in outcomes if outcome.reason is None]
    if done:
        made = summary(done)
        # Columns that say nothing, such as counterfeits where no method makes any, are left out.
        told = [
            place
            for place, header in enumerate(made.headers)
            if {row[place] for row in made.rows} - {"", "0 %"} and header not in {"NCP", "MB"}
        ]
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 0, 0, 1))
        for place in told:
            table.add_column(made.headers[place], no_wrap=place > 0, justify="right" if place else "left")
        for row in made.rows:
            table.add_row(*(Text(row[place]) for place in told))
        console.print(table)
    for outcome in outcomes:
        if outcome.reason is not None:
            console.print(Text(f"{outcome.name}: {outcome.reason}"))
    console.print(f"Written to {out}; keep it to yourself, it compares with the original.", style="bold")


def show_tour(tour: Tour, out: Path) -> None:
    console.print("What the columns leak before anything is done", style="bold")
    show_leakage(tour.leakage)
    console.print(f"\nA release by the method {tour.outcomes[0].name}", style="bold")
    show_release(tour.release)
    console.print("\nThe methods of the papers on the same patients, columns and models", style="bold")
    show_comparison(tour.outcomes, out)
    console.print("What each is for:")
    for method, purpose in tour.purposes.items():
        console.print(f"  {method}: {purpose}.")
    if can_be_made():
        pages = ("release/report.html", "release/internal/report.html", "comparison.html")
        console.print(f"Pages to look at: {', '.join(str(out / page) for page in pages)}")
