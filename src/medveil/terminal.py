"""What the command line prints: short, plain, and nothing that the release does not hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from medveil import terminal_inspection
from medveil.advising.advice import Advice
from medveil.app.advice import advice
from medveil.app.compare import ComparedRun
from medveil.app.demo import Tour
from medveil.app.hierarchy import Proposal
from medveil.app.inspect import Inspection, LinkedInspection
from medveil.app.measure import Measurement
from medveil.app.missing_values import MissingValues
from medveil.app.reached import Reached
from medveil.app.reproduce import Reproduced
from medveil.auditor import AuditReport
from medveil.auditor import Finding as AuditFinding
from medveil.evaluation.comparison import Score, Skipped
from medveil.hierarchy.draw import draw
from medveil.methods import figures_of
from medveil.release.figures import Remark
from medveil.release.ledger import Account
from medveil.release.manifest import INTERNAL, Manifest
from medveil.release.release import Release
from medveil.release.status import NOT_CHECKED, Status
from medveil.release.truthful import Truthful
from medveil.report.comparison_page import summary
from medveil.report.page import NOT_INSTALLED, can_be_made
from medveil.risk.dp_audit import PrivacyAudit
from medveil.risk.leakage import Leakage, LeakageLoss
from medveil.risk.risk import RiskFinding
from medveil.run import Event, Listener, Stage

BAR = 24
"""How long the bar of an attribute that leaks everything is."""

MOST_SUGGESTED = 5
"""How many suggestions the terminal shows."""

console = Console(highlight=False, soft_wrap=True)


@contextmanager
def progress() -> Iterator[Listener]:
    """A line on standard error that says what is going on; nothing where that is not a terminal."""
    errors = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("Starting", total=None)

        def tell(event: Event) -> None:
            if event.stage is Stage.WARN:
                errors.print(f"Warning: {event.detail}", style="yellow", markup=False, soft_wrap=True)
                return
            total = None if event.share is None else 1.0
            bar.update(task, description=event.words, total=total, completed=event.share or 0.0)

        yield tell


def show_release(release: Release) -> None:
    manifest = release.manifest
    rows = manifest.rows
    console.print(f"[bold]Release written to {release.folder}[/bold]")
    parts = [f"{rows['published']:,} {'people' if manifest.tables else 'records'} published"]
    if "suppressed" in rows:
        parts.append(f"{rows['suppressed']:,} of {rows['input']:,} suppressed")
    if rows.get("counterfeit"):
        parts.append(f"{rows['counterfeit']:,} of the published ones are counterfeit")
    console.print("; ".join(parts) + f"; method {manifest.method['name']}.")
    _show_status(manifest.status)
    if manifest.claims:
        console.print(_claims(manifest.claims))
    else:
        console.print("[yellow]It claims nothing.[/yellow]")
    for figure in figures_of(manifest.method, {"search": _internal(release, "search") or {}}):
        if isinstance(figure, Remark):
            console.print(figure.sentence)
    leaks = {entry["attribute"]: entry for entry in (_internal(release, "leakage") or {}).get("attributes", ())}
    levels = Table(
        "column", "role", "level", "leaked before", "leaks now", box=None, header_style="bold", pad_edge=False
    )
    for name, attribute in _columns_of(manifest):
        level, leak = attribute["level"], leaks.get(name, {})
        shares = [_share(leak.get(when)) for when in ("before", "after")]
        levels.add_row(Text(name), attribute["role"], _level(level, leak), *shares)
    console.print(levels)
    if any(_rises(leak) for leak in leaks.values()):
        console.print(
            "Leakage is what the labels of a column tell by themselves. It rises where a column is cut in other places "
            "from group to group: a label then also tells the group."
        )
    plain = [name for name, attribute in _columns_of(manifest) if attribute["role"] == "plain"]
    if plain:
        console.print(Text(f"Published as they are, and part of no claim: {', '.join(plain)}."))
    for name, table in manifest.tables.items():
        told = table["rows"]
        strays = f", {told['strays']:,} of which point to nobody" if told["strays"] else ""
        console.print(f"{table['file']}: {told['published']:,} of {told['input']:,} records of '{name}'{strays}.")
    _show_uncovered(manifest.uncovered)
    _show_advice(advice(release.folder))
    if not can_be_made():
        console.print(Text(NOT_INSTALLED))
    console.print(f"Keep {Path(release.folder) / 'internal'} to yourself; everything else is for recipients.")


def _show_advice(found: Advice | None) -> None:
    if found is None:
        return
    console.print("[bold yellow]What should I change?[/bold yellow]")
    for sentence in (*found.reasons, *found.remarks):
        console.print(Text(sentence))
    shown = found.suggestions[:MOST_SUGGESTED]
    if shown:
        console.print("[bold]What one change would give, each tried on these data:[/bold]")
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


def _show_uncovered(uncovered: Sequence[Mapping[str, Any]]) -> None:
    """What no claim covers, with the share of people whom it alone singles out."""
    if not uncovered:
        return
    table = Table("no claim covers", "singles out", box=None, header_style="bold", pad_edge=False)
    for left in uncovered:
        table.add_row(Text(visible(str(left["what"]))), f"{left['singled_out']:.1%}")
    console.print(table)


def _internal(release: Release, name: str) -> dict[str, Any] | None:
    """One of the steward's own files, None where it does not exist."""
    path = Path(release.folder) / INTERNAL / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _share(leak: Mapping[str, Any] | None) -> str:
    """What a column leaks; rounding leaves no sign."""
    return "" if leak is None else f"{max(leak['normalized'], 0.0):.3f}"


def _level(level: int | None, leak: Mapping[str, Any]) -> str:
    """The level at which a column is published, and whether nothing is left of it there."""
    before, after = leak.get("before"), leak.get("after")
    hidden = before is not None and after is not None and before["values"] > 1 and after["values"] == 1
    told = "" if level is None else str(level)
    return f"{told} (everything hidden)".strip() if hidden else told


def _rises(leak: Mapping[str, Any]) -> bool:
    before, after = leak.get("before"), leak.get("after")
    return before is not None and after is not None and after["normalized"] > before["normalized"] + 0.0005


def show_leakage(found: Leakage) -> None:
    console.print(f"{found.people:,} {found.counted}; an attacker who knows nothing lacks {found.initial:.2f} bits.")
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
            "" if charge.guarantee else "[red]no guarantee[/red]",
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
        console.print("[red]A release without a guarantee voids the total: what was spent bounds nothing.[/red]")
    if account.spent.mixed:
        console.print(
            "[red]Some releases protect subjects and others single records: what they spend does not add up.[/red]"
        )


def show_privacy_audit(found: PrivacyAudit) -> None:
    table = Table(
        "part", "tables", "claimed", "at least", "caught", "event", box=None, header_style="bold", pad_edge=False
    )
    for trial in found.trials:
        table.add_row(
            trial.part,
            trial.scenario,
            f"{trial.claimed:.4g}",
            f"{trial.lower_bound:.4g}",
            "[red]CAUGHT[/red]" if trial.caught else "no",
            trial.event,
        )
    console.print(table)
    console.print(f"At {found.confidence:.4%} confidence, in {found.seconds:g} s.")
    if not found.guarantee:
        console.print("[yellow]This method claims no differential privacy.[/yellow]")
    if found.caught:
        console.print("[red]Refuted: it is not differentially private with the epsilon that was tried.[/red]")
    elif found.guarantee:
        console.print("Not refuted. That is not a proof; the proof is in docs/proofs.")
    else:
        console.print("Not refuted by so few runs. It has no proof either.")


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
        console.print(Text(f"Skipped, {reason.rstrip('.')}: {', '.join(names)}."))
    for note in found.notes:
        console.print(Text(note))


def _reached(reached: Sequence[Reached]) -> Table:
    table = Table("what it reaches", "of", "figure", box=None, header_style="bold", pad_edge=False)
    for one in reached:
        table.add_row(one.model, Text(one.attribute or ""), _figures(one.figures))
    return table


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4f} to {high:.4f}"


def show_inspection(found: Inspection, *, every: bool = False) -> None:
    terminal_inspection.show_inspection(console, found, every=every)


def show_linked_inspection(found: LinkedInspection, *, every: bool = False) -> None:
    for name, table in found.tables.items():
        console.print(f"[bold]{name}[/bold]")
        show_inspection(table, every=every)
    if found.links.root is not None:
        console.print(f"The people are in '{found.links.root}'.")
    for pointer in found.links.pointers:
        console.print(Text(f"{pointer.table}.{pointer.column} points to {pointer.to_table}.{pointer.to_column}."))
    for name in found.links.apart:
        console.print(Text(f"Nothing connects '{name}' with the people.", style="yellow"))


def show_truthful(found: Truthful, out: Path) -> None:
    console.print(f"[bold]{found.table.num_rows:,} records written to {out}[/bold]")
    console.print(f"{found.dropped:,} were dropped as counterfeit.")
    if found.lost:
        console.print(f"{found.lost:,} are left with sensitive values alone.")
    if found.merged:
        console.print(f"{found.merged:,} stand under the labels of all classes of their group.")


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


def _show_status(status: str) -> None:
    if status != Status.FOR_PUBLICATION.value:
        console.print(Text(f"This release is {status}.", style="yellow"))


def show_audit(report: AuditReport) -> None:
    """What was computed: of the manifest's own words only names that say which claim or file is meant."""
    if report.not_ours:
        models = ", ".join(f"'{visible(found.claim['model'])}'" for found in report.not_ours)
        console.print(Text(f"{NOT_CHECKED.capitalize()}: it has no check of its own for {models}.", style="yellow"))
    for problem in report.problems:
        console.print(Text(visible(problem), style="red"))
    claims = [
        {
            "summary": visible(_in_full(f.claim)),
            "required": f.claim["required"],
            "achieved": f.finding.achieved,
            "holds": True if f.proved else f.finding.holds,
            "note": _note(f.finding),
            "basis": f.basis.value,
        }
        for f in report.findings
    ]
    if claims:
        console.print(_claims(claims))
    if not claims and not report.problems:
        console.print("[yellow]This release claims nothing.[/yellow]")
    elif report.ok:
        console.print("[green]Every claim holds.[/green]")
    elif report.refuted:
        faulty = not all(found.proved for found in report.findings)
        said = "does not keep what it claims" if faulty else "is not what it should be, though its claims hold"
        console.print(f"[red]This release {said}.[/red]")
    else:
        console.print("[yellow]What could be checked holds; the rest needs what is named above.[/yellow]")
    _show_uncovered(report.uncovered)
    for point in report.unchecked:
        console.print(Text(f"Not checked: {visible(point)}."))
    if report.told not in {None, Status.FOR_PUBLICATION}:
        console.print(Text(f"The manifest says that it is {report.told}.", style="yellow"))


def visible(text: str) -> str:
    r"""A text that others chose, on one line and without what moves a cursor or colours a screen.

    >>> visible("age\nEvery claim holds.")
    'age\\nEvery claim holds.'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _note(finding: AuditFinding) -> str:
    told = [finding.note] if finding.note else []
    if finding.in_records:
        told.append(f"in records: {_figures(finding.in_records)}")
    return visible("; ".join(told))


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
    console.print(f"[bold]Written to {out}[/bold]; keep it to yourself, it compares with the original.")


def show_tour(tour: Tour, out: Path) -> None:
    console.print("[bold]What the columns leak before anything is done[/bold]")
    show_leakage(tour.leakage)
    console.print(f"\n[bold]A release by the method {tour.outcomes[0].name}[/bold]")
    show_release(tour.release)
    console.print("\n[bold]The methods of the papers on the same patients, columns and models[/bold]")
    show_comparison(tour.outcomes, out)
    console.print("What each is for:")
    for method, purpose in tour.purposes.items():
        console.print(f"  {method}: {purpose}.")
    if can_be_made():
        pages = ("release/report.html", "release/internal/report.html", "comparison.html")
        console.print(f"Pages to look at: {', '.join(str(out / page) for page in pages)}")


def show_reproduction(found: Reproduced) -> None:
    console.print(f"[bold]{found.paper}[/bold]")
    for section in found.sections:
        table = Table("figure", "paper", "medveil", "verdict", "why", title=section.title, title_justify="left")
        for line in section.lines:
            table.add_row(line.what, line.paper, line.ours, line.verdict.value, line.why)
        console.print(table)
        if section.note:
            console.print(section.note)


def _in_full(claim: Mapping[str, Any]) -> str:
    """A claim by its terms, which were checked, not by the summary that the manifest gives it."""
    about = f" of {claim['attribute']}" if claim.get("attribute") else ""
    counted = f", {claim['counting'].replace('-', ' ')}" if claim.get("counting") else ""
    return f"{claim['model']}{about}{counted}" + (f" on {', '.join(claim['on'])}" if claim.get("on") else "")


def _claims(claims: Any) -> Table:
    table = Table(
        "claim", "required", "reached", "holds", "on what it rests", box=None, header_style="bold", pad_edge=False
    )
    for claim in claims:
        holds = {
            True: "[green]yes[/green]",
            False: "[red]NO[/red]",
            None: NOT_CHECKED if claim["basis"] == NOT_CHECKED else "not checked",
        }[claim["holds"]]
        table.add_row(
            Text(claim["summary"]),
            Text(_figures(claim["required"])),
            Text(_figures(claim["achieved"])),
            holds,
            Text(claim.get("note") or claim["basis"]),
        )
    return table


def _figures(figures: Mapping[str, Any] | None) -> str:
    if not figures:
        return ""
    return visible(
        ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
        )
    )
