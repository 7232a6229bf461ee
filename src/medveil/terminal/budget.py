"""What the releases of a data set have spent."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from medveil.release.ledger import Account
from medveil.terminal.console import console


def show_account(account: Account) -> None:
    columns = ("release", "when", "method", "epsilon", "delta", "protects", "")
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for entry in account.entries:
        charge = entry.charge
        table.add_row(
            str(entry.number),
            entry.time,
            charge.method,
            "" if charge.epsilon is None else f"{charge.epsilon:g}",
            f"{charge.delta:g}",
            Text(charge.unit if charge.guarantee else ""),
            Text("" if charge.guarantee else "no guarantee", style="red"),
        )
    if account.entries:
        console.print(table)
    else:
        console.print("Nothing has been charged.")
    total = account.budget
    of = "" if total is None else f" of epsilon {total.epsilon:g} ({total.composition} composition)"
    console.print(f"Spent: epsilon {account.spent.epsilon:g}, delta {account.spent.delta:g}{of}.")
    if account.left is not None:
        console.print(f"Left: epsilon {account.left:g}.")
    if account.spent.void:
        console.print("A release without a guarantee voids the total: what was spent bounds nothing.", style="red")
    if account.spent.mixed:
        console.print(
            "Some releases protect subjects and others single records: what they spend does not add up.", style="red"
        )
