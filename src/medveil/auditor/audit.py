"""Prove every claim of a release again from what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from medveil.auditor.changed import ChangedSource, SourceTable, needs_secret
from medveil.auditor.context import CannotTell, Check, Finding, NotOurs, Refuted
from medveil.auditor.copies import copy_problems
from medveil.auditor.counterfeits import WithCounterfeits
from medveil.auditor.door import Door, OpensDoor, Unreadable
from medveil.auditor.evidence import Evidence
from medveil.auditor.figures import same_figures
from medveil.auditor.files import check_shape, column_problems, file_problems, row_problems
from medveil.auditor.groups import InGroups
from medveil.auditor.in_process import file_door
from medveil.auditor.known import CHECKS
from medveil.auditor.models import MODELS
from medveil.auditor.report import AuditReport, ClaimFinding
from medveil.auditor.truth import Truth, compare_with_source, misread_as
from medveil.release.draft import Counting
from medveil.release.manifest import Manifest, read_manifest
from medveil.release.status import NOT_CHECKED, Status, read_status
from medveil.sources.source import Source
from medveil.working_folder import WorkingFolder
from medveil.workspace import Workspace

_UNFIT = (duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException, duckdb.OutOfRangeException)
"""What a query raises that was made of a manifest which does not fit its files."""
_NO_KEY = (
    "whether the records are those of the original: needs the key of the pseudonyms, the steward's own or internal's"
)


def audit(
    folder: Path,
    source: Source | None = None,
    manifest: Manifest | None = None,
    *,
    base: Workspace | None = None,
    places: Mapping[str, Path] | None = None,
    secret: bytes | None = None,
    step: Callable[[float], None] = lambda _share: None,
    interrupting: Callable[[Callable[[], None]], AbstractContextManager[object]] = nullcontext,
    open_door: OpensDoor = file_door,
) -> AuditReport:
    """Prove the claims of the release in `folder` again.

    `source` is what the release was made from: claims about the input or about people need it. `manifest` stands in
    for the one in the folder while a release is being made and its files are not listed yet. `base` says where paths
    in claims and hierarchies lead: the policy's folder, or that of the source. `places` are where
    files are that were named by a place of the steward's machine, which the manifest does not give.
    `secret` is the key of pseudonyms and offsets, without which columns that were made with it cannot be compared.
    `step` is told the share of the claims that is done; within `interrupting`, what is given to it stops all counting.
    `open_door` reaches the rows, where they are not files of this machine.
    """
    listed = manifest is None
    manifest = manifest or read_manifest(folder)
    check_shape(manifest)
    problems = [*_status_problems(manifest), *file_problems(folder, manifest, listed=listed or bool(manifest.files))]
    named = source.path if source is not None else None
    base = base or Workspace((named or folder / "any").parent)
    without_key = source is not None and secret is None and needs_secret(manifest.attributes)
    try:
        with (
            WorkingFolder() as working,
            open_door(folder, manifest, interrupting) as door,
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
                findings.append(ClaimFinding(claim, _find(evidence, claim, truth)))
    except Unreadable:
        return _unfit(manifest, (*problems, f"the file '{manifest.release}' cannot be read"))
    unchecked = (*truth.unchecked, *([_NO_KEY] if without_key else ()))
    return AuditReport(tuple(findings), (*problems, *truth.problems), read_status(manifest.status), unchecked)


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
    return ChangedSource(door.connection, {"release": table}, secret, person or "").write(
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
    if status is Status.FOR_PUBLICATION and any(attribute["role"] == "key" for attribute in manifest.attributes):
        return ["the release publishes pseudonyms, and the manifest does not call it pseudonymous"]
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
    except _UNFIT:
        truth = Truth(("the source does not fit the manifest",))
    cause = misread_as(evidence) if truth.problems else None
    return Truth((cause,), truth.unchecked, misread=True) if cause else truth


def _find(evidence: Evidence, claim: Mapping[str, Any], truth: Truth) -> Finding:
    check = CHECKS.get(claim["model"])
    if evidence.records == 0 and (check is None or check.about_records):
        return Finding(None, False, "the release holds no records, and so satisfies nothing")
    if check is None:
        return Finding(None, None, f"{NOT_CHECKED}, which has no check for such a claim", checked=False)
    evidence.consulted.clear()
    try:
        finding = _counted(check, evidence, claim)
    except NotOurs as foreign:
        return Finding(None, None, f"{NOT_CHECKED}: {foreign}", checked=False)
    except CannotTell as missing:
        finding = _in_records(check, evidence, claim, str(missing))
    except Refuted as refuted:
        finding = Finding(None, False, str(refuted))
    except _UNFIT:
        finding = Finding(None, False, "the claim does not fit the files")
    consulted = bool(evidence.consulted)
    if truth.misread and consulted:
        return Finding(None, None, "needs the source, read as it was when the release was made")
    stated = claim.get("achieved")
    if finding.achieved is not None and isinstance(stated, Mapping) and not same_figures(stated, finding.achieved):
        reading = "; is the source the original, read with the same --missing?" if consulted else ""
        found = f"{finding.note}; " if finding.holds is False and finding.note else ""
        note = f"{found}the manifest states figures other than those achieved{reading}"
        return Finding(finding.achieved, False, note)
    return replace(finding, from_source=consulted)


def _counted(check: type[Check], evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
    beyond = claim["required"].keys() - check.terms
    if beyond:
        raise Refuted("the claim requires more than its check looks at")
    counting = claim.get("counting")
    if counting is None:
        if check.name in MODELS and evidence.manifest.rows.get("counterfeit") and not evidence.counts_people:
            raise Refuted("counterfeits are among the records that it counts, which the claim does not say")
        return check().check(evidence, claim)
    ways = {Counting.WITH_COUNTERFEITS.value: WithCounterfeits.of, Counting.IN_GROUPS.value: InGroups.of}
    if counting not in ways or check.name not in MODELS:
        raise Refuted("the claim counts in a way that there is no check for")
    return check().check(ways[counting](evidence), claim)


def _in_records(check: type[Check], evidence: Evidence, claim: Mapping[str, Any], missing: str) -> Finding:
    """What can be said of a claim about people by somebody who may not know whose records are whose."""
    if evidence.counts_people:
        try:
            found = check().check(evidence.in_records(), claim)
        except (CannotTell, Refuted):
            return Finding(None, None, missing)
        if found.holds is False and check.bounded_by_records:
            return Finding(
                None,
                False,
                "even the records are too few, and there are no more people than records",
                in_records=found.achieved,
            )
        return Finding(None, None, f"people are not counted: {missing}", in_records=found.achieved)
    return Finding(None, None, missing)
