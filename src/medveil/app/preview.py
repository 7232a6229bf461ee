"""A policy tried on a sample: how it would look, in seconds, and never a release."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from medveil.app.anonymize import anonymize
from medveil.app.preparation import open_data, specification
from medveil.app.rows import SHOWN
from medveil.engine import with_rows
from medveil.policy import Policy, load_policy
from medveil.run import Run, Stage
from medveil.table.schema import Role
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
    """Try a policy on a sample of its data; under differential privacy on made-up records of its declared domains.

    Nothing is kept and nothing is charged.
    """
    run = run or Run()
    started = time.perf_counter()
    checked, workspace = load_policy(policy, run.workspace)
    private = any(model.spends is not None for model in checked.privacy)
    run.step(Stage.READ)
    table, total = (
        _made_up(checked, workspace, number, run) if private else _sample(checked, workspace, data, number, run)
    )
    quick = {**checked.output.model_dump(exclude_unset=True), "report": False, "database": None}
    tried = checked.model_copy(
        update={
            "data": None,
            "output": type(checked.output)(**quick),
            "evaluation": type(checked.evaluation)(advice=False),
            "privacy": tuple(
                model.model_copy(update={"budget": None}) if private else model for model in checked.privacy
            ),
        }
    )
    release = anonymize(table, tried, run=replace(run, workspace=workspace, ledgers=None))
    manifest, published = release.manifest, release.to_arrow()
    lines = np.linspace(0, max(len(published) - 1, 0), min(SHOWN, len(published))).astype(np.int64)
    shown = published.take(pa.array(lines))
    return Preview(
        private,
        table.num_rows,
        total,
        manifest.rows["published"],
        manifest.rows.get("suppressed"),
        [claim["summary"] for claim in manifest.claims],
        {attribute["name"]: attribute["level"] for attribute in manifest.attributes},
        shown.column_names,
        [[None if v is None else str(v) for v in row] for row in zip(*shown.to_pydict().values(), strict=True)],
        round(time.perf_counter() - started, 2),
    )


def _sample(policy: Policy, workspace: Workspace, data: Any, number: int, run: Run) -> tuple[pa.Table, int]:
    source = open_data(policy, workspace, data)
    names = [name for name in policy.attributes if name in source.names]
    with run.stoppable(), run.engine(source, names) as engine:
        lines = np.sort(run.random.choice(engine.rows, min(number, engine.rows), replace=False)).astype(np.int64)
        return with_rows(engine).take(lines, names), engine.rows


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
