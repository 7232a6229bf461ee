"""A generated cohort: linked patients, visits and diagnoses with ICD-10 codes and dates, seeded, of any size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from medveil.datasets.calibration import REGIONS
from medveil.datasets.diseases import AGES, SEXES
from medveil.datasets.generate import Codes, draw, model
from medveil.errors import InputError

FIRST_DAY = np.datetime64("2015-01-01", "m")
MINUTES = 6 * 365 * 24 * 60
"""Visits begin within six years."""
CLASSES = ("ambulatory", "emergency", "inpatient")
FHIR_CLASSES = ("AMB", "EMER", "IMP")
CLASS_SHARES = (0.8, 0.12, 0.08)
CHRONIC = 0.55
"""The share of diagnoses that are one of the few diseases that a person has for years."""
CHRONIC_DISEASES = 3
RECODED = {"I84": "K64"}
"""Haemorrhoids have had another code since the edition of 2010; lists that are in use know that one alone."""


@dataclass(frozen=True)
class Cohort:
    """The tables of a cohort, as somebody exports them: keys, dates and codes as text.

    patients: Id, BIRTHDATE, GENDER, REGION, ZIP.
    encounters: Id, PATIENT, START, STOP, CLASS.
    conditions: START, PATIENT, ENCOUNTER, CODE.
    """

    patients: pa.Table
    encounters: pa.Table
    conditions: pa.Table

    @property
    def tables(self) -> dict[str, pa.Table]:
        return {"patients": self.patients, "encounters": self.encounters, "conditions": self.conditions}

    def write(self, folder: str | Path) -> Path:
        """One CSV file a table."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            pa.csv.write_csv(table, path / f"{name}.csv")
        return path

    def fhir(self) -> Iterator[dict[str, Any]]:
        """The same people as FHIR R4 resources: Patient, Encounter, Condition."""
        for row in _rows(self.patients):
            yield _patient(row)
        for row in _rows(self.encounters):
            yield _encounter(row)
        for number, row in enumerate(_rows(self.conditions)):
            yield _condition(number, row)

    def write_fhir(self, folder: str | Path) -> Path:
        """A bulk export: one file of JSON lines a resource type."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        files = {kind: (path / f"{kind}.ndjson").open("w", encoding="utf-8") for kind in FHIR_KINDS}
        try:
            for resource in self.fhir():
                files[resource["resourceType"]].write(json.dumps(resource, ensure_ascii=False) + "\n")
        finally:
            for file in files.values():
                file.close()
        return path


FHIR_KINDS = ("Patient", "Encounter", "Condition")


def cohort(people: int, seed: int | None, *, visits: float = 10.0, diagnoses: float = 2.0) -> Cohort:
    """A cohort of so many people, with so many visits a person and diagnoses a visit on average.

    The same seed gives the same cohort; None draws from the operating system. Sex, age and region are drawn as for
    `patients`; numbers of visits are skewed (some people come often), every visit has at least one diagnosis, and about
    half of the diagnoses are of a few diseases that come back for years.

    >>> found = cohort(10, seed=1)
    >>> found.patients.column_names, found.conditions.column_names
    (['Id', 'BIRTHDATE', 'GENDER', 'REGION', 'ZIP'], ['START', 'PATIENT', 'ENCOUNTER', 'CODE'])
    """
    if people < 0 or visits < 0 or diagnoses < 1:
        raise InputError("A cohort has no fewer than 0 people and visits, and 1 diagnosis a visit.", "Ask for more.")
    random = np.random.default_rng(seed)
    known = model()
    person = draw(random, known.person.reshape(1, -1), np.zeros(people, dtype=np.int64))
    sex, age = person // AGES, person % AGES
    region = draw(random, known.region, age)
    born = np.datetime64("2021-01-01", "D") - (age * 365.25 + random.uniform(1, 365, people)).astype("timedelta64[D]")
    patient_ids = _ids(random, people)
    owner = np.repeat(np.arange(people), random.negative_binomial(1.5, 1.5 / (1.5 + visits), people))
    start = FIRST_DAY + random.integers(0, MINUTES, len(owner))
    start = np.maximum(start, born[owner].astype("datetime64[m]") + np.timedelta64(60, "m"))
    order = np.lexsort((start, owner))
    start, owner = start[order], owner[order]
    kind = random.choice(len(CLASSES), len(owner), p=CLASS_SHARES)
    minutes = np.where(kind == 2, 1440 * random.geometric(0.2, len(owner)), 15 + random.geometric(0.03, len(owner)))
    visit_ids = _ids(random, len(owner))
    visit = np.repeat(np.arange(len(owner)), 1 + random.poisson(diagnoses - 1, len(owner)))
    disease = _diseases(random, person, owner[visit])
    codes = pa.array([RECODED.get(code, code) for code in known.diseases.codes])
    return Cohort(
        pa.table(
            {
                "Id": patient_ids,
                "BIRTHDATE": _dates(born),
                "GENDER": pa.array(SEXES).take(pa.array(sex)),
                "REGION": pa.array([name for name, _, _ in REGIONS]).take(pa.array(region)),
                "ZIP": _zips(random, region),
            }
        ),
        pa.table(
            {
                "Id": visit_ids,
                "PATIENT": patient_ids.take(pa.array(owner)),
                "START": _times(start),
                "STOP": _times(start + minutes.astype("timedelta64[m]")),
                "CLASS": pa.array(CLASSES).take(pa.array(kind)),
            }
        ),
        pa.table(
            {
                "START": _dates(start[visit].astype("datetime64[D]")),
                "PATIENT": patient_ids.take(pa.array(owner[visit])),
                "ENCOUNTER": visit_ids.take(pa.array(visit)),
                "CODE": codes.take(pa.array(disease)),
            }
        ),
    )


def _diseases(random: np.random.Generator, person: Codes, owner: Codes) -> Codes:
    """The disease of each diagnosis: one that the person keeps, or another of that sex and age."""
    shares = model().disease.reshape(-1, model().disease.shape[-1])
    kept = draw(random, shares, np.repeat(person, CHRONIC_DISEASES)).reshape(-1, CHRONIC_DISEASES)
    fresh = draw(random, shares, person[owner])
    chosen = kept[owner, random.integers(0, CHRONIC_DISEASES, len(owner))] if len(owner) else fresh
    return np.where(random.random(len(owner)) < CHRONIC, chosen, fresh)


def _ids(random: np.random.Generator, number: int) -> pa.Array:
    """Keys as registries draw them: 32 hexadecimal digits with hyphens."""
    digits = random.bytes(16 * number).hex()
    parts = (digits[i : i + 32] for i in range(0, 32 * number, 32))
    return pa.array([f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}" for d in parts], pa.string())


def _dates(days: NDArray[np.datetime64]) -> pa.Array:
    return pa.array(days.astype("datetime64[D]")).cast(pa.string())


def _times(minutes: NDArray[np.datetime64]) -> pa.Array:
    """Times as FHIR writes them: `2019-05-04T08:15:00Z`."""
    seconds = pa.array(minutes.astype("datetime64[s]"))
    texts = pa.compute.strftime(seconds, format="%Y-%m-%dT%H:%M:%SZ")
    return texts.cast(pa.string())


def _zips(random: np.random.Generator, region: Codes) -> pa.Array:
    """Five digits: two of the region, then some of its hundred places, which are not alike in size."""
    place = np.minimum(random.geometric(0.03, len(region)), 999)
    return pa.array([f"{10 + r:02}{p:03}" for r, p in zip(region.tolist(), place.tolist(), strict=True)], pa.string())


def _rows(table: pa.Table) -> Iterator[dict[str, str]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _patient(row: dict[str, str]) -> dict[str, Any]:
    family = f"Family{row['Id'][:6]}"
    return {
        "resourceType": "Patient",
        "id": row["Id"],
        "meta": {"lastUpdated": "2021-01-01T00:00:00Z"},
        "text": {
            "status": "generated",
            "div": f'<div xmlns="http://www.w3.org/1999/xhtml">{family}, born {row["BIRTHDATE"]}</div>',
        },
        "identifier": [{"system": "urn:oid:2.16.840.1.113883.19.5", "value": row["Id"][:13]}],
        "active": True,
        "name": [{"use": "official", "family": family, "given": [f"Given{row['Id'][9:13]}"]}],
        "telecom": [{"system": "phone", "value": f"555-{int(row['Id'][:4], 16) % 10_000:04}", "use": "home"}],
        "gender": {"F": "female", "M": "male"}[row["GENDER"]],
        "birthDate": row["BIRTHDATE"],
        "address": [{"use": "home", "state": row["REGION"], "postalCode": row["ZIP"]}],
    }


def _encounter(row: dict[str, str]) -> dict[str, Any]:
    code = FHIR_CLASSES[CLASSES.index(row["CLASS"])]
    return {
        "resourceType": "Encounter",
        "id": row["Id"],
        "meta": {"lastUpdated": "2021-01-01T00:00:00Z"},
        "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": code, "display": row["CLASS"]},
        "type": [{"text": f"{row['CLASS']} visit"}],
        "subject": {"reference": f"Patient/{row['PATIENT']}"},
        "period": {"start": row["START"], "end": row["STOP"]},
    }


def _condition(number: int, row: dict[str, str]) -> dict[str, Any]:
    clinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
    verification = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
    return {
        "resourceType": "Condition",
        "id": f"{row['ENCOUNTER'][:23]}-{number:012}",
        "meta": {"lastUpdated": "2021-01-01T00:00:00Z"},
        "clinicalStatus": {"coding": [{"system": clinical, "code": "active"}]},
        "verificationStatus": {"coding": [{"system": verification, "code": "confirmed"}]},
        "category": [
            {
                "coding": [
                    {
                        "system": "http://terminology.hl7.org/CodeSystem/condition-category",
                        "code": "encounter-diagnosis",
                    }
                ]
            }
        ],
        "code": {"coding": [{"system": "http://hl7.org/fhir/sid/icd-10", "code": row["CODE"]}]},
        "subject": {"reference": f"Patient/{row['PATIENT']}"},
        "encounter": {"reference": f"Encounter/{row['ENCOUNTER']}"},
        "onsetDateTime": row["START"],
        "recordedDate": row["START"],
    }
