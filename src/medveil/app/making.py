"""The whole order, from a policy to the files of a release: written, proved, measured."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from pydantic import ValidationError

from medveil.app.about import about, described
from medveil.app.advice import advice_on
from medveil.app.alert import alert
from medveil.app.budget import open_ledger
from medveil.app.changing import keep_key
from medveil.app.evaluating import PublishedTable
from medveil.app.made import ProvedRelease, measured, write_internal
from medveil.app.preparation import data_path, open_data, prepare
from medveil.app.proving import in_own_words, prove, refuse_weaker
from medveil.app.singling_out import hides_nobody, refuse_telling_columns, refuse_telling_release, sensitive_warnings
from medveil.cells import ALLOW_MORE
from medveil.errors import PolicyError
from medveil.evaluation.comparison import Comparison
from medveil.lattice.queries import CAN_BE_ASKED
from medveil.methods import methods
from medveil.methods.problem import Problem
from medveil.policy import Policy
from medveil.release.changes import pseudonyms_for_recipients
from medveil.release.copies import COPIES, write_copy
from medveil.release.draft import Draft
from medveil.release.manifest import INTERNAL, LINKS, Manifest, draft_manifest, file_hash
from medveil.release.status import Status
from medveil.report.page import can_be_made
from medveil.report.reports import make_reports
from medveil.run import Run, Stage
from medveil.table.formulas import formula_cells
from medveil.table.schema import Role
from medveil.workspace import Workspace


def make(policy: Policy, workspace: Workspace, data: Any, target: Path, run: Run) -> ProvedRelease:
    """The whole order: read, count, pay, search, write, prove, measure."""
    if policy.tables:
        if data is not None:
            raise PolicyError("The policy names several tables.", "Leave the data out: each table has its own.")
        from medveil.app.linked_making import make_linked  # noqa: PLC0415 - one table needs none of it

        return make_linked(policy, workspace, target, run)
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
            raise PolicyError(f"The method '{policy.method.name}' does not fit: {reason}.", _fitting(problem))
        refuse_telling_columns(policy, problem)
        warnings = [*policy.method.warnings(problem), *hides_nobody(problem), *sensitive_warnings(policy, problem)]
        for words in warnings:
            run.warn(words)
        ledger.charge(policy)
        run.step(Stage.SEARCH)
        draft = policy.method.anonymize(problem, run)
        refuse_weaker(draft, problem, policy.method)
        draft = in_own_words(draft, problem)
        draft = replace(draft, promises=[*draft.promises, *problem.further], status=_status(draft, problem))
        run.step(Stage.WRITE)
        manifest = _write(policy, draft, problem, target)
        run.step(Stage.PROVE)
        secret = None if problem.changed is None else problem.changed.key.secret
        manifest = prove(target, problem.original, manifest, workspace, run, secret)
        run.step(Stage.MEASURE)
        # Where records are elsewhere there may be more rows than this machine holds, and nobody asks for one of them.
        published = PublishedTable.release(target, manifest, draft.companions, counted=not problem.engine.has_rows)
        comparison = published.beside(problem, policy.evaluation, run)
        if policy.leakage is not None:
            alert(policy.leakage, comparison)
        refuse_telling_release(policy, comparison)
        warnings += _formulas(comparison, run)
        figures = measured(comparison, policy, workspace, run)
        content = {
            "policy": policy.model_dump(mode="json", exclude_unset=True),
            **figures,
            **advice_on(comparison, policy, figures["measures"], int(manifest.rows.get("suppressed", 0)), run),
            "run": {
                "seconds": round(time.perf_counter() - started, 3),
                "seed": policy.seed,
                "folder": str(workspace.folder.resolve()),
                "snapshot_sha256": problem.engine.snapshot.sha256,
                "rows": dict(manifest.rows),
                "warnings": warnings,
            },
            **draft.internal,
        }
        write_internal(content, internal)
        run.step(Stage.DRAW)
        wanted = policy.output.report and can_be_made()
        reports = make_reports(manifest, comparison, content) if wanted else None
        return ProvedRelease(manifest, reports, source.types)


def _fitting(problem: Problem) -> str:
    """Which methods take a problem, with the parameters that they have by themselves."""
    if not problem.schema.quasi:
        return "Give at least one column 'role: quasi': what others may know of a person."
    known: list[str] = []
    for name, method in methods().items():
        with suppress(ValidationError):  # one that needs parameters is not proposed
            known += [name] if method().why_refused(problem) is None else []
    if problem.cells.elsewhere is not None:
        other = f"choose a method that fits: {', '.join(known)}" if known else CAN_BE_ASKED
        return f"{ALLOW_MORE} Or {other}."
    if not known:
        return "Change that: no method fits."
    return f"Change that, or choose a method that fits: {', '.join(known)}."


def _status(draft: Draft, problem: Problem) -> Status:
    """What a release is fit for, whatever made it: pseudonyms and shifted dates follow people, and no model covers
    them.
    """
    follows = draft.status is Status.FOR_PUBLICATION and problem.schema.names(Role.KEY, Role.DATE)
    return Status.PSEUDONYMOUS if follows else draft.status


def _formulas(comparison: Comparison, run: Run) -> list[str]:
    """What the steward is told of cells that a spreadsheet would run."""
    number = formula_cells(comparison.published, comparison.times)
    if not number:
        return []
    words = (
        f"{number:,} cells of the release begin like formulas, which a spreadsheet runs when it opens the file. "
        "Clean them in the original, or tell recipients to import the columns as text; their page says so."
    )
    run.warn(words)
    return [words]


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
    if policy.profile is not None and policy.profile.secure_only and policy.seed is None:
        manifest = replace(manifest, status=Status.SECURE_ENVIRONMENT.value)
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
        about=about(policy),
        attributes=[described(attribute, policy.attributes) for attribute in manifest.attributes],
    )
