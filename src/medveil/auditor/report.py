"""What an audit found, told without a word that the manifest chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from medveil.auditor.context import Finding
from medveil.release.claim import Basis
from medveil.release.status import Status, status_text


@dataclass(frozen=True)
class ClaimFinding:
    """A claim of the manifest and what the auditor found."""

    claim: Mapping[str, Any]
    finding: Finding

    @property
    def proved(self) -> bool:
        """Whether the claim holds: counted again, or resting on a proof where nothing can be counted."""
        return self.finding.holds is True or (self.finding.by_proof and self.claim["basis"] == Basis.PROOF.value)

    @property
    def basis(self) -> Basis:
        """On what the finding rests, whatever the manifest says."""
        if not self.finding.checked:
            return Basis.NOT_CHECKED
        if self.finding.by_proof:
            return Basis.PROOF
        return Basis.SOURCE if self.finding.from_source else Basis.FILES


@dataclass(frozen=True)
class AuditReport:
    """What an audit found: a finding for each claim, in the manifest's order, and what is wrong with the files.

    ok: the files are right and every claim is proved; a claim that could not be checked is not.
    refuted: something is wrong, as opposed to not proved for want of the source or of a check.
    told: what the manifest says that the release is fit for, None where medveil says no such thing of any release.
    unchecked: what no claim says and nobody looked at: how far the release is true to its source.
    uncovered: what no claim covers of a release that links records, with the share of people whom it singles out.
    """

    findings: tuple[ClaimFinding, ...]
    problems: tuple[str, ...]
    told: Status | None
    unchecked: tuple[str, ...] = ()
    uncovered: tuple[Mapping[str, Any], ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems and all(found.proved for found in self.findings)

    @property
    def refuted(self) -> bool:
        return bool(self.problems) or any(found.finding.holds is False for found in self.findings)

    @property
    def not_ours(self) -> tuple[ClaimFinding, ...]:
        """The claims for which medveil has no check."""
        return tuple(found for found in self.findings if not found.finding.checked)

    @property
    def publishable(self) -> bool:
        """Whether everything that medveil can check holds."""
        return not self.refuted and all(found.proved or not found.finding.checked for found in self.findings)

    @property
    def status(self) -> str | None:
        """What the release is fit for, with whether its claims were checked, which the manifest has no say in."""
        if self.told is None:
            return None
        return status_text(self.told, unchecked=len(self.not_ours), claims=len(self.findings))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, with the verdict."""
        return {
            "ok": self.ok,
            "refuted": self.refuted,
            "status": self.status,
            "findings": [
                {**asdict(found), "proved": found.proved, "basis": found.basis.value} for found in self.findings
            ],
            "problems": list(self.problems),
            "unchecked": list(self.unchecked),
            "uncovered": [dict(left) for left in self.uncovered],
        }
