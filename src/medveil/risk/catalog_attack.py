"""The catalog of counterfeits, attacked: who holds release and catalog looks for records that are not real."""

from __future__ import annotations

from typing import ClassVar

from medveil.release.audit import audit
from medveil.release.manifest import read_manifest
from medveil.risk.risk import Comparison, Finding, Risk, Skipped

CLAIM = "counterfeit-catalog"


class CatalogAttack(Risk):
    """How sure an attacker who knows the method can be that a published record is a counterfeit.

    The attacker weighs all placements of all counterfeits that release and catalog allow jointly, and points at the
    record that is a counterfeit in most of them. The guesser points at any record. `told`: counterfeits that every
    placement has in the same place; `least real`: the fewest real records of a class in some placement. The auditor's
    attack, run again on the files; it is exact but for very large groups.

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing, Lemma 1.
    """

    name: ClassVar[str] = "catalog-attack"
    title: ClassVar[str] = "Attack: the catalog of counterfeits"
    cheap: ClassVar[bool] = False

    def assess(self, comparison: Comparison) -> Finding | Skipped:
        none = Skipped("there is no catalog of counterfeits")
        if comparison.folder is None or not (comparison.folder / "manifest.json").is_file():
            return none
        manifest = read_manifest(comparison.folder)
        if not any(claim["model"] == CLAIM for claim in manifest.claims):
            return none
        findings = [found.finding for found in audit(comparison.folder).findings if found.claim["model"] == CLAIM]
        achieved = findings[0].achieved
        if achieved is None:
            return Skipped(findings[0].note or "the catalog cannot be weighed")
        share = achieved["counterfeits"] / max(manifest.rows["published"], 1)
        parts = {
            "told": float(achieved["told"]),
            "least real": float(achieved["least_real"]),
            "share certainly real": float(achieved["certainly_real"]),
        }
        return Finding(float(achieved["posterior"]), share, parts=parts)
