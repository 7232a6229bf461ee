"""What several pages of the terminal show of a release: claims, status, what no claim covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from medveil.release.status import NOT_CHECKED, Status
from medveil.terminal.console import console


def show_uncovered(uncovered: Sequence[Mapping[str, Any]]) -> None:
    """What no claim covers, with the share of people whom it alone singles out."""
    if not uncovered:
        return
    table = Table("no claim covers", "singles out", box=None, header_style="bold", pad_edge=False)
    for left in uncovered:
        table.add_row(Text(visible(str(left["what"]))), f"{left['singled_out']:.1%}")
    console.print(table)


def show_status(status: str) -> None:
    if status != Status.FOR_PUBLICATION.value:
        console.print(Text(f"This release is {status}.", style="yellow"))


def visible(text: str) -> str:
    r"""A text that others chose, on one line and without what moves a cursor or colours a screen.

    >>> visible("age\nEvery claim holds.")
    'age\\nEvery claim holds.'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def claims_table(claims: Any) -> Table:
    table = Table("claim", "required", "reached", "holds", box=None, header_style="bold", pad_edge=False)
    table.add_column("rests on", overflow="fold")  # The names of files in it must be whole.
    for claim in claims:
        holds = {
            True: Text("yes", style="green"),
            False: Text("NO", style="red"),
            None: Text(NOT_CHECKED if claim["basis"] == NOT_CHECKED else "not checked"),
        }[claim["holds"]]
        table.add_row(
            Text(claim["summary"]),
            Text(figures_in_words(claim["required"])),
            Text(figures_in_words(claim["achieved"])),
            holds,
            Text(claim.get("note") or claim["basis"]),
        )
    return table


def figures_in_words(figures: Mapping[str, Any] | None) -> str:
    if not figures:
        return ""
    return visible(
        ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
        )
    )
