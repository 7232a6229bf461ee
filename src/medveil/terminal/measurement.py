"""What a table is good for, and what it gives away."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from medveil.app.measure import Measurement
from medveil.app.reached import ReachedFigures
from medveil.evaluation.comparison import Score, Skipped
from medveil.risk.risk import RiskFinding
from medveil.terminal.claims import figures_in_words
from medveil.terminal.console import console

SHOWN = 20
"""Figures that are named of those that were left out for one reason; --json has all."""


def show_measurement(found: Measurement) -> None:
    parts = [f"{found.rows['published']:,} records published"]
    if "original" in found.rows:
        parts.append(f"{found.rows['original']:,} in the original")
    console.print(f"{'; '.join(parts)}; the roles of columns are from {found.roles_from}.")
    if found.reached:
        console.print(_reached(found.reached))
    scores = Table("what it is good for", "figure", "interval", box=None, header_style="bold", pad_edge=False)
    for name, score in found.measures.items():
        if isinstance(score, Score):
            scores.add_row(name, f"{score.value:.4f}", _interval(score.low, score.high))
    console.print(scores)
    risks = Table(
        "what it gives away", "figure", "interval", "a guesser", box=None, header_style="bold", pad_edge=False
    )
    for name, finding in found.risks.items():
        if isinstance(finding, RiskFinding):
            guesser = "" if finding.guesser is None else f"{finding.guesser:.4f}"
            risks.add_row(name, f"{finding.value:.4f}", _interval(finding.low, finding.high), guesser)
    console.print(risks)
    reasons: dict[str, list[str]] = {}
    for name, result in {**found.measures, **found.risks}.items():
        if isinstance(result, Skipped):
            reasons.setdefault(result.reason, []).append(name)
        elif isinstance(result, Score):
            for part, reason in result.skipped.items():
                reasons.setdefault(reason, []).append(f"{name} ({part})")
    for reason, names in reasons.items():
        console.print(Text(f"Skipped, {reason.rstrip('.')}: {_listed(names)}."))
    for note in found.notes:
        console.print(Text(note))


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are: of many columns hundreds of pairs can be left out.

    >>> _listed(["lm", "rce"]), _listed([str(number) for number in range(200)])[-15:]
    ('lm, rce', '19 and 180 more')
    """
    more = len(names) - SHOWN
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:SHOWN])} and {more:,} more"


def _reached(reached: Sequence[ReachedFigures]) -> Table:
    table = Table("what it reaches", "of", "figure", box=None, header_style="bold", pad_edge=False)
    for one in reached:
        table.add_row(one.model, Text(one.attribute or ""), figures_in_words(one.figures))
    return table


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
