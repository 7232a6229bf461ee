"""What is found of one claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import duckdb

from medveil.auditor.context import CannotTell, Check, Finding, NotOurs, Refuted
from medveil.auditor.counterfeits import WithCounterfeits
from medveil.auditor.evidence import Evidence
from medveil.auditor.figures import same_figures
from medveil.auditor.groups import InGroups
from medveil.auditor.known import CHECKS
from medveil.auditor.models import MODELS
from medveil.auditor.truth import Truth
from medveil.release.claim import Counting
from medveil.release.status import NOT_CHECKED

UNFIT = (duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException, duckdb.OutOfRangeException)
"""What a query raises that was made of a manifest which does not fit its files."""


def find(evidence: Evidence, claim: Mapping[str, Any], truth: Truth) -> Finding:
    """Check a claim, whatever it is about."""
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
    except UNFIT:
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
