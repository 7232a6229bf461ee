"""Some rows of a table, for a steward to look at: of a release, or of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from medveil.app.preparation import open_data, open_table
from medveil.engine import with_rows
from medveil.errors import PolicyError
from medveil.policy import Policy, load_policy
from medveil.release.manifest import read_manifest
from medveil.run import Run, Stage
from medveil.sources.opening import open_source

SHOWN = 20


@dataclass(frozen=True)
class SomeRows:
    """Rows as texts, None where a value is missing, and how many there are in all; of linked tables, of which."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]
    total: int
    table: str | None = None


def rows(directory: str | Path, *, number: int = SHOWN, run: Run | None = None) -> list[SomeRows]:
    """Rows of a release directory, evenly spaced over its table, or over each of its tables."""
    run = run or Run()
    run.step(Stage.READ)
    folder = Path(directory)
    manifest = read_manifest(folder)
    files: dict[str | None, str] = {name: str(table["file"]) for name, table in manifest.tables.items()}
    return [
        replace(_some(open_source(folder / file, header=True), number, run, spread=True), table=name)
        for name, file in (files or {None: manifest.release}).items()
    ]


def peek(
    policy: Policy | Mapping[str, Any],
    *,
    number: int = SHOWN,
    table: str | None = None,
    data: Any = None,
    run: Run | None = None,
) -> SomeRows:
    """Rows of a policy's own data, drawn at random; of linked tables, those of one. Whoever shows them writes down
    that it did.
    """
    run = run or Run()
    run.step(Stage.READ)
    checked, workspace = load_policy(policy, run.workspace)
    if checked.tables:
        named = checked.tables.get(table or "")
        if named is None:
            raise PolicyError("The policy has no such table.", "Name one of its tables.")
        return replace(_some(open_table(named, workspace), number, run, spread=False), table=table)
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
