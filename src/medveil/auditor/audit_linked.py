"""Prove every claim of a linked release again from its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from medveil.auditor.changed import windows
from medveil.auditor.companions import companion_problems
from medveil.auditor.context import Finding, Refuted
from medveil.auditor.door import Unreadable
from medveil.auditor.fhir import ENDING as FHIR_ENDING
from medveil.auditor.fhir import fhir_problems
from medveil.auditor.files import check_shape, column_problems, file_problems
from medveil.auditor.finding import find
from medveil.auditor.in_process import proving
from medveil.auditor.linked import LinkedRelease
from medveil.auditor.linked_truth import LinkedTruth
from medveil.auditor.order import descents
from medveil.auditor.published import blank_lines
from medveil.auditor.report import AuditReport, ClaimFinding
from medveil.auditor.truth import Truth
from medveil.errors import InputError
from medveil.release.manifest import Manifest
from medveil.release.status import Status, read_status
from medveil.sources.source import Source
from medveil.workspace import Workspace

_NO_SOURCE = "whether the records are those of the original, which needs --source POLICY"
_NO_KEY = (
    "whether the records are those of the original: needs the key of the pseudonyms, the steward's own or internal's"
)


def audit_linked(
    folder: Path,
    manifest: Manifest,
    sources: Mapping[str, Source] | None,
    *,
    listed: bool,
    secret: bytes | None,
    base: Workspace,
    places: Mapping[str, Path],
    spill: Path,
    step: Callable[[float], None],
    interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]],
    memory: str | None,
) -> AuditReport:
    """The claims of a linked release; `sources` are its tables, by name."""
    flats = {name: _flat(manifest, name) for name in manifest.tables}
    for flat in flats.values():
        check_shape(flat)
    if len(windows([attribute for flat in flats.values() for attribute in flat.attributes])) > 1:
        raise InputError("The manifest is not one that medveil wrote.", "Was it changed by hand?")
    status = read_status(manifest.status)
    told = {table["file"] for table in manifest.tables.values()}
    told |= {name for name in manifest.files if name.endswith(FHIR_ENDING)}  # looked at with their tables
    problems = [
        *_status_problems(status),
        *file_problems(folder, manifest, listed=listed),
        *companion_problems(manifest, told),
    ]
    with proving(spill, interrupting, memory) as connection:
        try:
            release = LinkedRelease(connection, folder, manifest)
            unfit = [
                f"'{name}': {problem}"
                for name, flat in flats.items()
                for problem in column_problems(flat, release.files[name].names)
            ]
        except Unreadable:
            unfit = ["a file cannot be read"]
        except duckdb.OutOfMemoryException:
            raise
        except (duckdb.Error, KeyError, ValueError):
            unfit = ["the files are not what the manifest declares"]
        if unfit:
            none = Finding(None, False, "the release is not what the manifest declares")
            return AuditReport(tuple(ClaimFinding(c, none) for c in manifest.claims), (*problems, *unfit), status)
        problems += _layout(connection, release, manifest)
        problems += release.key_problems()
        problems += fhir_problems(release, folder, manifest)
        truth = Truth(unchecked=(_NO_SOURCE,))
        if sources is not None:
            truth = _truth(release, sources, secret, folder, base, places, spill)
        evidence = release.evidence(folder, base=base, places=places)
        findings = []
        for number, claim in enumerate(manifest.claims):
            step(number / len(manifest.claims))
            findings.append(ClaimFinding(claim, find(evidence, claim, truth)))
        left = release.uncovered()
    if manifest.uncovered and [dict(one) for one in manifest.uncovered] != left:
        problems.append("the manifest gives other shares of people singled out by what no claim covers")
    return AuditReport(tuple(findings), (*problems, *truth.problems), status, truth.unchecked, tuple(left))


def _flat(manifest: Manifest, name: str) -> Manifest:
    """A table of the manifest as a release of its own, for the checks of its shape."""
    table = manifest.tables[name]
    told = isinstance(table, Mapping) and {"file", "rows", "key", "foreign", "attributes"} <= table.keys()
    if not told or not isinstance(table["foreign"], Mapping) or not isinstance(table["key"], str | None):
        raise InputError("The manifest is not one that medveil wrote.", "Was it changed by hand?")
    targets = [*table["foreign"].values()]
    if not all(isinstance(t, str) and t.partition(".")[0] in manifest.tables for t in targets):
        raise InputError("The manifest is not one that medveil wrote.", "Was it changed by hand?")
    return Manifest(
        status=manifest.status,
        method=manifest.method,
        claims=manifest.claims,
        rows=table["rows"],
        attributes=table["attributes"],
        release=table["file"],
        files=manifest.files,
    )


def _status_problems(status: Status | None) -> list[str]:
    if status is None:
        return ["the manifest gives the release a status that medveil does not"]
    return (
        ["the release publishes pseudonyms, and the manifest does not call it pseudonymous"]
        if status is Status.FOR_PUBLICATION
        else []
    )


def _layout(connection: duckdb.DuckDBPyConnection, release: LinkedRelease, manifest: Manifest) -> list[str]:
    """Whether rows stand in an order that says nothing, and are as many as told."""
    problems = []
    for table in release.tables.values():
        file = release.files[table.name]
        if blank_lines(file):
            problems.append(f"'{table.name}' has blank lines, which readers of CSV files skip")
        fallen = descents(connection, file)
        if fallen:
            problems.append(f"'{table.name}': {fallen:,} rows do not stand in the order of what they publish")
        rows = release.count(table)
        if table.content["rows"].get("published") != rows:
            problems.append(f"'{table.name}' has {rows:,} rows, which is not what the manifest says")
    told, people = manifest.rows, release.count(release.root)
    if told.get("published") != people or told.get("input", 0) - told.get("suppressed", 0) != people:
        problems.append(f"the release has {people:,} people, which is not what the manifest says")
    return problems


def _truth(
    release: LinkedRelease,
    sources: Mapping[str, Source],
    secret: bytes | None,
    folder: Path,
    base: Workspace,
    places: Mapping[str, Path],
    spill: Path,
) -> Truth:
    if secret is None:
        return Truth(unchecked=(_NO_KEY,))
    if not release.tables.keys() <= sources.keys():
        return Truth(("the source lacks a table of the release",), misread=True)
    try:
        return LinkedTruth(release, sources, secret, folder, base, places, spill).compare()
    except Refuted as refuted:
        return Truth((str(refuted),), misread=True)
    except duckdb.OutOfMemoryException:
        raise
    except (InputError, duckdb.Error, pq.lib.ArrowException):
        return Truth(("the source does not fit the manifest",), misread=True)
