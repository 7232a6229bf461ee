"""The European profiles, as far as the files of a release show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Refuted
from medveil.auditor.evidence import Evidence
from medveil.guessing.name import Name
from medveil.guessing.values import PATTERNS
from medveil.release.status import Status, read_status
from medveil.table.labels import ANYTHING

DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{4}")
FLAGS = frozenset({"0", "1", "y", "n", "yes", "no", "true", "false"})
ABOUT_SETS = "km-anonymity"
TERMS = frozenset({"faults"})


class GdprResearchCheck(Check):
    """Research under the GDPR."""

    name: ClassVar[str] = "gdpr-research"
    terms: ClassVar[frozenset[str]] = TERMS

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        return _found(evidence, claim)


class EhdsCheck(Check):
    """Secondary use under the European Health Data Space."""

    name: ClassVar[str] = "ehds"
    terms: ClassVar[frozenset[str]] = TERMS

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        return _found(evidence, claim)


def _found(evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
    """No published column reads like something that names people. An anonymous release also has no pseudonyms, no
    shifted dates and none to the day, a claim that hides everybody among enough people, and one for every sensitive
    attribute; a pseudonymous one is called fit for a secure environment only. Nobody can attest that pseudonyms and
    shifted dates are none; of other columns that a person attests nothing is said.
    """
    told = claim["parameters"]
    attested, people = told.get("attested"), told.get("people")
    if claim["required"].get("faults") != 0 or told.get("format") not in {"anonymous", "pseudonymous"}:
        raise Refuted("the claim does not ask for a release without faults")
    if not isinstance(attested, Mapping) or not isinstance(people, int):
        raise Refuted("the claim does not say what people attest, and how many hide each other")
    anonymous = told["format"] == "anonymous"
    faults = list(_claims(evidence, people) if anonymous else _status(evidence))
    for name, attribute, shown in evidence.shown(()):
        if name in attested and not _links(attribute):
            continue
        values = [value for value in shown if value != ANYTHING]
        own = str(attribute["name"])
        faults += [f"'{name}' {fault}" for fault in _faults(own, attribute, values, anonymous=anonymous)]
    return Finding({"faults": len(faults)}, not faults, "; ".join(faults))


def _status(evidence: Evidence) -> Iterator[str]:
    if read_status(evidence.manifest.status) not in {Status.SECURE_ENVIRONMENT, Status.REPEATABLE}:
        yield "the manifest does not call the release fit for a secure environment only"


def _claims(evidence: Evidence, people: int) -> Iterator[str]:
    """That the other claims, which are proved by themselves, hide everybody and every sensitive attribute."""
    if read_status(evidence.manifest.status) is Status.SECURE_ENVIRONMENT:
        yield "the manifest calls an anonymous release fit for a secure environment only"
    claims = evidence.manifest.claims
    sizes = [c["required"].get("k") for c in claims if c["on"] is None and c["model"] != ABOUT_SETS]
    if not any(isinstance(size, int) and size >= people for size in sizes):
        yield f"no claim hides everybody among {people} people"
    guarded = {c.get("attribute") for c in claims}
    for attribute in evidence.manifest.attributes:
        if attribute["role"] == "sensitive" and attribute["name"] not in guarded:
            yield f"no claim is about '{attribute['name']}', which is sensitive"


def _links(attribute: Mapping[str, Any]) -> bool:
    """Whether a column links what is published of a person, by a pseudonym or by one offset of all dates."""
    return attribute["role"] == "key" or (attribute.get("change") or {}).get("kind") == "shift"


def _faults(name: str, attribute: Mapping[str, Any], values: Sequence[str], *, anonymous: bool) -> Iterator[str]:
    change = (attribute.get("change") or {}).get("kind")
    if _links(attribute):
        if anonymous:
            yield "holds pseudonyms" if attribute["role"] == "key" else "holds shifted dates"
        return
    words = Name(name)
    if change is None and words.identifier is not None and not {value.lower() for value in values} <= FLAGS:
        yield f"is called like {words.identifier.noun}"
    found = {pattern.noun for pattern in PATTERNS if pattern.strong and any(map(pattern.fits, values))}
    yield from (f"holds {noun}" for noun in sorted(found))
    if anonymous and any(DAY.search(value) for value in values):
        yield "holds dates to the day"
