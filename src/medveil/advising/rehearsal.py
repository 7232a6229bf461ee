"""A method tried on cells: what it would publish of each cell is kept, and no row is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.advising.advice import KeptDetail
from medveil.advising.clock import Clock
from medveil.codes.combine import combine
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.coverage import Coverage, cover
from medveil.loss.generalization import loss_metric
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes
from medveil.release.draft import Draft
from medveil.run import Run


@dataclass(frozen=True)
class CellLabels:
    """What a method would publish of each cell, and which cells it would keep."""

    labels: Sequence[pa.Array]
    kept: NDArray[np.bool_]
    complete: bool


@dataclass(frozen=True)
class Rehearsal(Problem):
    """A problem whose drafts are kept as labels of cells. For methods that declare `labels_cells`."""

    made: list[CellLabels] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem) -> Rehearsal:
        return cls(**{f.name: getattr(problem, f.name) for f in fields(Problem)})

    def draft(
        self,
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        method: Mapping[str, Any],
        *,
        levels: Mapping[str, int] | None = None,  # noqa: ARG002 - the labels say it
        internal: Mapping[str, Any] | None = None,  # noqa: ARG002 - nobody reads it
    ) -> Draft:
        self.made.append(CellLabels(labels, kept, complete=bool(method.get("optimal", True))))
        would_be = pa.table(dict(zip(self.cells.quasi, labels, strict=True)))
        return Draft(self.engine.publish_table(would_be), (), (), method, {})


def rehearse(method: Method, problem: Problem, columns: Sequence[str], run: Run, clock: Clock) -> KeptDetail:
    """What a method would give for a problem, told of `columns`, of which the problem may lack some; CancelledError
    where time is up first. A search that knows a time limit has none beyond that.
    """
    if "time_limit" in type(method).model_fields:
        # By the clock on the wall: at least so much is left.
        limit = min(max(clock.left, 0.01), float(dict(method)["time_limit"]))
        method = method.model_copy(update={"time_limit": limit})
    rehearsal = Rehearsal.of(problem)
    method.anonymize(rehearsal, replace(run, cancelled=lambda: run.cancelled() or clock.over))
    return outcome_of_cells(problem, rehearsal.made[-1], columns)


def outcome_of_cells(problem: Problem, made: CellLabels, columns: Sequence[str]) -> KeptDetail:
    """What would be published of the cells, in figures."""
    cells = problem.cells
    kept = made.kept & (cells.counts > 0)
    detail, codes, sizes = dict.fromkeys(columns, 0.0), [], []
    for name, labels in zip(cells.quasi, made.labels, strict=True):
        read = cover(pa.chunked_array([labels]), cells.domains[name], problem.hierarchies[name])
        detail[name] = _detail(read, cells.counts, kept)
        codes.append(read.codes[kept])
        sizes.append(max(len(read.labels), 1))
    first, groups = combine(codes, sizes, int(kept.sum()))
    class_of_cell = np.full(len(cells), -1, dtype=np.int64)
    class_of_cell[kept] = groups
    people = count_classes(replace(cells, sensitive={}, population=None), class_of_cell, len(first)).sizes
    suppressed = int(cells.counts[~made.kept].sum())
    return KeptDetail(detail, len(first), _least(people), suppressed, made.complete)


def _detail(read: Coverage, counts: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """1 - LM of a column; a record that is not kept keeps nothing."""
    records = np.bincount(read.codes[kept], counts[kept], minlength=len(read.labels))
    told = 1.0 - np.minimum(loss_metric(read.covered, read.size), 1.0)
    return float(records @ told) / max(int(counts.sum()), 1)


def outcome_of_release(comparison: Comparison, losses: Mapping[str, float], suppressed: int) -> KeptDetail:
    """What a release gives, in the same figures; `losses` is the measure LM by column."""
    sizes = comparison.sizes
    if not len(sizes) and comparison.published.num_rows:
        # Rows of nothing but `*` look like suppressed records: where there are no others, they are one group.
        sizes = np.array([comparison.published.num_rows])
    kept = {name: 1.0 - lost for name, lost in losses.items()}
    return KeptDetail(kept, len(sizes), _least(sizes), suppressed)


def _least(sizes: NDArray[np.int64]) -> int:
    return int(sizes.min()) if len(sizes) else 0
