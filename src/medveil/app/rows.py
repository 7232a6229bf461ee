"""Some rows of a table, for a steward to look at: of a release, or of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from medveil.app.preparation import open_data
from medveil.engine import with_rows
from medveil.policy import Policy, load_policy
from medveil.release.manifest import read_manifest
from medveil.run import Run, Stage
from medveil.sources.opening import open_source

SHOWN = 20


@dataclass(frozen=True)
class SomeRows:
    """SomeRows as texts, None where a value is missing, and how many there are in all."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]
    total: int


def rows(directory: str | Path, *, number: int = SHOWN, run: Run | None = None) -> SomeRows:
    """SomeRows of a release directory, evenly spaced over its table."""
    run = run or Run()
    run.step(Stage.READ)
    folder = Path(directory)
    return _some(open_source(folder / read_manifest(folder).release), number, run, spread=True)


def peek(
    policy: Policy | Mapping[str, Any], *, number: int = SHOWN, data: Any = None, run: Run | None = None
) -> SomeRows:
    """SomeRows of a policy's own data, drawn at random. Whoever shows them writes down that it did."""
    run = run or Run()
    run.step(Stage.READ)
    checked, workspace = load_policy(policy, run.workspace)
    return _some(open_data(checked, workspace, data), number, run, spread=False)


def _some(source: Any, number: int, run: Run, *, spread: bool) -> SomeRows:
    with run.stoppable(), run.engine(source, source.names, may_be_empty=True) as engine:
        number = min(number, engine.rows)
        if spread:
            lines = np.linspace(0, max(engine.rows - 1, 0), number).astype(np.int64)
        else:
            lines = np.sort(run.random.choice(engine.rows, number, replace=False)).astype(np.int64)
        table = with_rows(engine).take(lines, source.names)
        listed = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return SomeRows(tuple(source.names), listed, engine.rows)
