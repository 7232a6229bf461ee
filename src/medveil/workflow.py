"""The whole order, from a policy to a release directory. Everything that runs medveil calls this."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from medveil.auditor import AuditReport, ClaimFinding, audit
from medveil.engine import Limits
from medveil.errors import CancelledError, OutputError, PolicyError, VerificationError
from medveil.methods.method import Run
from medveil.methods.problem import Problem
from medveil.policy import DataPolicy, Policy, load_policy
from medveil.preparation import prepare, specification
from medveil.privacy.differential_privacy import DifferentialPrivacy
from medveil.release.directory import staged
from medveil.release.draft import Basis, Draft
from medveil.release.ledger import RECORD, Account, Budget, Charge, Ledger
from medveil.release.manifest import INTERNAL, LINKS, Manifest, draft_manifest, file_hash
from medveil.release.places import places_of, told_attribute, told_claim
from medveil.release.reading import read_release
from medveil.release.release import Release
from medveil.report.page import can_be_made
from medveil.report.reports import NOT_MEASURED, Reports, make_reports
from medveil.risk import risks
from medveil.risk.dp_audit import PrivacyAudit, run_audit
from medveil.risk.dp_audit_trials import trials_of
from medveil.risk.leaking import leakage_of_comparison
from medveil.risk.risk import assess_risks
from medveil.table.schema import Role
from medveil.table.source import Source, open_source
from medveil.utility import measures
from medveil.utility.compute import compute_measures
from medveil.utility.measure import Comparison

Progress = Callable[[str, float | None], None]


def anonymize(
    data: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    *,
    out: str | Path | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Release:
    """Make a release and prove its claims from what was written.

    `data` is a frame or a path; with a policy alone (`anonymize("policy.yaml")`) the policy names its data.
    With `out` the release directory is written there; otherwise it is kept until `.save()`.
    """
    if policy is None:
        data, policy = None, data
    checked, folder = load_policy(policy)
    ledger = ledger_of(policy, checked, data)
    run = _run(checked, progress, cancelled)
    if out is not None:
        with staged(Path(out)) as target:
            manifest, reports = _make(checked, folder, data, target, run, limits, ledger)
            if reports is not None:
                run.step("Drawing the reports")
                manifest = reports.write(target, manifest)
        return Release(Path(out), manifest)
    target = Path(tempfile.mkdtemp(prefix="medveil-"))
    try:
        manifest, reports = _make(checked, folder, data, target, run, limits, ledger)
        # Drawing takes longer than a small run: it waits until somebody wants files.
        release = Release(target, manifest, None if reports is None else reports.write)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    weakref.finalize(release, shutil.rmtree, target, ignore_errors=True)
    return release


def _run(policy: Policy, progress: Progress | None, cancelled: Callable[[], bool] | None) -> Run:
    run = Run(random=np.random.default_rng(policy.seed), seeded=policy.seed is not None)
    if progress is not None:
        run = replace(run, progress=progress)
    if cancelled is not None:
        run = replace(run, cancelled=cancelled)
    return run


def open_data(policy: Policy, folder: Path, data: Any = None) -> Source:
    """The source that a policy names, or the given one in its place."""
    described = DataPolicy(path=policy.data) if isinstance(policy.data, str) else policy.data
    if data is None and described is None:
        raise PolicyError("The policy names no data.", "Add 'data: FILE', or give a frame.")
    options = described.model_dump(exclude={"path"}) if described else {}
    given = data if data is not None else folder / described.path if described else None
    return open_source(given, **options)


def audit_release(directory: Path, source: Any = None, **options: Any) -> AuditReport:
    """Prove the claims of a release again; `source` is the original, for claims that need it.

    Where the steward's internal files are at hand, they say how the source is to be read; `options` say so elsewhere.
    """
    if source is None:
        return audit(directory)
    policy, base = _own_policy(directory / INTERNAL)
    data = policy.get("data")
    if isinstance(data, Mapping) and not any(options.values()):
        options = {key: value for key, value in data.items() if key != "path"}
    return audit(directory, open_source(source, **options), base=base, places=places_of(policy))


def _own_policy(internal: Path) -> tuple[Mapping[str, Any], Path | None]:
    """The policy that a release was made by and the folder of its paths, where the steward's files are at hand."""
    try:
        policy = json.loads((internal / "policy.json").read_text(encoding="utf-8"))
        return policy, Path(json.loads((internal / "run.json").read_text(encoding="utf-8"))["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}, None


TREE = "search-tree"


def check_trace(policy: Policy | Mapping[str, Any] | str | Path, trace: Path) -> None:
    """Refuse a search tree that the policy's method does not draw, or that would be written over a file."""
    method = load_policy(policy)[0].method
    if not getattr(method, "draws_tree", False):
        raise PolicyError(f"The method '{method.name}' draws no search tree.", "Take iab, exhaustive or greedy.")
    if trace.exists():
        raise OutputError(f"'{trace}' is there already.", "Name a new file, or remove that one first.")
    if not trace.resolve().parent.is_dir():
        raise OutputError(f"There is no folder for '{trace}'.", "Make it first, or name another file.")


def write_trace(release: Release, trace: Path) -> None:
    """The search tree of a release once more, in a file of its own. It tells of the original: the steward's only."""
    try:
        shutil.copyfile(Path(release.folder) / INTERNAL / f"{TREE}.json", trace)
    except OSError:
        raise OutputError(f"'{trace}' cannot be written.", "The release itself is complete.") from None


@contextmanager
def opened(
    policy: Policy,
    folder: Path,
    data: Any = None,
    limits: Limits | None = None,
    run: Run | None = None,
    *,
    population: str | None = None,
) -> Iterator[tuple[Problem, Source]]:
    """The problem that a policy poses, with the engine that holds its rows open."""
    run = run or Run()
    source = open_data(policy, folder, data)
    run.step("Reading the data")
    with prepare(policy, source, folder, limits, run, population=population) as problem:
        yield problem, source


def ledger_of(given: Any, policy: Policy, data: Any = None) -> Ledger | None:
    """The privacy ledger of the data, beside the policy file; None where the policy is no file.

    It is called after the data's file, so that all policies of a folder share one for the same data.
    """
    if not isinstance(given, str | Path):
        return None
    named = policy.data.path if isinstance(policy.data, DataPolicy) else policy.data
    if data is not None:
        named = str(data) if isinstance(data, str | Path) else None
    return Ledger(Path(given).parent, Path(named or given).name)


def _charge(policy: Policy, problem: Problem, ledger: Ledger | None) -> None:
    """Write down what a release spends before anything is drawn, also one that voids what was promised before."""
    if ledger is None:
        return
    private = [model for model in policy.privacy if isinstance(model, DifferentialPrivacy)]
    if not private:
        if ledger.there:
            ledger.charge(Charge(policy.method.name, None, guarantee=False), None)
        return
    (model,) = private
    budget = _budget(model)
    unit = (
        f"{problem.schema.subject}, at most {model.max_records_per_subject} records" if problem.schema.subject else ""
    )
    charge = Charge(policy.method.name, model.epsilon, model.delta, policy.method.guaranteed, unit or RECORD)
    ledger.charge(charge, budget)


def _budget(model: DifferentialPrivacy) -> Budget | None:
    return None if model.budget is None else Budget(model.budget, model.budget_delta, model.composition)


def budget(policy: str | Path) -> Account:
    """What all releases of a policy's data have spent."""
    checked, _ = load_policy(policy)
    ledger = ledger_of(policy, checked)
    assert ledger is not None
    return ledger.account(_budget(_private(checked)))


def audit_privacy(
    policy: str | Path | Mapping[str, Any] | Policy,
    *,
    runs: int = 1000,
    confidence: float = 0.999,
    progress: Progress | None = None,
) -> PrivacyAudit:
    """Try to refute the differential privacy of what a policy's method does, on small tables of its own."""
    checked, folder = load_policy(policy)
    model = _private(checked)
    sensitive = [name for name, attribute in checked.attributes.items() if attribute.role is Role.SENSITIVE]
    declared = all(specification(checked.attributes[name]).leaves(name, folder) is not None for name in sensitive)
    trials = trials_of(checked.method, model, runs, declared=declared)
    run = _run(checked, progress, None)
    return run_audit(
        trials,
        model.epsilon,
        model.delta,
        guarantee=checked.method.guaranteed,
        confidence=confidence,
        step=lambda share: run.step("Trying to tell neighbours apart", share),
    )


def _private(policy: Policy) -> DifferentialPrivacy:
    """The policy's demand for differential privacy."""
    private = [model for model in policy.privacy if isinstance(model, DifferentialPrivacy)]
    if len(private) != 1:
        raise PolicyError("The policy asks for no differential privacy.", "Name 'differential-privacy' in 'privacy:'.")
    return private[0]


def _make(
    policy: Policy, folder: Path, data: Any, target: Path, run: Run, limits: Limits | None, ledger: Ledger | None
) -> tuple[Manifest, Reports | None]:
    """Write a release and prove it; its reports are numbers yet, to be drawn where files are wanted."""
    started = time.perf_counter()
    internal = target / INTERNAL
    internal.mkdir(mode=0o700)
    limits = replace(limits or Limits(), spill=internal / "spill")
    with opened(policy, folder, data, limits, run) as (problem, source):
        misfit = policy.method.refusal(problem)
        if misfit:
            raise PolicyError(f"The method '{policy.method.name}' does not fit: {misfit}.", "Choose another method.")
        _charge(policy, problem, ledger)
        run.step("Searching")
        draft = policy.method.anonymize(problem, run)
        run.step("Writing")
        manifest = _write(policy, draft, problem, target)
        run.step("Proving the claims again")
        manifest = _prove(target, source, manifest, folder)
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
        measured = _measured(comparison, policy, folder, data, run)
        content = {
            "policy": policy.model_dump(mode="json", exclude_unset=True),
            **measured,
            "run": {
                "seconds": round(time.perf_counter() - started, 3),
                "seed": policy.seed,
                "folder": str(folder.resolve()),
            },
            **draft.internal,
        }
        _write_internal(content, target / INTERNAL)
        wanted = policy.output.report and can_be_made()
        return manifest, make_reports(manifest, comparison, content) if wanted else None


def _measured(comparison: Comparison, policy: Policy, folder: Path, data: Any, run: Run) -> dict[str, Any]:
    """What can be measured of a release against its original, for the steward's files: what is cheap, or all of it."""
    if not any(model.declared_domains for model in comparison.problem.models):
        return _measure(comparison, policy, folder, data, run)
    try:
        return _measure(comparison, policy, folder, data, run)
    except CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - a refusal would tell recipients what the data hold
        return {"measures": {}, "risks": {}, "leakage": None, NOT_MEASURED: type(error).__name__}


def _measure(comparison: Comparison, policy: Policy, folder: Path, data: Any, run: Run) -> dict[str, Any]:
    with ExitStack() as stack:
        population = policy.evaluation.population
        if population is not None:
            problem, _ = stack.enter_context(opened(policy, folder, data, run=run, population=population))
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
    if not report.ok:
        faults = [*report.problems, *(f"{f.claim['summary']}: {_fault(f)}" for f in report.findings if not f.proved)]
        raise VerificationError(
            f"The release was not published: what was written does not keep what it claims ({'; '.join(faults)}).",
            "This is a fault of medveil: please report it.",
        )
    claims = [{**f.claim, "achieved": f.finding.achieved, "holds": True} for f in report.findings]
    proved = replace(
        manifest,
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
