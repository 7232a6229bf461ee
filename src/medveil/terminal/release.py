"""A release that was made: what is published, what holds, what it still leaks, and what to change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from medveil.advising.advice import Advice
from medveil.app.advice import advice
from medveil.methods import figures_of
from medveil.release.figures import Remark
from medveil.release.manifest import INTERNAL, Manifest
from medveil.release.release import Release
from medveil.report.page import NOT_INSTALLED, can_be_made
from medveil.terminal.claims import claims_table, show_status, show_uncovered
from medveil.terminal.console import console

MOST_SUGGESTED = 5
"""How many suggestions the terminal shows."""


def show_release(release: Release) -> None:
    manifest = release.manifest
    rows = manifest.rows
    console.print(f"Release written to {release.folder}", style="bold")
    parts = [f"{rows['published']:,} {'people' if manifest.tables else 'records'} published"]
    if "suppressed" in rows:
        parts.append(f"{rows['suppressed']:,} of {rows['input']:,} suppressed")
    if rows.get("counterfeit"):
        parts.append(f"{rows['counterfeit']:,} of the published ones are counterfeit")
    console.print("; ".join(parts) + f"; method {manifest.method['name']}.")
    show_status(manifest.status)
    if manifest.claims:
        console.print(claims_table(manifest.claims))
    else:
        console.print("It claims nothing.", style="yellow")
    for figure in figures_of(manifest.method, {"search": _internal(release, "search") or {}}):
        if isinstance(figure, Remark):
            console.print(figure.sentence)
    leaks = {entry["attribute"]: entry for entry in (_internal(release, "leakage") or {}).get("attributes", ())}
    losses = ((_internal(release, "measures") or {}).get("lm") or {}).get("parts") or {}
    levels = Table(
        "column", "role", "level", "leaked before", "leaks now", box=None, header_style="bold", pad_edge=False
    )
    for name, attribute in _columns_of(manifest):
        level, leak = attribute["level"], leaks.get(name, {})
        shares = [_share(leak.get(when)) for when in ("before", "after")]
        levels.add_row(Text(name), attribute["role"], _level(level, leak, losses.get(name)), *shares)
    console.print(levels)
    if any(_rises(leak) for leak in leaks.values()):
        console.print(f"Leakage is what the labels of a column tell by themselves. {_why_it_rises(manifest)}")
    plain = [name for name, attribute in _columns_of(manifest) if attribute["role"] == "plain"]
    if plain:
        console.print(Text(f"Published as they are, and part of no claim: {', '.join(plain)}."))
    for name, table in manifest.tables.items():
        told = table["rows"]
        strays = f"; {told['strays']:,} that point to people who are not in the data are not published"
        files = " and ".join([table["file"], *([table["fhir"]["file"]] if "fhir" in table else [])])
        console.print(f"{files}: {told['published']:,} records of '{name}'{strays if told['strays'] else ''}.")
    show_uncovered(manifest.uncovered)
    _show_advice(advice(release.folder))
    if not can_be_made():
        console.print(Text(NOT_INSTALLED))
    console.print(f"Keep {Path(release.folder) / 'internal'} to yourself; everything else is for recipients.")


def _show_advice(found: Advice | None) -> None:
    if found is None:
        return
    console.print("What should I change?", style="bold yellow")
    for sentence in (*found.reasons, *found.remarks):
        console.print(Text(sentence))
    shown = found.suggestions[:MOST_SUGGESTED]
    if shown:
        console.print("What one change would give, each tried on these data:", style="bold")
    for number, suggestion in enumerate(shown, 1):
        console.print(Text(f"{number}. {suggestion.words}: {suggestion.gives(found.now)}."))
        console.print(Text(f"   In the policy: {suggestion.in_policy}"))
    if len(found.suggestions) > len(shown):
        console.print(f"{len(found.suggestions) - len(shown)} more are on the steward's page.")


def _columns_of(manifest: Manifest) -> list[tuple[str, Mapping[str, Any]]]:
    """The published columns; those of linked tables by table and name."""
    if not manifest.tables:
        return [(attribute["name"], attribute) for attribute in manifest.attributes]
    return [(f"{name}.{a['name']}", a) for name, table in manifest.tables.items() for a in table["attributes"]]


def _internal(release: Release, name: str) -> dict[str, Any] | None:
    """One of the steward's own files, None where it does not exist."""
    path = Path(release.folder) / INTERNAL / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _share(leak: Mapping[str, Any] | None) -> str:
    """What a column leaks; rounding leaves no sign."""
    return "" if leak is None else f"{max(0.0, leak['normalized']):.3f}"


def _level(level: int | None, leak: Mapping[str, Any], loss: float | None) -> str:
    """The level at which a column is published, and whether nothing is left of it there. A group that all records are
    in still tells something where it is less than the whole domain.
    """
    before, after = leak.get("before"), leak.get("after")
    told = "" if level is None else str(level)
    if before is None or after is None or before["values"] == 1 or after["values"] > 1:
        return told
    return f"{told} ({'everything hidden' if (loss or 0) > 1 - 1e-9 else 'the same for all'})".strip()


def _why_it_rises(manifest: Manifest) -> str:
    if any(claim["model"] == "differential-privacy" for claim in manifest.claims):
        return "Chance decided which rows there are, so that it may also rise a little."
    return (
        "It rises where a column is cut in different places from group to group, so that a label also tells the group, "
        "and a little where records were left out."
    )


def _rises(leak: Mapping[str, Any]) -> bool:
    before, after = leak.get("before"), leak.get("after")
    return before is not None and after is not None and after["normalized"] > before["normalized"] + 0.0005
