"""A first look at a table: what each column seems to be, and how many people it gives away."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medveil.app.starting import started
from medveil.engine import Limits
from medveil.errors import OutputError
from medveil.guessing.code_trees import with_code_tree
from medveil.guessing.guess import ColumnProfile, Guess, guess
from medveil.guessing.starter_policy import one_subject, starter_policy
from medveil.release.directory import write_whole
from medveil.run import Listener, Run, Stage
from medveil.sources.opening import open_source
from medveil.table.schema import Role


@dataclass(frozen=True)
class Inspection:
    """Each column's profile and guess, and the share of records that are unique on the guessed quasi-identifiers."""

    rows: int
    profiles: Sequence[ColumnProfile]
    guesses: Sequence[Guess]
    unique: float
    read: Mapping[str, Any] = field(default_factory=dict)
    """How the file was read, as a policy says it under `data:`."""

    @property
    def quasi(self) -> list[str]:
        return [p.name for p, g in zip(self.profiles, self.guesses, strict=True) if g.role is Role.QUASI]

    def policy(self, path: str) -> str:
        """A commented starter policy for the data at `path`."""
        columns = [(p.name, g) for p, g in zip(self.profiles, self.guesses, strict=True)]
        return starter_policy(path, columns, self.read)

    def to_dict(self) -> dict[str, Any]:
        """The same without samples of values."""
        columns = [
            {
                "name": p.name,
                "type": g.kind.value,
                "role": g.role.value,
                "reason": g.reason,
                "distinct": p.distinct,
                "missing": p.missing,
                "free_text": g.free_text,
            }
            for p, g in zip(self.profiles, self.guesses, strict=True)
        ]
        return {"rows": self.rows, "quasi": self.quasi, "unique": self.unique, "columns": columns}


def write_policy(found: Inspection, data: Path, out: Path) -> None:
    """A starter policy beside which the data are named relatively; never over a file that is there."""
    if out.exists():
        raise OutputError(f"'{out}' already exists.", "Name a new file, or remove that one first.")
    text = found.policy(os.path.relpath(data, out.parent))
    try:
        write_whole(out, text)
    except OSError as error:
        cause = "The disk is full." if error.errno == errno.ENOSPC else "Check that the folder exists and is writable."
        raise OutputError(f"'{out}' cannot be written.", cause) from None


def inspect(
    data: Any,
    *,
    limits: Limits | None = None,
    progress: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    run: Run | None = None,
    **options: Any,
) -> Inspection:
    """Look at a table: a path or a frame. `options` say how a file is read."""
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    run.step(Stage.READ)
    source = open_source(data, **options)
    with run.stoppable(), run.engine(source, source.names) as engine:
        profiles = []
        for number, name in enumerate(source.names):
            run.step(Stage.COUNT, number / len(source.names))
            profiles.append(engine.profile(name))
        guesses = [found for _, found in one_subject([(p.name, with_code_tree(p, guess(p))) for p in profiles])]
        quasi = [p.name for p, g in zip(profiles, guesses, strict=True) if g.role is Role.QUASI]
        read = {key: value for key, value in options.items() if value is not None and value != []}
        if read.get("header") is False:
            read = {**read, "columns": list(source.names)}
        return Inspection(engine.rows, profiles, guesses, engine.unique_share(quasi), read)
