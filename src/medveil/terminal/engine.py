"""Whether an engine gives what DuckDB gives."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from medveil.app.check_engine import EngineReport
from medveil.terminal.console import console


def show_engine_report(report: EngineReport) -> None:
    table = Table("check", "", "seconds", box=None, header_style="bold", pad_edge=False)
    for check in report.checks:
        verdict = Text("as DuckDB", style="green") if check.ok else Text(check.note, style="red")
        table.add_row(check.name, verdict, f"{check.seconds:.1f}")
    console.print(table)
    fit = "Releases made there are those of DuckDB." if report.ok else "Do not make releases there."
    console.print(f"{sum(check.ok for check in report.checks)} of {len(report.checks)} hold. {fit}")
