"""The whole order, from a policy to the files of a release: written, proved, measured."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from medveil.app.advice import advice_on
from medveil.app.alert import alert
from medveil.app.budget import open_ledger
from medveil.app.changing import counted_attributes, keep_key
from medveil.app.evaluating import PublishedTable, evaluate
from medveil.app.preparation import data_path, open_data, prepare
from medveil.app.profiling import refuse_by_profile
from medveil.app.singling_out import refuse_telling_columns, refuse_telling_release, sensitive_warnings
from medveil.auditor import ClaimFinding, audit
from medveil.errors import CancelledError, PolicyError, VerificationError
from medveil.evaluation.comparison import Comparison
from medveil.methods.problem import Problem
from medveil.policy import Policy
from medveil.release.changes import pseudonyms_for_recipients
from medveil.release.copies import COPIES, write_copy
from medveil.release.draft import Basis, Draft
from medveil.release.manifest import INTERNAL, LINKS, Manifest, draft_manifest, file_hash
from medveil.release.places import attribute_for_recipients, claim_for_recipients
from medveil.report.page import can_be_made
from medveil.report.reports import NOT_MEASURED, Reports, make_reports
from medveil.risk.leaking import leakage_of_comparison
from medveil.run import Run, Stage
from medveil.table.formulas import formula_cells
from medveil.table.schema import Role
from medveil.workspace import Workspace


@dataclass(frozen=True)
class Made:
    """A release that is written and proved. Its reports are numbers yet, to be drawn where files are wanted."""

    manifest: Manifest
    reports: Reports | None


def make(policy: Policy, workspace: Workspace, data: Any, target: Path, run: Run) -> Made:
    """The whole order: read, count, pay, search, write, prove, measure."""
    started = time.perf_counter()
    source = open_data(policy, workspace, data)
    ledger = open_ledger(policy, data_path(policy, workspace, data), workspace, run.ledgers)
    internal = target / INTERNAL
    internal.mkdir(mode=0o700)
    run = replace(
        run,
        random=np.random.default_rng(policy.seed) if policy.seed is not None else run.random,
        seeded=run.seeded or policy.seed is not None,
        limits=replace(run.limits, spill=internal / "spill"),
    )
    run.step(Stage.READ)
    with prepare(policy, source, workspace, run) as problem:
        reason = policy.method.why_refused(problem)
        if reason:
            raise PolicyError(f"The method '{policy.method.name}' does not fit: {reason}.", "Choose another method.")
        refuse_telling_columns(policy, problem)
        warnings = [*policy.method.warnings(problem), *sensitive_warnings(policy, problem)]
        for words in warnings:
            run.warn(words)
        ledger.charge(policy)
        run.step(Stage.SEARCH)
        draft = policy.method.anonymize(problem, run)
        draft = replace(draft, promises=[*draft.promises, *problem.further])
        run.step(Stage.WRITE)
        manifest = _write(policy, draft, problem, target)
        run.step(Stage.PROVE)
        manifest = _prove(target, problem, manifest, workspace, run)
        run.step(Stage.MEASURE)
        published = PublishedTable.release(target, manifest, draft.companions)
        comparison = published.beside(problem, policy.evaluation, run)
        if policy.leakage is not None:
            alert(policy.leakage, comparison)
        refuse_telling_release(policy, comparison)
        warnings += _formulas(comparison, run)
        measured = _measured(comparison, policy, workspace, run)
        content = {
            "policy": policy.model_dump(mode="json", exclude_unset=True),
            **measured,
            **advice_on(comparison, policy, measured["measures"], int(manifest.rows.get("suppressed", 0)), run),
            "run": {
                "seconds": round(time.perf_counter() - started, 3),
                "seed": policy.seed,
                "folder": str(workspace.folder.resolve()),
                "snapshot_sha256": problem.engine.snapshot.sha256,
                "warnings": warnings,
            },
            **draft.internal,
        }
        _write_internal(content, internal)
        run.step(Stage.DRAW)
        wanted = policy.output.report and can_be_made()
        return Made(manifest, make_reports(manifest, comparison, content) if wanted else None)


def _formulas(comparison: Comparison, run: Run) -> list[str]:
    """What the steward is told of cells that a spreadsheet would run."""
    number = formula_cells(comparison.published)
    if not number:
        return []
    words = (
        f"{number:,} cells of the release begin like formulas, which a spreadsheet runs when it opens the file. "
        "Clean them in the original, or tell recipients to import the columns as text; their page says so."
    )
    run.warn(words)
    return [words]


def _measured(comparison: Comparison, policy: Policy, workspace: Workspace, run: Run) -> dict[str, Any]:
    """What can be measured of a release against its original, for the steward's files: what is cheap, or all of it."""
    try:
        return _measure(comparison, policy, workspace, run)
    except CancelledError:
        raise
    except Exception as error:
        if not any(model.declared_domains for model in comparison.problem.models):
            raise
        # A refusal would tell recipients what the data hold.
        return {"measures": {}, "risks": {}, "leakage": None, NOT_MEASURED: type(error).__name__}


def _measure(comparison: Comparison, policy: Policy, workspace: Workspace, run: Run) -> dict[str, Any]:
    asked = policy.evaluation
    with ExitStack() as stack:
        if asked.population is not None:
            snapshot = comparison.problem.engine.snapshot.source
            read = {name: a for name, a in counted_attributes(policy).items() if name in snapshot.names}
            again = policy.model_copy(update={"attributes": read})
            problem = stack.enter_context(prepare(again, snapshot, workspace, run, population=asked.population))
            comparison = replace(comparison, problem=problem)
        found = evaluate(comparison, models=asked.models, attacks=asked.attacks, run=run)
        return {
            "measures": {name: asdict(score) for name, score in found.measures.items()},
            "risks": {name: asdict(finding) for name, finding in found.risks.items()},
            "leakage": leakage_of_comparison(comparison),
        }


def _write(policy: Policy, draft: Draft, problem: Problem, target: Path) -> Manifest:
    wanted = policy.output.format
    parts = draft.published.write(target, "csv" if wanted in COPIES else wanted)
    for name, table in draft.companions.items():
        pa.csv.write_csv(table, target / name)
    if draft.links is not None:
        draft.links(target / INTERNAL / LINKS)
    manifest = draft_manifest(
        draft,
        parts,
        subject=problem.schema.subject,
        seeded=policy.seed is not None,
        suppressed=policy.output.suppressed,
    )
    copies = [write_copy(draft.published.to_arrow(), target, wanted)] if wanted in COPIES else []
    files = {**manifest.files, **{name: file_hash(target / name) for name in (*draft.companions, *copies)}}
    pseudonyms = None
    if problem.changed is not None:
        keep_key(problem.changed.key, target)
        if problem.schema.names(Role.KEY):
            pseudonyms = pseudonyms_for_recipients(problem.changed.key)
    return replace(
        manifest,
        pseudonyms=pseudonyms,
        files=files,
        about=_about(policy),
        attributes=[_described(attribute, policy) for attribute in manifest.attributes],
    )


def _about(policy: Policy) -> dict[str, str]:
    """What the policy says of the release, and the day; a run that must be repeatable has no day."""
    told = {key: text for key, text in policy.release.model_dump().items() if text}
    day = {} if policy.seed is not None else {"date": datetime.now(UTC).date().isoformat()}
    return {**told, **day}


def _described(attribute: Mapping[str, Any], policy: Policy) -> Mapping[str, Any]:
    declared = policy.attributes.get(str(attribute["name"]))
    if declared is None or not declared.description:
        return attribute
    return {**attribute, "description": declared.description}


def _prove(target: Path, problem: Problem, manifest: Manifest, workspace: Workspace, run: Run) -> Manifest:
    """The manifest with what the auditor found instead of what the method promised; refused where one fails."""
    manifest.write(target)
    # What holds by proof is not looked up in the source: refusing a release for what the data hold would tell of them.
    counted = any(claim["basis"] != Basis.PROOF.value for claim in manifest.claims)
    report = audit(
        target,
        problem.original if counted else None,
        base=workspace,
        secret=None if problem.changed is None else problem.changed.key.secret,
        step=lambda share: run.step(Stage.PROVE, share),
        interrupting=run.interrupting,
    )
    refuse_by_profile(report)
    if not report.publishable:
        faults = [*report.problems, *(f"{f.claim['summary']}: {_fault(f)}" for f in report.findings if not f.proved)]
        raise VerificationError(
            f"The release was not published: what was written does not keep what it claims ({'; '.join(faults)}).",
            "This is a bug in medveil: please report it.",
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
        claims=[claim_for_recipients(claim) for claim in claims],
        attributes=[attribute_for_recipients(attribute, workspace) for attribute in manifest.attributes],
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
