"""Prove every claim of a release again from what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from medveil.auditor.changed import ChangedSource, SourceTable, needs_secret
from medveil.auditor.companions import companion_problems
from medveil.auditor.context import Finding, Refuted
from medveil.auditor.copies import copy_problems
from medveil.auditor.door import Door, OpensDoor, Unreadable
from medveil.auditor.evidence import Evidence
from medveil.auditor.files import check_shape, column_problems, file_problems, row_problems
from medveil.auditor.finding import UNFIT, find
from medveil.auditor.in_process import file_door
from medveil.auditor.report import AuditReport, ClaimFinding
from medveil.auditor.truth import Truth, compare_with_source, misread_as
from medveil.errors import InputError
from medveil.release.manifest import Manifest, read_manifest
from medveil.release.status import Status, read_status
from medveil.sources.source import Source
from medveil.working_folder import WorkingFolder
from medveil.workspace import Workspace

_NO_KEY = (
    "whether the records are those of the original: needs the key of the pseudonyms, the steward's own or internal's"
)


def audit(
    folder: Path,
    source: Source | Mapping[str, Source] | None = None,
    manifest: Manifest | None = None,
    *,
    base: Workspace | None = None,
    places: Mapping[str, Path] | None = None,
    secret: bytes | None = None,
    step: Callable[[float], None] = lambda _share: None,
    interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]] = nullcontext,
    memory: str | None = None,
    open_door: OpensDoor | None = None,
) -> AuditReport:
    """Prove the claims of the release in `folder` again.

    `source` is what the release was made from: claims about the input or about people need it. `manifest` stands in
    for the one in the folder while a release is being made and its files are not listed yet. `base` says where paths
    in claims and hierarchies lead: the policy's folder, or that of the source. `places` are where
    files are that were named by a place of the steward's machine, which the manifest does not give.
    `secret` is the key of pseudonyms and offsets, without which columns that were made with it cannot be compared.
    `step` is told the share of the claims that is done; within `interrupting`, what is given to it stops all counting.
    `memory` is how much of it counting may take, such as `4GB`.
    `open_door` reaches the rows, where they are not files of this machine.
    """
    listed = manifest is None
    manifest = manifest or read_manifest(folder)
    if manifest.tables or isinstance(source, Mapping):
        return _audit_tables(
            folder, manifest, source, listed=listed, base=base, places=places, secret=secret, step=step,
            interrupting=interrupting, memory=memory,
        )  # fmt: skip
    check_shape(manifest)
    problems = [
        *_status_problems(manifest),
        *file_problems(folder, manifest, listed=listed or bool(manifest.files)),
        *companion_problems(manifest),
    ]
    named = source.path if source is not None else None
    base = base or Workspace((named or folder / "any").parent)
    without_key = source is not None and secret is None and needs_secret(manifest.attributes)
    try:
        with (
            WorkingFolder() as working,
            (open_door or partial(file_door, memory=memory))(folder, manifest, interrupting) as door,
        ):
            source = None if without_key else _changed(door, manifest, source, secret, working.path)
            unfit = column_problems(manifest, door.names)
            if unfit:
                return _unfit(manifest, (*problems, *unfit))
            evidence = Evidence(door, folder, manifest, source, base, places)
            problems += row_problems(manifest, evidence.rows, evidence.stars)
            problems += _layout_problems(evidence, door)
            problems += copy_problems(evidence)
            truth = _truth(evidence)
            findings = []
            for number, claim in enumerate(manifest.claims):
                step(number / len(manifest.claims))
                findings.append(ClaimFinding(claim, find(evidence, claim, truth)))
    except Unreadable:
        return _unfit(manifest, (*problems, f"the file '{manifest.release}' cannot be read"))
    unchecked = (*truth.unchecked, *([_NO_KEY] if without_key else ()))
    return AuditReport(tuple(findings), (*problems, *truth.problems), read_status(manifest.status), unchecked)


def _audit_tables(
    folder: Path,
    manifest: Manifest,
    source: Source | Mapping[str, Source] | None,
    *,
    base: Workspace | None,
    **given: Any,
) -> AuditReport:
    if not manifest.tables or not isinstance(source, Mapping | None):
        raise InputError(
            "The source is one table and the release is not, or the other way round.",
            "A linked release is audited with its policy: '--source POLICY'.",
        )
    from medveil.auditor.audit_linked import audit_linked  # noqa: PLC0415 - one table needs none of it

    check_shape(manifest)
    given["places"] = given["places"] or {}
    with WorkingFolder() as working:
        return audit_linked(folder, manifest, source, base=base or Workspace(folder), spill=working.path, **given)


def _changed(door: Door, manifest: Manifest, source: Source | None, secret: bytes | None, spill: Path) -> Source | None:
    """The source as its columns must be published, where some were changed."""
    if source is None or not any(attribute.get("change") for attribute in manifest.attributes):
        return source
    subject = manifest.subject
    shown = {attribute["name"]: attribute for attribute in manifest.attributes}
    kept = [attribute for attribute in manifest.attributes if not attribute.get("made")]
    person = shown[subject]["change"]["of"] if subject in shown else subject
    beside = (subject,) if subject is not None and subject not in shown else ()
    table = SourceTable(source, kept, person, beside=beside)
    return ChangedSource(door.connection, {"release": table}, secret, person or "", spill).write(
        "release", spill / "changed.parquet"
    )


def _unfit(manifest: Manifest, problems: tuple[str, ...]) -> AuditReport:
    """The report on files in which nothing can be counted."""
    none = Finding(None, False, "the release is not what the manifest declares")
    failing = tuple(ClaimFinding(claim, none) for claim in manifest.claims)
    return AuditReport(failing, problems, read_status(manifest.status))


def _status_problems(manifest: Manifest) -> list[str]:
    status = read_status(manifest.status)
    if status is None:
        return ["the manifest gives the release a status that medveil does not"]
    if status is Status.FOR_PUBLICATION and any(a["role"] in {"key", "date"} for a in manifest.attributes):
        return ["the release publishes pseudonyms or shifted dates, and the manifest does not call it pseudonymous"]
    return []


def _layout_problems(evidence: Evidence, door: Door) -> list[str]:
    """Whether readers get every row, and in an order that says nothing."""
    problems = []
    skipped = door.blank_lines()
    if skipped:
        problems.append(f"the release has {skipped:,} blank lines, which readers of CSV files skip")
    made = [a["name"] for a in evidence.manifest.attributes if a.get("made")]
    fallen = door.descents(made)
    if fallen:
        problems.append(f"{fallen:,} rows are not sorted by what they publish: their order may be the original's")
    return problems


def _truth(evidence: Evidence) -> Truth:
    told = evidence.manifest.rows.get("input")
    if evidence.source is None:
        return compare_with_source(evidence)
    try:
        evidence.need_origin()
        if told is not None and told != evidence.origin_rows:
            return Truth((f"the source has {evidence.origin_rows:,} records where the manifest says {told:,}",))
        truth = compare_with_source(evidence)
    except Refuted as refuted:
        truth = Truth((str(refuted),), misread=True)
    except UNFIT:
        truth = Truth(("the source does not fit the manifest",))
    cause = misread_as(evidence) if truth.problems else None
    return Truth((cause,), truth.unchecked, misread=True) if cause else truth
