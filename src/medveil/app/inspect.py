"""A first look at a table: what each column seems to be, and how many people it gives away."""

from __future__ import annotations

import datetime as dt
import errno
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medveil.app.starting import started
from medveil.engine import Engine, Limits
from medveil.errors import InputError, OutputError
from medveil.guessing.code_trees import with_code_tree
from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess, guess
from medveil.guessing.linked_policy import Starter, linked_policy
from medveil.guessing.links import Columns, FoundLinks, Pointer, find_links
from medveil.guessing.missing_words import missing_words, proposal
from medveil.guessing.people import person_by_shape
from medveil.guessing.starter_policy import one_subject, starter_policy
from medveil.markup import grid, paragraph
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
    missing_words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Words that seem to stand for a missing value, with the columns that have them; nothing is read that way."""

    @property
    def quasi(self) -> list[str]:
        return [p.name for p, g in zip(self.profiles, self.guesses, strict=True) if g.role is Role.QUASI]

    def policy(self, path: str) -> str:
        """A commented starter policy for the data at `path`."""
        columns = [(p.name, g) for p, g in zip(self.profiles, self.guesses, strict=True)]
        return starter_policy(path, columns, self.read, self.missing_words)

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
        return {
            "rows": self.rows,
            "quasi": self.quasi,
            "unique": self.unique,
            "missing_words": {word: list(names) for word, names in self.missing_words.items()},
            "columns": columns,
        }

    def _repr_html_(self) -> str:
        """The same in a notebook, without samples of values."""
        rows = [
            [p.name, g.kind.value, f"{p.distinct:,}", f"{p.missing / max(p.rows, 1):.1%}", g.role.value, g.reason]
            for p, g in zip(self.profiles, self.guesses, strict=True)
        ]
        told = [
            paragraph(f"{self.rows:,} records", strong=True),
            grid(["column", "type", "distinct", "missing", "role", "why"], rows),
        ]
        if self.quasi:
            told.append(paragraph(f"{self.unique:.1%} of the records are unique on the suggested quasi-identifiers."))
        if self.missing_words:
            told.append(paragraph(f"{proposal(self.missing_words)} If so, inspect again with {self._again}."))
        return "".join(told)

    @property
    def _again(self) -> str:
        """How a notebook is told which words are missing values."""
        return f"missing={[*self.read.get('missing', ()), *self.missing_words]}"


@dataclass(frozen=True)
class LinkedInspection:
    """Several tables, each looked at for itself, and the links between them."""

    tables: Mapping[str, Inspection]
    links: FoundLinks
    starter: Starter = field(default_factory=Starter)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What else is in the folder, and why it is not in the policy."""

    def policy(self, data: Mapping[str, Any]) -> str:
        """A commented starter policy; `data` says where each table is."""
        if self.links.root is None:
            raise InputError(
                "No table holds people whom the others point to.",
                "One table needs a column with a value of its own in every record, and the others the same values.",
            )
        words = {name: found.missing_words for name, found in self.tables.items()}
        today = dt.datetime.now(dt.UTC).date()
        return linked_policy(data, _columns(self.tables), self.links, today, self.starter, words)

    def to_dict(self) -> dict[str, Any]:
        """The same without samples of values."""
        return {
            "tables": {name: found.to_dict() for name, found in self.tables.items()},
            "people": self.links.root,
            "keys": dict(self.links.keys),
            "links": {f"{p.table}.{p.column}": f"{p.to_table}.{p.to_column}" for p in self.links.pointers},
            "apart": list(self.links.apart),
            "left_out": dict(self.left_out),
        }


def _columns(tables: Mapping[str, Inspection]) -> dict[str, Columns]:
    return {name: list(zip(found.profiles, found.guesses, strict=True)) for name, found in tables.items()}


def inspect_linked(paths: Sequence[str | Path], *, run: Run | None = None, **options: Any) -> LinkedInspection:
    """Look at several files, and find the keys between them."""
    run = started(run)
    named = {table_name(Path(path)): Path(path) for path in paths}
    if len(named) < len(paths):
        raise InputError("Two files have the same name.", "Tables are called after their files: rename one.")
    _refuse_parts(list(named.values()), options)
    tables = {name: inspect(path, run=run, **options) for name, path in named.items()}
    values: dict[tuple[str, str], pa.Array] = {}

    def values_of(table: str, column: str) -> pa.Array:
        if (table, column) not in values:
            with run.engine(open_source(named[table], **options), [column]) as engine:
                found = engine.values(column)["value"].combine_chunks()
            values[table, column] = found.filter(found.is_valid())
        return values[table, column]

    def shared(pointer: Pointer) -> float:
        own, keys = values_of(pointer.table, pointer.column), values_of(pointer.to_table, pointer.to_column)
        return float(pc.sum(pc.is_in(own, keys)).as_py() or 0) / max(len(own), 1)

    with run.stoppable():
        return LinkedInspection(tables, find_links(_columns(tables), shared))


def _refuse_parts(paths: Sequence[Path], options: Mapping[str, Any]) -> None:
    """A shell hands over every file of a pattern: parts of one table are not tables that are linked."""
    names = {open_source(path, **options).names for path in paths}
    if len(paths) > 1 and len(names) == 1:
        raise InputError(
            "These files have the same columns: they are parts of one table, not tables that point to each other.",
            'Name their folder, or put the pattern in quotation marks: "visits/*.csv".',
        )


def table_name(path: Path) -> str:
    """What a table is called after its file: `conditions.csv.gz` is `conditions`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", path.name.partition(".")[0]) or "table"


def write_linked_policy(found: LinkedInspection, paths: Sequence[Path], out: Path) -> None:
    """A linked starter policy beside which the data are named relatively; never over a file that is there."""
    named = {table_name(path): os.path.relpath(path, out.parent) for path in paths}
    read = {name: found.tables[name].read for name in named}
    write_starter(
        lambda: found.policy({n: {"path": path, **read[n]} if read[n] else path for n, path in named.items()}), out
    )


def write_policy(found: Inspection, data: Path, out: Path) -> None:
    """A starter policy beside which the data are named relatively; never over a file that is there."""
    write_starter(lambda: found.policy(os.path.relpath(data, out.parent)), out)


def write_starter(policy: Callable[[], str], out: Path) -> None:
    """Write a starter policy whole, or say why not."""
    if out.exists():
        raise OutputError(f"'{out}' already exists.", "Name a new file, or remove that one first.")
    text = policy()
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
    known: Callable[[Sequence[ColumnProfile]], Sequence[Guess]] | None = None,
    **options: Any,
) -> Inspection:
    """Look at a table: a path or a frame. `options` say how a file is read; `known` what columns are where nobody needs
    to guess.
    """
    run = started(run, limits=limits, progress=progress, cancelled=cancelled)
    run.step(Stage.READ)
    source = open_source(data, **options)
    with run.stoppable(), run.engine(source, source.names) as engine:
        profiles = []
        for number, name in enumerate(source.names):
            run.step(Stage.COUNT, number / len(source.names))
            profiles.append(engine.profile(name))
        guesses = known(profiles) if known is not None else _guessed(profiles, engine)
        quasi = [p.name for p, g in zip(profiles, guesses, strict=True) if g.role is Role.QUASI]
        read = {key: value for key, value in options.items() if value is not None and value != []}
        if read.get("header") is False:
            read = {**read, "columns": list(source.names)}
        words = _missing_words(profiles, guesses) if known is None else {}
        return Inspection(engine.rows, profiles, guesses, engine.unique_share(quasi), read, words)


def _missing_words(profiles: Sequence[ColumnProfile], guesses: Sequence[Guess]) -> dict[str, list[str]]:
    """By word the columns that have it. Names of people may look like one; what was only taken for a number of people
    because its values differ may be a measured one, once the word is out.
    """
    found: dict[str, list[str]] = {}
    for column, guessed in zip(profiles, guesses, strict=True):
        if guessed.role is not Role.IDENTIFIER or guessed.concept == "unique":
            for word in missing_words(column.sample):
                found.setdefault(word, []).append(column.name)
    return found


def _guessed(profiles: Sequence[ColumnProfile], engine: Engine) -> list[Guess]:
    single = one_subject([(p.name, with_code_tree(p, guess(p))) for p in profiles])
    return person_by_shape(
        list(zip(profiles, (found for _, found in single), strict=True)),
        lambda *names: len(engine.cells(names)),
    )
