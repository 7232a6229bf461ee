"""What the auditor found, of a release's claims and of a method's differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from medveil.auditor import AuditReport
from medveil.auditor import Finding as AuditFinding
from medveil.release.status import NOT_CHECKED, Status
from medveil.risk.dp_audit import PrivacyAudit
from medveil.terminal.claims import claims_table, figures_in_words, show_uncovered, visible
from medveil.terminal.console import console


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
            Text("CAUGHT", style="red") if trial.caught else "no",
            trial.event,
        )
    console.print(table)
    console.print(f"At {found.confidence:.4%} confidence, in {found.seconds:g} s.")
    if not found.guarantee:
        console.print("This method claims no differential privacy.", style="yellow")
    if found.caught:
        console.print("Refuted: it is not differentially private with the epsilon that was tried.", style="red")
    elif found.guarantee:
        console.print("Not refuted. That is not a proof; the proof is in docs/proofs.")
    else:
        console.print("Not refuted by so few runs. It has no proof either.")


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
        console.print(claims_table(claims))
    if not claims and not report.problems:
        console.print("This release claims nothing.", style="yellow")
    elif report.ok:
        console.print("Every claim holds.", style="green")
    elif report.refuted:
        console.print(_refutation(report), style="red")
    else:
        console.print("What could be checked holds; the rest needs what is named above.", style="yellow")
    show_uncovered(report.uncovered)
    for point in report.unchecked:
        console.print(Text(f"Not checked: {visible(point)}."))
    if report.told not in {None, Status.FOR_PUBLICATION}:
        console.print(Text(f"The manifest says that it is {report.told}.", style="yellow"))


def _refutation(report: AuditReport) -> str:
    if any(found.finding.holds is False for found in report.findings):
        return "This release does not keep what it claims."
    if all(found.proved for found in report.findings):
        return "This release is not what it should be, though its claims hold."
    return "No claim was refuted, but something does not fit: see above."


def _note(finding: AuditFinding) -> str:
    told = [finding.note] if finding.note else []
    if finding.in_records:
        told.append(f"in records: {figures_in_words(finding.in_records)}")
    return visible("; ".join(told))


def _in_full(claim: Mapping[str, Any]) -> str:
    """A claim by its terms, which were checked, not by the summary that the manifest gives it."""
    about = f" of {claim['attribute']}" if claim.get("attribute") else ""
    counted = f", {claim['counting'].replace('-', ' ')}" if claim.get("counting") else ""
    return f"{claim['model']}{about}{counted}" + (f" on {', '.join(claim['on'])}" if claim.get("on") else "")
