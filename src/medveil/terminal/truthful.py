"""The table of which every record is real."""

from __future__ import annotations

from pathlib import Path

from medveil.release.truthful import Truthful
from medveil.terminal.console import console


def show_truthful(found: Truthful, out: Path) -> None:
    console.print(f"{found.table.num_rows:,} records written to {out}", style="bold")
    console.print(f"{found.dropped:,} were dropped as counterfeit.")
    if found.lost:
        console.print(f"{found.lost:,} are left with sensitive values alone.")
    if found.merged:
        console.print(f"{found.merged:,} stand under the labels of all classes of their group.")
