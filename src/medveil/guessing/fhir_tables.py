"""What the columns of the ready views of FHIR are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from medveil.guessing.guess import Guess
from medveil.guessing.known_tables import BIRTH_YEAR, REPORTED, TERMINOLOGY, KnownTable, date, hidden, plain
from medveil.hierarchy.dates import Dates
from medveil.table.schema import Kind, Role

PEOPLE = "Patient"
STATUS = plain("The status of the record, such as finished.")
KIND = plain(f"What kind of record it is. {REPORTED}", Kind.CODE)
SYSTEM = Guess(Kind.CATEGORY, Role.PLAIN, "The list that the codes are of, by its address.", concept=TERMINOLOGY)
WORDS = hidden("It says in words what a code says, and would undo what hides the code.")


def _codes(what: str, concept: Literal["diagnosis", "drug", ""] = "") -> dict[str, Guess]:
    reason = f"{what}: all that a person has are one set, in which rare codes become their groups."
    return {
        "code": Guess(Kind.CODE, Role.SENSITIVE, reason, concept=concept),
        "system": SYSTEM,
        "display": WORDS,
    }


def _known(what: str) -> Guess:
    return Guess(Kind.CATEGORY, Role.QUASI, f"{what}: others may know it.")


_PATIENT = {"patient": "Patient"}
_VISIT = {**_PATIENT, "encounter": "Encounter"}

TABLES: Mapping[str, KnownTable] = {
    "Patient": KnownTable(
        "id",
        {},
        {
            "birth_date": Guess(
                Kind.DATE,
                Role.QUASI,
                "A date of birth: what is published is the year, or less.",
                concept=BIRTH_YEAR,
                hierarchy=Dates(levels=("year", "decade")),
                min_level=1,
            ),
            "gender": _known("Gender"),
            "deceased": date("A date of death."),
            "marital_status": _known("Marital status"),
            "city": hidden("A small place. The postal code tells the region."),
            "state": _known("A region"),
            "postal_code": Guess(
                Kind.CODE,
                Role.QUASI,
                "A postal code: others may know it.",
                concept="zip",
            ),
            "country": _known("A country"),
            "race": _known("Race"),
            "ethnicity": _known("Ethnicity"),
        },
    ),
    "Encounter": KnownTable(
        "id",
        _PATIENT,
        {
            "status": STATUS,
            "class": plain("Ambulatory, inpatient and the like."),
            "type": KIND,
            "start": date(),
            "end": date(),
            "reason": hidden("It repeats a diagnosis, and would undo what hides diagnoses."),
        },
    ),
    "Condition": KnownTable(
        "id",
        _VISIT,
        {
            **_codes("Diagnoses", "diagnosis"),
            "clinical_status": STATUS,
            "onset": date(),
            "abatement": date(),
            "recorded": date(),
        },
    ),
    "Observation": KnownTable(
        "id",
        _VISIT,
        {
            **_codes("What was observed"),
            "status": STATUS,
            "category": KIND,
            "time": date(),
            "value": plain(f"What was measured. {REPORTED}", Kind.NUMBER),
            "unit": Guess(
                Kind.CATEGORY,
                Role.SENSITIVE,
                "A unit tells what was measured: all that a person has are one set, in which rare ones are hidden.",
            ),
            "value_code": hidden("What was found, as a code: publish it where no code in it is rare."),
        },
    ),
    "MedicationRequest": KnownTable(
        "id",
        _VISIT,
        {**_codes("Drugs", "drug"), "status": STATUS, "intent": STATUS, "authored": date()},
    ),
    "Procedure": KnownTable(
        "id",
        _VISIT,
        {**_codes("Procedures"), "status": STATUS, "start": date(), "end": date(), "performed": date()},
    ),
    "Immunization": KnownTable("id", _VISIT, {**_codes("Vaccines"), "status": STATUS, "time": date()}),
    "AllergyIntolerance": KnownTable(
        "id",
        _PATIENT,
        {
            **_codes("Allergies"),
            "clinical_status": STATUS,
            "category": KIND,
            "criticality": STATUS,
            "recorded": date(),
        },
    ),
}
