"""The whole order, from a policy to the files of a release: written, proved, measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from medveil.app.budget import charge
from medveil.app.preparation import opened
from medveil.auditor import ClaimFinding, audit
from medveil.engine import Limits
from medveil.errors import CancelledError, PolicyError, VerificationError
from medveil.methods.problem import Problem
from medveil.policy import Policy
from medveil.release.draft import Basis, Draft
from medveil.release.ledger import Ledger
from medveil.release.manifest import INTERNAL, LINKS, Manifest, draft_manifest, file_hash
from medveil.release.places import told_attribute, told_claim
from medveil.release.reading import read_release
from medveil.report.page import can_be_made
from medveil.report.reports import NOT_MEASURED, Reports, make_reports
from medveil.risk import risks
from medveil.risk.leaking import leakage_of_comparison
from medveil.risk.risk import assess_risks
from medveil.run import Run
from medveil.table.source import Source
from medveil.utility import measures
from medveil.utility.compute import compute_measures
from medveil.utility.measure import Comparison

Progress = Callable[[str, float | None], None]


def run_of(policy: Policy, progress: Progress | None, cancelled: Callable[[], bool] | None) -> Run:
    run = Run(random=np.random.default_rng(policy.seed), seeded=policy.seed is not None)
    if progress is not None:
        run = replace(run, progress=progress)
    if cancelled is not None:
        run = replace(run, cancelled=cancelled)
    return run


def make(
    policy: Policy, folder: Path, data: Any, target: Path, run: Run, limits: Limits | None, ledger: Ledger | None
) -> tuple[Manifest, Reports | None]:
    """Write a release and prove it; its reports are numbers yet, to be drawn where files are wanted."""
    started = time.perf_counter()
    internal = target / INTERNAL
    internal.mkdir(mode=0o700)
    limits = replace(limits or Limits(), spill=internal / "spill")
    with opened(policy, folder, data, limits, run) as (problem, _):
        reason = policy.method.why_refused(problem)
        if reason:
            raise PolicyError(f"The method '{policy.method.name}' does not fit: {reason}.", "Choose another method.")
        charge(policy, problem, ledger)
        run.step("Searching")
        draft = policy.method.anonymize(problem, run)
        run.step("Writing")
        manifest = _write(policy, draft, problem, target)
        run.step("Proving the claims again")
        manifest = _prove(target, problem.engine.snapshot.source, manifest, folder)
        run.step("Measuring")
        comparison = Comparison(
            problem,
            read_release(target, manifest),
            draft.method,
            draft.companions,
            forms={attribute.name: attribute.form for attribute in draft.attributes if attribute.form},
            links=internal / LINKS if draft.links is not None else None,
            settings=policy.evaluation,
            folder=target,
        )
        measured = _measured(comparison, policy, folder, run)
        content = {
            "policy": policy.model_dump(mode="json", exclude_unset=True),
            **measured,
            "run": {
                "seconds": round(time.perf_counter() - started, 3),
                "seed": policy.seed,
                "folder": str(folder.resolve()),
                "snapshot_sha256": problem.engine.snapshot.sha256,
            },
            **draft.internal,
        }
        _write_internal(content, target / INTERNAL)
        wanted = policy.output.report and can_be_made()
        return manifest, make_reports(manifest, comparison, content) if wanted else None


def _measured(comparison: Comparison, policy: Policy, folder: Path, run: Run) -> dict[str, Any]:
    """What can be measured of a release against its original, for the steward's files: what is cheap, or all of it."""
    if not any(model.declared_domains for model in comparison.problem.models):
        return _measure(comparison, policy, folder, run)
    try:
        return _measure(comparison, policy, folder, run)
    except CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - a refusal would tell recipients what the data hold
        return {"measures": {}, "risks": {}, "leakage": None, NOT_MEASURED: type(error).__name__}


def _measure(comparison: Comparison, policy: Policy, folder: Path, run: Run) -> dict[str, Any]:
    with ExitStack() as stack:
        population = policy.evaluation.population
        if population is not None:
            snapshot = comparison.problem.engine.snapshot.source
            read = {name: a for name, a in policy.attributes.items() if name in snapshot.names}
            again = policy.model_copy(update={"attributes": read})
            problem, _ = stack.enter_context(opened(again, folder, snapshot, run=run, population=population))
            comparison = replace(comparison, problem=problem)
        scores = compute_measures(comparison, measures(), cheap_only=not policy.evaluation.models)
        findings = assess_risks(comparison, risks(), cheap_only=not policy.evaluation.attacks)
        return {
            "measures": {name: asdict(score) for name, score in scores.items()},
            "risks": {name: asdict(finding) for name, finding in findings.items()},
            "leakage": leakage_of_comparison(comparison),
        }


def _write(policy: Policy, draft: Draft, problem: Problem, target: Path) -> Manifest:
    release = f"release.{policy.output.format}"
    draft.published.write(target / release, policy.output.format)
    for name, table in draft.companions.items():
        pa.csv.write_csv(table, target / name)
    if draft.links is not None:
        draft.links(target / INTERNAL / LINKS)
    manifest = draft_manifest(
        draft,
        release,
        subject=problem.schema.subject,
        seeded=policy.seed is not None,
        suppressed=policy.output.suppressed,
    )
    files = {name: file_hash(target / name) for name in (release, *draft.companions)}
    return replace(manifest, rows={"published": draft.published.rows, **manifest.rows}, files=files)


def _prove(target: Path, source: Source, manifest: Manifest, folder: Path) -> Manifest:
    """The manifest with what the auditor found in the place of what the method promised; refused where one fails."""
    manifest.write(target)
    # What holds by proof is not looked up in the source: refusing a release for what the data hold would tell of them.
    counted = any(claim["basis"] != Basis.PROOF.value for claim in manifest.claims)
    report = audit(target, source if counted else None, base=folder)
    if not report.publishable:
        faults = [*report.problems, *(f"{f.claim['summary']}: {_fault(f)}" for f in report.findings if not f.proved)]
        raise VerificationError(
            f"The release was not published: what was written does not keep what it claims ({'; '.join(faults)}).",
            "This is a fault of medveil: please report it.",
        )
    claims = [
        {
            **f.claim,
            "achieved": f.finding.achieved,
            "holds": True if f.proved else None,
            "basis": f.claim["basis"] if f.proved else f.basis.value,
        }
        for f in report.findings
    ]
    assert report.status is not None
    proved = replace(
        manifest,
        status=report.status,
        claims=[told_claim(claim) for claim in claims],
        attributes=[told_attribute(attribute, folder) for attribute in manifest.attributes],
    )
    proved.write(target)
    return proved


def _fault(found: ClaimFinding) -> str:
    return found.finding.note or f"required {dict(found.claim['required'])}, reached {found.finding.achieved}"


def _write_internal(content: Mapping[str, Any], internal: Path) -> None:
    for name, value in content.items():
        if isinstance(value, pa.Table):
            pa.parquet.write_table(value, internal / f"{name}.parquet")
        elif name.endswith(".svg"):
            (internal / name).write_text(value, encoding="utf-8")
        else:
            text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
            (internal / f"{name}.json").write_text(text + "\n", encoding="utf-8")
