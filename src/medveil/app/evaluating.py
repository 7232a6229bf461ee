"""What every use case does that looks at a published table: open it, put it beside its original, measure, attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.evaluation.settings import EvaluationPolicy
from medveil.methods.problem import Problem
from medveil.release.counted import read_counted
from medveil.release.manifest import INTERNAL, LINKS, Manifest
from medveil.release.reading import read_release
from medveil.risk import risks
from medveil.risk.risk import RiskFinding, assess_risks
from medveil.run import Run, Stage
from medveil.utility import measures
from medveil.utility.compute import compute_measures


@dataclass(frozen=True)
class PublishedTable:
    """A published table and what came with it: a release directory has a manifest, any other table is alone.

    times: how many rows each line of the table stands for; None where each is one.
    """

    table: pa.Table
    manifest: Manifest | None = None
    folder: Path | None = None
    companions: Mapping[str, pa.Table] = field(default_factory=dict)
    times: NDArray[np.int64] | None = None

    @staticmethod
    def release(
        folder: Path, manifest: Manifest, companions: Mapping[str, pa.Table], *, counted: bool = False
    ) -> PublishedTable:
        """The table of a release directory, read back from its files; where it is `counted`, its distinct rows."""
        if counted:
            table, times = read_counted(folder, manifest)
            return PublishedTable(table, manifest, folder, companions, times)
        return PublishedTable(read_release(folder, manifest), manifest, folder, companions)

    def beside(self, problem: Problem, settings: EvaluationPolicy, run: Run, *, original: bool = True) -> Comparison:
        """The table beside its original, whose problem this is; without one, `problem` is about the table itself."""
        manifest = self.manifest
        told = [] if manifest is None or not original else manifest.attributes
        return Comparison(
            problem,
            self.table,
            method={} if manifest is None else manifest.method,
            companions=self.companions,
            forms={str(a["name"]): str(a["form"]) for a in told if a.get("form")},
            links=self._links(problem.engine.rows) if original else None,
            original=original,
            settings=settings,
            folder=self.folder,
            run=run,
            times=self.times,
        )

    def _links(self, rows: int) -> Path | None:
        """The steward's file on what became of each record, where it is there and fits an original of so many."""
        path = None if self.folder is None else self.folder / INTERNAL / LINKS
        if path is None or not path.is_file() or pyarrow.parquet.read_metadata(path).num_rows != rows:
            return None
        return path


@dataclass(frozen=True)
class Evaluated:
    """What a table is good for and what it gives away."""

    measures: Mapping[str, Score | Skipped]
    risks: Mapping[str, RiskFinding | Skipped]


def evaluate(comparison: Comparison, *, models: bool, attacks: bool, run: Run) -> Evaluated:
    """Every measure and risk that there is; trained models and attacks, which take long, only where asked for."""
    run.step(Stage.MEASURE)
    scores = compute_measures(comparison, measures(), cheap_only=not models)
    run.step(Stage.ATTACK)
    return Evaluated(scores, assess_risks(comparison, risks(), cheap_only=not attacks))
