"""What can be measured of a linked release: the view of people that its files show, alone or beside its original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.app.audit import is_policy
from medveil.app.evaluating import Evaluated, PublishedTable, evaluate
from medveil.app.linked_plan import LinkedPlan
from medveil.app.linked_profiling import profiled_plan
from medveil.app.linking import linked_tables, view_of
from medveil.app.reached import ReachedFigures, reached
from medveil.engine import with_rows
from medveil.errors import InputError
from medveil.evaluation.comparison import Comparison
from medveil.methods.problem import Problem
from medveil.policy import Policy, load_policy
from medveil.privacy import models
from medveil.release.manifest import Manifest
from medveil.run import Run
from medveil.table.schema import Role
from medveil.workspace import Workspace

NO_MODEL = {"model": "k-anonymity", "k": 1}


@contextmanager
def linked_comparison(folder: Path, manifest: Manifest, original: Any, run: Run) -> Iterator[Comparison]:
    """The view of people in a linked release; beside that of its original, where the policy that names it is given."""
    with _view(LinkedPlan(_of_release(manifest)), replace(run.workspace, folder=folder), run) as problem:
        names = problem.schema.names(Role.QUASI, Role.SENSITIVE)
        table = with_rows(problem.engine).texts(names)
        if original is None:
            told = PublishedTable(table, replace(manifest, attributes=[]))
            yield told.beside(problem, _of_release(manifest).evaluation, run, original=False)
            return
        if not is_policy(original):
            raise InputError(
                "A linked release is measured beside the tables that its policy names.",
                "Give the policy as the original.",
            )
        policy, workspace = load_policy(original, run.workspace)
        if not policy.tables:
            raise InputError("The policy names one table, and the release has several.", "Give its own policy.")
        with _view(LinkedPlan(policy), workspace, run) as source:
            shown = replace(manifest, attributes=_attributes(manifest))
            yield PublishedTable(_known(table, source), shown).beside(source, policy.evaluation, run)


def measured_tables(comparison: Comparison, run: Run, *, quick: bool) -> tuple[Evaluated, list[ReachedFigures]]:
    """Measures, risks, and what the groups of a release alone reach."""
    found = evaluate(comparison, models=not quick, attacks=not quick, run=run)
    problem = comparison.problem
    return found, [] if comparison.original else list(reached(problem.cells, problem.reference))


@contextmanager
def _view(plan: LinkedPlan, workspace: Workspace, run: Run) -> Iterator[Problem]:
    with linked_tables(plan, workspace, run) as tables:
        plan, _ = profiled_plan(plan, tables, run)
        with view_of(plan, tables, workspace, run) as problem:
            yield problem


def _known(table: pa.Table, source: Problem) -> pa.Table:
    return table.select([name for name in source.counted if name in table.column_names])


def _attributes(manifest: Manifest) -> list[dict[str, Any]]:
    return [
        {**a, "name": f"{name}.{a['name']}"} for name, table in manifest.tables.items() for a in table["attributes"]
    ]


def _of_release(manifest: Manifest) -> Policy:
    """The files of a linked release as tables whose labels are values, each of its own."""
    known = models()
    claims = [
        {"model": claim["model"], **claim["parameters"]}
        | ({"attribute": claim["attribute"]} if claim.get("attribute") else {})
        | ({"on": claim["on"]} if claim.get("on") else {})
        for claim in manifest.claims
        if claim["model"] in known and known[claim["model"]].basis == "files" and not known[claim["model"]].about_sets
    ]
    tables = {
        name: {
            "data": str(table["file"]),
            "key": dict(table["foreign"]),
            "attributes": {
                a["name"]: _read(a, claims, name) for a in table["attributes"] if a["name"] not in table["foreign"]
            },
        }
        for name, table in manifest.tables.items()
    }
    return load_policy({"tables": tables, "privacy": claims or [NO_MODEL]})[0]


def _read(attribute: Mapping[str, Any], claims: list[dict[str, Any]], table: str) -> dict[str, Any]:
    role = attribute["role"]
    if role in {Role.KEY, Role.QUASI}:
        return {"role": role}
    claimed = any(claim.get("attribute") == f"{table}.{attribute['name']}" for claim in claims)
    kept = Role.SENSITIVE if role == Role.SENSITIVE and claimed else Role.PLAIN
    return {"role": kept.value, "insist": True, **({"type": attribute["type"]} if claimed else {})}
