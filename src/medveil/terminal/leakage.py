"""How much columns give away."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from medveil.risk.leakage import Leakage, LeakageLoss
from medveil.terminal.console import console

BAR = 24
"""How long the bar of an attribute that leaks everything is."""


def show_leakage(found: Leakage) -> None:
    console.print(f"{found.everybody}; an attacker who knows nothing lacks {found.initial:.2f} bits.")
    console.print(_losses("column", found.singles))
    if found.sets:
        console.print(_losses("sets that leak most", found.sets))
        console.print(f"{found.examined:,} of {found.possible:,} sets were counted.")
    if found.share is None:
        return
    if found.smallest is None:
        console.print(f"No set of these columns makes more than {found.share:.1%} of the {found.counted} unique.")
    else:
        console.print(
            Text(
                f"The smallest set that makes more than {found.share:.1%} of the {found.counted} unique: "
                f"{', '.join(found.smallest.attributes)} ({found.smallest.unique:.1%})."
            )
        )


def _losses(title: str, losses: Sequence[LeakageLoss]) -> Table:
    table = Table(title, "values", "bits", "share", "", "unique", box=None, header_style="bold", pad_edge=False)
    for loss in losses:
        table.add_row(
            Text(", ".join(loss.attributes)),
            f"{loss.values:,}",
            f"{loss.loss:.3f}",
            f"{loss.normalized:.3f}",
            "█" * round(BAR * loss.normalized),
            f"{loss.unique:.1%}",
        )
    return table
