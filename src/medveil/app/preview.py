"""A policy tried on a sample: how it would look, in seconds, and never a release."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from medveil.app.anonymize import anonymize
from medveil.app.linked_plan import LinkedPlan
from medveil.app.preparation import open_data, source_of, specification
from medveil.app.rows import SHOWN
from medveil.engine import with_rows
from medveil.policy import OutputPolicy, Policy, TablePolicy, load_policy
from medveil.run import Run, Stage
from medveil.table.schema import Role
from medveil.working_folder import WorkingFolder
from medveil.workspace import Workspace

SAMPLE = 2_000


@dataclass(frozen=True)
class Preview:
    """What a release of a sample would be like.

    generated: the sample was made up, because looking at the data would spend of their privacy. sampled, of: how many
    records were tried, out of how many. summaries: what held for the sample.
    """

    generated: bool
    sampled: int
    of: int | None
    published: int
    suppressed: int | None
    summaries: Sequence[str]
    levels: Mapping[str, int | None]
    names: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    seconds: float


def preview(
    policy: Policy | Mapping[str, Any], *, number: int = SAMPLE, data: Any = None, run: Run | None = None
) -> Preview:
    """Try a policy on a sample of its data; under differential privacy on made-up records of its declared domains. Of
    linked tables the sample is of people, with all their records, and the table of people is shown.

    Nothing is kept and nothing is charged.
    """
    run = run or Run()
    started = time.perf_counter()
    checked, workspace = load_policy(policy, run.workspace)
    private = any(model.spends is not None for model in checked.privacy)
    run.step(Stage.READ)
    tried = checked.model_copy(
        update={
            "output": _quick(checked),
            "evaluation": type(checked.evaluation)(advice=False),
            "privacy": tuple(
                model.model_copy(update={"budget": None}) if private else model for model in checked.privacy
            ),
        }
    )
    trying = replace(run, workspace=workspace, ledgers=None)
    total: int | None
    if checked.tables:
        with WorkingFolder() as folder:
            sampled, total, tables = _people(checked, workspace, number, run, folder.path)
            reaching = replace(workspace, also=(*workspace.also, folder.path))
            release = anonymize(tried.model_copy(update={"tables": tables}), run=replace(trying, workspace=reaching))
    else:
        table, total = (
            _made_up(checked, workspace, number, run) if private else _sample(checked, workspace, data, number, run)
        )
        sampled = table.num_rows
        release = anonymize(table, tried.model_copy(update={"data": None}), run=trying)
    manifest, published = release.manifest, release.to_arrow()
    lines = np.linspace(0, max(len(published) - 1, 0), min(SHOWN, len(published))).astype(np.int64)
    shown = published.take(pa.array(lines))
    attributes = next(iter(manifest.tables.values()))["attributes"] if manifest.tables else manifest.attributes
    return Preview(
        private,
        sampled,
        total,
        manifest.rows["published"],
        manifest.rows.get("suppressed"),
        [claim["summary"] for claim in manifest.claims],
        {attribute["name"]: attribute["level"] for attribute in attributes},
        shown.column_names,
        [[None if v is None else str(v) for v in row] for row in zip(*shown.to_pydict().values(), strict=True)],
        round(time.perf_counter() - started, 2),
    )


def _quick(policy: Policy) -> OutputPolicy:
    """How a preview is written: no reports, to no database, and what was read from FHIR as tables."""
    given = {**policy.output.model_dump(exclude_unset=True), "report": False, "database": None}
    return OutputPolicy(**(given | {"format": "csv"} if policy.output.format == "fhir" else given))


def _sample(policy: Policy, workspace: Workspace, data: Any, number: int, run: Run) -> tuple[pa.Table, int]:
    source = open_data(policy, workspace, data)
    names = [name for name in policy.attributes if name in source.names]
    with run.stoppable(), run.engine(source, names) as engine:
        lines = np.sort(run.random.choice(engine.rows, min(number, engine.rows), replace=False)).astype(np.int64)
        return with_rows(engine).take(lines, names), engine.rows


def _people(
    policy: Policy, workspace: Workspace, number: int, run: Run, folder: Path
) -> tuple[int, int, dict[str, TablePolicy]]:
    """Some people with all their records, in files of the folder: how many of how many, and the tables with these."""
    plan = LinkedPlan(policy)
    keys: dict[str, pa.ChunkedArray] = {}
    tables: dict[str, TablePolicy] = {}
    sampled = total = 0
    for name in plan.names:
        given = policy.tables[name]
        names = [*given.key, *given.attributes]
        # The labels of codes are put in when the files are read again.
        with run.stoppable(), run.engine(source_of(given.data).open(workspace), names, may_be_empty=True) as engine:
            if name == plan.root:
                sampled, total = min(number, engine.rows), engine.rows
                lines = np.sort(run.random.choice(total, sampled, replace=False)).astype(np.int64)
                rows = with_rows(engine).take(lines, names)
            else:
                rows = with_rows(engine).texts(names)
                for column, target in given.key.items():
                    rows = rows.filter(pc.is_in(rows[column], keys[target.partition(".")[0]]))
        key = plan.key_of(name)
        if key is not None:
            keys[name] = rows[key]
        file = folder / f"{name}.parquet"
        pa.parquet.write_table(rows, file)
        tables[name] = given.model_copy(update={"data": str(file)})
    return sampled, total, tables


def _made_up(policy: Policy, workspace: Workspace, number: int, run: Run) -> tuple[pa.Table, None]:
    """Records drawn evenly from the domains that the policy declares, or of made-up values where it declares none; the
    data are not read.
    """
    columns = {}
    for name, attribute in policy.attributes.items():
        if attribute.role is Role.SUBJECT:
            columns[name] = pa.array([str(line) for line in range(number)])
            continue
        leaves = specification(attribute).leaves(name, workspace) or [f"value {number}" for number in range(1, 21)]
        columns[name] = pa.array(run.random.choice(leaves, number))
    return pa.table(columns), None
