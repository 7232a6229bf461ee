"""What goes with every release that is made: measures for the steward, the steward's files, and its pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from medveil.app.changing import counted_attributes
from medveil.app.evaluating import evaluate
from medveil.app.preparation import prepare
from medveil.errors import CancelledError
from medveil.evaluation.comparison import Comparison
from medveil.policy import Policy
from medveil.release.manifest import Manifest
from medveil.report.reports import NOT_MEASURED, Reports
from medveil.risk.leaking import leakage_of_comparison
from medveil.run import Run
from medveil.system import return_memory
from medveil.workspace import Workspace


@dataclass(frozen=True)
class ProvedRelease:
    """A release that is written and proved. Its reports are numbers yet, to be drawn where files are wanted;
    `types` are those of the source, where it has types.
    """

    manifest: Manifest
    reports: Reports | None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)


def measured(comparison: Comparison, policy: Policy, workspace: Workspace, run: Run) -> dict[str, Any]:
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
        return_memory()
        return {
            "measures": {name: asdict(score) for name, score in found.measures.items()},
            "risks": {name: asdict(finding) for name, finding in found.risks.items()},
            "leakage": leakage_of_comparison(comparison),
        }


def write_internal(content: Mapping[str, Any], internal: Path) -> None:
    """What only the steward may see: JSON, tables and pictures, by name."""
    for name, value in content.items():
        if isinstance(value, pa.Table):
            pa.parquet.write_table(value, internal / f"{name}.parquet")
        elif name.endswith(".svg"):
            (internal / name).write_text(value, encoding="utf-8")
        else:
            text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
            (internal / f"{name}.json").write_text(text + "\n", encoding="utf-8")
