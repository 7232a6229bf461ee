"""Prove every claim of a release again from what was written."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from medveil.auditor import checks
from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted
from medveil.auditor.evidence import Evidence
from medveil.auditor.files import check_shape, column_problems, file_problems, row_problems
from medveil.auditor.published import Unreadable, open_release
from medveil.auditor.truth import Truth, compare_with_source
from medveil.registry import discover
from medveil.release.draft import Basis
from medveil.release.manifest import Manifest, read_manifest
from medveil.table.source import Source


@dataclass(frozen=True)
class ClaimFinding:
    """A claim of the manifest and what the auditor found."""

    claim: Mapping[str, Any]
    finding: Finding

    @property
    def proved(self) -> bool:
        """Whether the claim holds: counted again, or resting on a proof where nothing can be counted."""
        return self.finding.holds is True or (self.finding.by_proof and self.claim["basis"] == Basis.PROOF.value)


@dataclass(frozen=True)
class AuditReport:
    """What an audit found: a finding for each claim, in the manifest's order, and what is wrong with the files.

    ok: the files are right and every claim is proved; a claim that could not be checked is not.
    refuted: something is wrong, as opposed to not proved for want of the source.
    status: what the manifest says that the release is fit for; claims may hold and yet promise too little.
    unchecked: what no claim says and nobody looked at: how far the release is true to its source.
    """

    findings: tuple[ClaimFinding, ...]
    problems: tuple[str, ...]
    status: str
    unchecked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems and all(found.proved for found in self.findings)

    @property
    def refuted(self) -> bool:
        return bool(self.problems) or any(found.finding.holds is False for found in self.findings)

    def told(self) -> dict[str, Any]:
        """The same as plain data, with the verdict."""
        return {"ok": self.ok, "refuted": self.refuted, **asdict(self)}


def audit(
    folder: Path,
    source: Source | None = None,
    manifest: Manifest | None = None,
    *,
    base: Path | None = None,
    places: Mapping[str, Path] | None = None,
) -> AuditReport:
    """Prove the claims of the release in `folder` again.

    `source` is what the release was made from: claims about the input or about people need it. `manifest` stands in
    for the one in the folder while a release is being made and its files are not listed yet. `base` is where relative
    paths in claims and hierarchies start: the policy's folder; that of the source where left out. `places` are where
    files are that were named by a place of the steward's machine, which the manifest does not tell.
    """
    listed = manifest is None
    manifest = manifest or read_manifest(folder)
    check_shape(manifest)
    problems = file_problems(folder, manifest, listed=listed or bool(manifest.files))
    base = base or getattr(source, "path", folder / "any").parent
    with tempfile.TemporaryDirectory(prefix="medveil-") as spill:
        config: dict[str, Any] = {"temp_directory": spill, "autoinstall_known_extensions": "false"}
        with duckdb.connect(config=config) as connection:
            try:
                release = open_release(folder / manifest.release)
                unfit = column_problems(manifest, release.names)
                evidence = None if unfit else Evidence(connection, folder, manifest, release, source, base, places)
            except Unreadable:
                unfit, evidence = [f"the file '{manifest.release}' cannot be read"], None
            if evidence is None:
                none = Finding(None, False, "the release is not what the manifest declares")
                failing = tuple(ClaimFinding(claim, none) for claim in manifest.claims)
                return AuditReport(failing, (*problems, *unfit), manifest.status)
            problems += row_problems(manifest, evidence.rows, evidence.stars)
            truth = _truth(evidence)
            known = discover(checks, Check)  # type: ignore[type-abstract]
            findings = tuple(
                ClaimFinding(claim, _find(evidence, claim, known.get(claim["model"]))) for claim in manifest.claims
            )
    return AuditReport(findings, (*problems, *truth.problems), manifest.status, truth.unchecked)


def _truth(evidence: Evidence) -> Truth:
    told = evidence.manifest.rows.get("input")
    if evidence.source is None:
        return compare_with_source(evidence)
    try:
        evidence.need_origin()
    except Refuted as refuted:
        return Truth((str(refuted),))
    if told is not None and told != evidence.origin_rows:
        return Truth((f"the source has {evidence.origin_rows:,} records where the manifest tells {told:,}",))
    return compare_with_source(evidence)


def _find(evidence: Evidence, claim: Mapping[str, Any], check: type[Check] | None) -> Finding:
    if evidence.records == 0 and (check is None or check.about_records):
        return Finding(None, False, "the release holds no records, and so satisfies nothing")
    if check is None:
        return Finding(None, False, f"there is no check for '{claim['model']}'")
    try:
        finding = check().check(evidence, claim)
    except CannotTell as missing:
        return Finding(None, None, str(missing))
    except Refuted as refuted:
        return Finding(None, False, str(refuted))
    stated = claim.get("achieved")
    if finding.achieved is not None and isinstance(stated, Mapping) and not _same(stated, finding.achieved):
        return Finding(finding.achieved, False, "the manifest states other figures than those achieved")
    return finding


def _same(stated: Mapping[str, Any], achieved: Mapping[str, Any]) -> bool:
    return stated.keys() == achieved.keys() and all(_close(stated[key], achieved[key]) for key in stated)


def _close(stated: Any, achieved: Any) -> bool:
    if isinstance(stated, int | float) and isinstance(achieved, int | float):
        return math.isclose(stated, achieved, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(stated == achieved)
