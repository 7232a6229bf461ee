"""The whole order for linked tables: read, link, count, search, write one file a table, prove."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from medveil.app.about import about, described
from medveil.app.alert import alert
from medveil.app.changing import keep_key
from medveil.app.evaluating import PublishedTable
from medveil.app.linked_advice import advice_on_tables
from medveil.app.linked_fhir import fhir_resources
from medveil.app.linked_plan import LinkedPlan
from medveil.app.linked_profiling import profiled_plan
from medveil.app.linking import Labelled, anonymize_view, linked_tables, viewed
from medveil.app.made import ProvedRelease, measured, write_internal
from medveil.app.preparation import specification
from medveil.app.proving import prove
from medveil.app.sets import Recoded, recode_sets
from medveil.auditor.linked_truth import RECODING
from medveil.engine.tables import LinkedTables
from medveil.errors import PolicyError
from medveil.methods.problem import Problem
from medveil.policy import Policy
from medveil.release.changes import pseudonyms_for_recipients
from medveil.release.claim import Basis
from medveil.release.draft import Promise, PublishedAttribute
from medveil.release.fhir import write_fhir
from medveil.release.manifest import INTERNAL, Manifest, attribute_of, claim_of, file_hash, versions
from medveil.release.status import Status, status_text
from medveil.report.page import can_be_made
from medveil.report.reports import make_reports
from medveil.run import Run, Stage
from medveil.table.schema import Kind
from medveil.workspace import Workspace


@dataclass(frozen=True)
class LinkedDraft:
    """A linked release that is written and not proved yet."""

    manifest: Manifest
    labelled: Labelled
    recoded: Mapping[str, Recoded] = field(default_factory=dict)


def make_linked(policy: Policy, workspace: Workspace, target: Path, run: Run) -> ProvedRelease:
    """The whole order of linked tables."""
    started = time.perf_counter()
    internal = target / INTERNAL
    internal.mkdir(mode=0o700)
    run = replace(
        run,
        random=np.random.default_rng(policy.seed) if policy.seed is not None else run.random,
        seeded=run.seeded or policy.seed is not None,
        limits=replace(run.limits, spill=internal / "spill"),
    )
    plan = LinkedPlan(policy)
    if policy.output.suppressed == "stars":
        raise PolicyError("Linked tables cannot show suppressed people as stars.", "Use 'suppressed: removed'.")
    if policy.output.format not in {"csv", "parquet", "fhir"}:
        raise PolicyError(
            "Linked tables are written as CSV, Parquet or FHIR.", "Use 'format: csv', 'parquet' or 'fhir'."
        )
    run.step(Stage.READ)
    with linked_tables(plan, workspace, run) as tables:
        if policy.output.format == "fhir":
            fhir_resources(plan, tables)
        plan, further = profiled_plan(plan, tables, run)
        if not plan.models:
            _refuse_levels(plan)
            everybody = Labelled(tables.everybody())
            draft = write_linked(plan, tables, everybody, None, workspace, target, run, further)
            manifest = _prove(draft, tables, workspace, target, run)
            write_internal(_content(policy, workspace, draft, tables, started), internal)
            return ProvedRelease(manifest, None)
        with viewed(plan, tables, workspace, run) as problem:
            for words in policy.method.warnings(problem):
                run.warn(words)
            run.step(Stage.SEARCH)
            labelled = anonymize_view(plan, problem, run, internal)
            draft = write_linked(plan, tables, labelled, problem, workspace, target, run, further)
            manifest = _prove(draft, tables, workspace, target, run)
            run.step(Stage.MEASURE)
            shown = _of_view(manifest, labelled)
            assert labelled.view is not None
            comparison = PublishedTable(labelled.view, shown).beside(problem, policy.evaluation, run)
            if policy.leakage is not None:
                alert(policy.leakage, comparison)
            figures = measured(comparison, plan.view_policy(), workspace, run)
            content = {
                **_content(policy, workspace, draft, tables, started),
                **figures,
                **advice_on_tables(plan, comparison, figures["measures"], manifest.rows["suppressed"], run),
            }
            write_internal(content, internal)
            run.step(Stage.DRAW)
            wanted = policy.output.report and can_be_made()
            return ProvedRelease(manifest, make_reports(shown, comparison, content) if wanted else None)


def _refuse_levels(plan: LinkedPlan) -> None:
    """Without a model of classes nothing is generalized but sets, whatever a policy or its profile asks for."""
    for called in plan.view:
        attribute = plan.attribute(called)
        if attribute.min_level or specification(attribute).least_level:
            raise PolicyError(
                f"'{called}' is to be generalized, and no model asks for groups of people, so that it would be "
                "published as it is.",
                "Add a model such as {model: k-anonymity, k: 5} under 'privacy', or take the column out.",
            )


def _prove(draft: LinkedDraft, tables: LinkedTables, workspace: Workspace, target: Path, run: Run) -> Manifest:
    run.step(Stage.PROVE)
    labels = {name: {"labels": _pairs(recoded.labels)} for name, recoded in draft.recoded.items()}
    if labels:
        write_internal({RECODING.removesuffix(".json"): labels}, target / INTERNAL)
    sources = {name: tables.raw(name) for name in tables.tables}
    return prove(target, sources, draft.manifest, workspace, run, tables.key.secret)


def _pairs(table: pa.Table) -> dict[str, str | None]:
    return dict(zip(table["value"].to_pylist(), table["label"].to_pylist(), strict=True))


def _content(
    policy: Policy, workspace: Workspace, draft: LinkedDraft, tables: LinkedTables, started: float
) -> dict[str, Any]:
    return {
        "policy": policy.model_dump(mode="json", exclude_unset=True),
        "run": {
            "seconds": round(time.perf_counter() - started, 3),
            "seed": policy.seed,
            "folder": str(workspace.folder.resolve()),
            "records": {name: tables.rows(name) for name in tables.tables},
        },
        **({"sets": {name: recoded.to_dict() for name, recoded in draft.recoded.items()}} if draft.recoded else {}),
    }


def _of_view(manifest: Manifest, labelled: Labelled) -> Manifest:
    """The manifest as that of the view, for measures and pages."""
    assert labelled.draft is not None
    return replace(manifest, attributes=[attribute_of(a) for a in labelled.draft.attributes])


def write_linked(
    plan: LinkedPlan,
    tables: LinkedTables,
    labelled: Labelled,
    problem: Problem | None,
    workspace: Workspace,
    target: Path,
    run: Run,
    further: Sequence[Promise] = (),
) -> LinkedDraft:
    """Write every table with what was found for its columns, and a manifest whose claims nothing has proved."""
    run.step(Stage.SEARCH, detail="Generalizing codes")
    recoded = recode_sets(plan, tables, labelled.kept, workspace, run)
    run.step(Stage.WRITE)
    keep_key(tables.key, target)
    resources = fhir_resources(plan, tables) if plan.policy.output.format == "fhir" else {}
    described_tables: dict[str, dict[str, Any]] = {}
    files: dict[str, str] = {}
    for name in plan.names:
        by_value = {column: labelled.by_value[f"{name}.{column}"] for column in _by_value(plan, name, labelled)}
        by_value |= {column: r.labels for column, r in _recoded(plan, name, recoded).items()}
        by_person = labelled.by_person if name == plan.root else {}
        publication = tables.publish(name, labelled.kept, by_person, by_value)
        (part,) = publication.write(target, "csv" if resources else plan.policy.output.format)
        files[part.name] = part.sha256
        described_tables[name] = {
            "file": part.name,
            # How many records there were would tell how many the people have who are left out.
            "rows": {"published": part.rows, "strays": tables.rows(name) - tables.alive(name)},
            "key": plan.key_of(name),
            "foreign": dict(plan.policy.tables[name].key),
            "attributes": [
                described(attribute_of(a), plan.policy.tables[name].attributes)
                for a in _attributes(plan, name, labelled, recoded)
            ],
            **({"fhir": resources[name].described()} if resources else {}),
        }
        if resources:
            written = write_fhir(publication.to_arrow(), target, resources[name])
            files[written] = file_hash(target / written)
    people = tables.alive(plan.root)
    profile = plan.policy.profile
    secure = profile is not None and profile.secure_only
    status = Status.SECURE_ENVIRONMENT if secure else Status.PSEUDONYMOUS
    manifest = Manifest(
        status=status_text(Status.REPEATABLE if run.seeded else status),
        method=labelled.draft.method if labelled.draft is not None else {"name": "none", "parameters": {}},
        claims=[claim_of(promise) for promise in (*_promises(plan, problem), *further)],
        rows={"published": len(labelled.kept), "input": people, "suppressed": people - len(labelled.kept)},
        attributes=[],
        release=str(described_tables[plan.root]["file"]),
        subject=plan.space,
        pseudonyms=pseudonyms_for_recipients(tables.key),
        tables=described_tables,
        about=about(plan.policy),
        files=files,
        versions=versions(),
    )
    return LinkedDraft(manifest, labelled, recoded)


def _by_value(plan: LinkedPlan, name: str, labelled: Labelled) -> list[str]:
    return [column for column, called in plan.where(name).items() if called in labelled.by_value]


def _recoded(plan: LinkedPlan, name: str, recoded: Mapping[str, Recoded]) -> dict[str, Recoded]:
    return {
        plan.set_attributes[called][1]: r for called, r in recoded.items() if plan.set_attributes[called][0] == name
    }


def _promises(plan: LinkedPlan, problem: Problem | None) -> list[Promise]:
    """People are told by their pseudonyms, so that whoever has the files can count them."""
    found = [] if problem is None else problem.promises()
    models = [] if problem is None else problem.models
    found = [replace(p, basis=Basis.FILES) if m.basis == "files" else p for p, m in zip(found, models, strict=True)]
    return found + [
        Promise(
            model.name,
            model.summary(),
            model.required,
            Basis.FILES,
            parameters=model.model_dump(mode="json", exclude={"on", "attribute"}),
            attribute=model.sensitive_attribute,
        )
        for model in plan.set_models
    ]


def _attributes(
    plan: LinkedPlan, name: str, labelled: Labelled, recoded: Mapping[str, Recoded]
) -> list[PublishedAttribute]:
    of_view = {} if labelled.draft is None else {a.name: a for a in labelled.draft.attributes}
    found = []
    for column in plan.tables[name].columns:
        attribute, called = plan.attributes[name][column.name], f"{name}.{column.name}"
        change = column if column.change is not None else None
        if called in of_view:
            found.append(replace(of_view[called], name=column.name, change=change))
            continue
        kind = attribute.type or Kind.CATEGORY
        hierarchy = specification(attribute).described() if called in recoded else None
        found.append(
            PublishedAttribute(
                column.name,
                attribute.role,
                kind,
                hierarchy,
                written=attribute.format,
                change=change,
                form="set" if called in recoded else None,
            )
        )
    return found
