"""Which elements of FHIR R4 resources a release may hold: the allow-list by which resources are written.

What is not here is never written: names, addresses of streets, telephones, identifiers, narrative, notes, images, other
people, and extensions, of which race and ethnicity alone are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from medveil.errors import PolicyError

Elements = Mapping[str, "str | Elements"]

CODING: Elements = {"system": "uri", "code": "code"}
CONCEPT: Elements = {"coding[]": CODING}
PERIOD: Elements = {"start": "dateTime", "end": "dateTime"}
REFERENCE: Elements = {"reference": "reference"}
QUANTITY: Elements = {"value": "decimal", "unit": "string", "system": "uri", "code": "code"}
US_CORE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"
DERIVED = "urn:medveil:derived:"
"""Before the name of a column that was derived, such as an age: FHIR has no element for it."""
GENERALIZED = "urn:medveil:generalized"
"""The extension of an element whose published value does not fit its type: a group, such as `1970s` for a date."""
ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"

_SUBJECT: Elements = {"subject": REFERENCE, "encounter": REFERENCE}
_ANNOTATED: Elements = {"status": "code", "category[]": CONCEPT, "code": CONCEPT}

ALLOWED: Mapping[str, Elements] = {
    "Patient": {
        "id": "id",
        "active": "boolean",
        "gender": "code",
        "birthDate": "date",
        "deceasedBoolean": "boolean",
        "deceasedDateTime": "dateTime",
        "maritalStatus": CONCEPT,
        "address[]": {"city": "string", "state": "string", "postalCode": "string", "country": "string"},
    },
    "Encounter": {
        "id": "id",
        "subject": REFERENCE,
        "status": "code",
        "class": CODING,
        "type[]": CONCEPT,
        "serviceType": CONCEPT,
        "priority": CONCEPT,
        "period": PERIOD,
        "reasonCode[]": CONCEPT,
    },
    "Condition": {
        "id": "id",
        **_SUBJECT,
        "clinicalStatus": CONCEPT,
        "verificationStatus": CONCEPT,
        "category[]": CONCEPT,
        "severity": CONCEPT,
        "code": CONCEPT,
        "bodySite[]": CONCEPT,
        "onsetDateTime": "dateTime",
        "onsetPeriod": PERIOD,
        "abatementDateTime": "dateTime",
        "abatementPeriod": PERIOD,
        "recordedDate": "dateTime",
    },
    "Observation": {
        "id": "id",
        **_SUBJECT,
        **_ANNOTATED,
        "effectiveDateTime": "dateTime",
        "effectivePeriod": PERIOD,
        "valueQuantity": QUANTITY,
        "valueCodeableConcept": CONCEPT,
        "valueBoolean": "boolean",
        "valueInteger": "integer",
        "interpretation[]": CONCEPT,
        "bodySite": CONCEPT,
        "method": CONCEPT,
    },
    "MedicationRequest": {
        "id": "id",
        **_SUBJECT,
        "status": "code",
        "intent": "code",
        "category[]": CONCEPT,
        "priority": "code",
        "medicationCodeableConcept": CONCEPT,
        "authoredOn": "dateTime",
        "reasonCode[]": CONCEPT,
    },
    "Procedure": {
        "id": "id",
        **_SUBJECT,
        "status": "code",
        "category": CONCEPT,
        "code": CONCEPT,
        "performedDateTime": "dateTime",
        "performedPeriod": PERIOD,
        "reasonCode[]": CONCEPT,
        "bodySite[]": CONCEPT,
        "outcome": CONCEPT,
    },
    "Immunization": {
        "id": "id",
        "patient": REFERENCE,
        "encounter": REFERENCE,
        "status": "code",
        "vaccineCode": CONCEPT,
        "occurrenceDateTime": "dateTime",
        "route": CONCEPT,
        "site": CONCEPT,
    },
    "AllergyIntolerance": {
        "id": "id",
        "patient": REFERENCE,
        "encounter": REFERENCE,
        "clinicalStatus": CONCEPT,
        "verificationStatus": CONCEPT,
        "type": "code",
        "category[]": "code",
        "criticality": "code",
        "code": CONCEPT,
        "onsetDateTime": "dateTime",
        "recordedDate": "dateTime",
    },
}

REQUIRED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Encounter": {"_status": ("status",), "class": ("class",)},
    "Condition": {"subject": ("subject",)},
    "Observation": {"_status": ("status",), "code": ("code",)},
    "MedicationRequest": {
        "_status": ("status",),
        "_intent": ("intent",),
        "medicationCodeableConcept": ("medicationCodeableConcept",),
        "subject": ("subject",),
    },
    "Procedure": {"_status": ("status",), "subject": ("subject",)},
    "Immunization": {
        "_status": ("status",),
        "vaccineCode": ("vaccineCode",),
        "patient": ("patient",),
        "occurrenceString": ("occurrenceDateTime",),
    },
    "AllergyIntolerance": {"patient": ("patient",)},
}
"""What a valid resource must have, and what must be there for it: else it is said to be masked, by an extension or,
where FHIR has a choice of types and asks for a value, in words."""

CHOICES = ("deceased", "onset", "abatement", "effective", "value", "performed", "occurrence")
"""Elements of which FHIR allows one type each, such as onsetDateTime or onsetPeriod."""

_STEP = re.compile(r"where\(url='(?P<url>[^']+)'\)|key\((?P<kind>[A-Za-z]*)\)|(?P<name>[A-Za-z]+)(?:\[0\])?")


@dataclass(frozen=True)
class Step:
    """A step into a resource: an element, whether FHIR has a list there, and of extensions the address."""

    name: str
    many: bool = False
    url: str = ""


@dataclass(frozen=True)
class Element:
    """Where a column is written: the way to an element and the type of its value."""

    steps: tuple[Step, ...]
    type: str

    def path(self, kind: str = "") -> str:
        """The way in words, as views write it; `kind` is what a reference leads to.

        >>> element_of("Condition", "code.coding.code").path()
        'code.coding.code'
        """
        words = ".".join(f"{s.name}.where(url='{s.url}')" if s.url else s.name for s in self.steps)
        return f"{words}.key({kind})" if self.type == "reference" else words

    @property
    def choice(self) -> tuple[str, str] | None:
        """Of an element that FHIR has in several types, which, and the type that is meant."""
        first = self.steps[0].name
        return next(((stem, first) for stem in CHOICES if first.startswith(stem) and first != stem), None)


def derived_element(name: str) -> Element:
    """Where a derived column is written: an extension of the resource."""
    plain = "".join(c if c.isascii() and c.isalnum() else f"-{ord(c):x}-" for c in name)
    return Element((Step("extension", many=True, url=f"{DERIVED}{plain}"), Step("valueString")), "string")


def element_of(kind: str, path: str) -> Element:
    """The element that a path of a view leads to; PolicyError where it is not on the list."""
    for extension in ("race", "ethnicity"):
        ways = (Step("extension", many=True, url=f"{US_CORE}{extension}"), Step("extension", many=True, url="text"))
        known = Element((*ways, Step("valueString")), "string")
        if kind == "Patient" and path == known.path():
            return known
    found = _follow(ALLOWED.get(kind, {}), path)
    if found is None:
        raise PolicyError(
            f"FHIR is written by a list of elements, and '{path}' of {kind} is not on it.",
            "Give that column the role identifier, or take it out of the policy.",
        )
    return found


def _follow(elements: Elements, path: str) -> Element | None:
    steps: list[Step] = []
    here: str | Elements = elements
    for match in _parsed(path):
        if match["kind"] is not None:
            return Element(tuple(steps), "reference") if here == "reference" else None
        name = match["name"]
        if name is None or isinstance(here, str):
            return None
        many = f"{name}[]" in here
        steps.append(Step(name, many))
        found = here.get(f"{name}[]" if many else name)
        if found is None:
            return None
        here = found
    return Element(tuple(steps), here) if isinstance(here, str) and here != "reference" else None


def _parsed(path: str) -> list[re.Match[str]]:
    """The steps of a path; one that is not understood ends in nothing."""
    found, place = [], 0
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None or (match.end() < len(path) and path[match.end()] != "."):
            return []
        found.append(match)
        place = match.end() + 1
    return found
