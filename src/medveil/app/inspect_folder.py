"""A first look at a folder whose tables belong together: a FHIR export, or the tables of an OMOP database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from medveil.app.inspect import Inspection, LinkedInspection, inspect, write_starter
from medveil.app.starting import started
from medveil.errors import InputError
from medveil.guessing import fhir_tables
from medveil.guessing.known_tables import KnownTable, known_guesses, known_links
from medveil.guessing.linked_policy import Starter
from medveil.run import Run
from medveil.sources.fhir import FhirSpec, fhir_files, kinds_of_resources
from medveil.workspace import Workspace


@dataclass(frozen=True)
class Folder:
    """What a folder holds: how each table is named under `data:` but for the folder itself, what its columns are, and
    which tables nobody knows.
    """

    declared: Mapping[str, Mapping[str, Any]]
    known: Mapping[str, KnownTable]
    root: str
    starter: Starter
    left_out: tuple[str, ...]


def inspect_folder(folder: Path, *, run: Run | None = None) -> LinkedInspection:
    """Look at every table of a folder that a published model describes."""
    run = started(run)
    found = _fhir(folder)
    here = frozenset(found.known)
    tables: dict[str, Inspection] = {}
    for name, declared in found.declared.items():
        source = FhirSpec.model_validate({**declared, "path": str(folder.absolute())}).open(Workspace())
        tables[name] = inspect(source, run=run, known=partial(known_guesses, found.known[name], here))
    return LinkedInspection(tables, known_links(found.known, found.root), found.starter, found.left_out)


def write_folder_policy(found: LinkedInspection, folder: Path, out: Path) -> None:
    """A linked starter policy beside which the folder is named relatively; never over a file that is there."""
    place = os.path.relpath(folder, out.parent)
    declared = _fhir(folder).declared
    write_starter(
        lambda: found.policy({name: {"type": "fhir", "path": place, **declared[name]} for name in declared}), out
    )


def _fhir(folder: Path) -> Folder:
    kinds = kinds_of_resources(fhir_files(folder))
    known = {kind: table for kind, table in fhir_tables.TABLES.items() if kind in kinds}
    if fhir_tables.PEOPLE not in known:
        raise InputError(
            f"'{folder.name}' holds no patients.", "Name a folder whose files hold resources of the type Patient."
        )
    return Folder(
        {kind: {"view": kind} for kind in known},
        known,
        fhir_tables.PEOPLE,
        Starter(output="fhir"),
        tuple(sorted(kinds - known.keys())),
    )
