"""A first look at a folder whose tables belong together: a FHIR export, or the tables of an OMOP database."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from medveil.app.inspect import Inspection, LinkedInspection, inspect, write_starter
from medveil.app.starting import started
from medveil.errors import InputError
from medveil.guessing import fhir_tables, omop_tables
from medveil.guessing.guess import Guess
from medveil.guessing.known_tables import KnownTable, known_guesses, known_links
from medveil.guessing.linked_policy import Starter
from medveil.hierarchy.concept_ancestor import ConceptAncestor
from medveil.run import Run
from medveil.sources import sources
from medveil.sources.fhir import fhir_files, kinds_of_resources
from medveil.sources.omop import omop_files
from medveil.sources.source import Source
from medveil.workspace import Workspace

_OMOP = (
    "CMS allows no cell of fewer than 11 people to be shown: concepts that fewer people have become their "
    "groups, or '*'. Declare another number where another rule holds."
)


@dataclass(frozen=True)
class Folder:
    """What a folder holds: the kind of its tables, how each is named beside it under `data:`, what its columns are, and
    which tables nobody knows.
    """

    type: str
    declared: Mapping[str, Mapping[str, Any]]
    known: Mapping[str, KnownTable]
    root: str
    starter: Starter
    left_out: tuple[str, ...]


def inspect_folder(folder: Path, *, run: Run | None = None, **options: Any) -> LinkedInspection:
    """Look at every table of a folder that a published model describes. Of the `options` of files a folder has none."""
    run = started(run)
    if any(value is not None and value != [] for value in options.values()):
        raise InputError(
            "A folder of FHIR or OMOP is read as its model says, without further options.",
            "Leave them out; 'missing:' can be written under 'data:' of the policy.",
        )
    found = _look(folder)
    here = frozenset(found.known)
    tables: dict[str, Inspection] = {}
    for name, declared in found.declared.items():
        source = _open(found.type, folder, declared)
        tables[name] = inspect(source, run=run, known=partial(known_guesses, found.known[name], here))
    least = found.starter.k
    few = [name for name, table in tables.items() if name != found.root and _people(table, found, name) < least]
    left_out = {
        **dict.fromkeys(found.left_out, "nothing is known of the columns"),
        **dict.fromkeys(few, f"fewer than {least} people have records there"),
    }
    known = {name: table for name, table in found.known.items() if name not in few}
    kept = {
        name: replace(table, guesses=known_guesses(known[name], frozenset(known), table.profiles))
        for name, table in tables.items()
        if name in known
    }
    return LinkedInspection(kept, known_links(known, found.root), found.starter, left_out)


def _people(table: Inspection, found: Folder, name: str) -> int:
    """How many people have records in a table."""
    column = next(column for column, target in found.known[name].points.items() if target == found.root)
    return next((profile.distinct for profile in table.profiles if profile.name == column), 0)


def _open(kind: str, folder: Path, declared: Mapping[str, Any]) -> Source:
    return sources()[kind].model_validate({**declared, "path": str(folder.absolute())}).open(Workspace())


def write_folder_policy(found: LinkedInspection, folder: Path, out: Path) -> None:
    """A linked starter policy beside which the folder is named relatively; never over a file that is there."""
    write_starter(lambda: folder_policy(found, folder, Path(os.path.relpath(folder, out.parent)))[0], out)


def folder_policy(found: LinkedInspection, folder: Path, place: Path) -> tuple[str, dict[str, Any]]:
    """A linked starter policy that names the folder as `place`, and what it says of where each table is."""
    looked = _look(folder)
    data = {name: {"type": looked.type, "path": place.as_posix(), **looked.declared[name]} for name in found.tables}
    tables = {
        name: replace(table, guesses=[_beside(guess, place) for guess in table.guesses])
        for name, table in found.tables.items()
    }
    return replace(found, tables=tables).policy(data), data


def holds_known_tables(folder: Path) -> bool:
    """Whether a folder holds FHIR, or the tables of OMOP."""
    if omop_tables.PEOPLE in omop_files(folder):
        return True
    try:
        return bool(fhir_files(folder))
    except InputError:
        return False


def _beside(guess: Guess, place: Path) -> Guess:
    """A guess whose hierarchy's file is named from where the policy is."""
    tree = guess.hierarchy
    if not isinstance(tree, ConceptAncestor):
        return guess
    return replace(guess, hierarchy=ConceptAncestor(path=place / tree.path.name))


def _look(folder: Path) -> Folder:
    tables = omop_files(folder)
    if omop_tables.PEOPLE in tables:
        return _omop(folder, tables)
    try:
        files = fhir_files(folder)
    except InputError:
        raise InputError(
            f"'{folder.name}' holds neither FHIR (NDJSON or JSON files) nor the tables of OMOP (person.csv).",
            "Name the files of other tables one by one.",
        ) from None
    return _fhir(folder, kinds_of_resources(files))


def _fhir(folder: Path, kinds: frozenset[str]) -> Folder:
    known = {kind: table for kind, table in fhir_tables.TABLES.items() if kind in kinds}
    if fhir_tables.PEOPLE not in known:
        raise InputError(
            f"'{folder.name}' holds no patients.", "Name a folder whose files hold resources of the type Patient."
        )
    declared = {kind: {"view": kind} for kind in known}
    left_out = tuple(sorted(kinds - known.keys()))
    return Folder("fhir", declared, known, fhir_tables.PEOPLE, Starter(output="fhir"), left_out)


def _omop(folder: Path, files: Mapping[str, Path]) -> Folder:
    today = dt.datetime.now(dt.UTC).date()
    tree = ConceptAncestor(path=files[omop_tables.TREE]) if omop_tables.TREE in files else None
    declared = {name: {"table": name} for name in (omop_tables.PEOPLE, *omop_tables.EVENTS) if name in files}
    known = {
        name: omop_tables.known_table(name, _open("omop", folder, how).names, today, tree)
        for name, how in declared.items()
    }
    starter = Starter(k=omop_tables.LEAST, m=1, why=_OMOP)
    left_out = tuple(name for name in files if name not in known and name != omop_tables.TREE)
    return Folder("omop", declared, known, omop_tables.PEOPLE, starter, left_out)
