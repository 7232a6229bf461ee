"""The decisions on public tables: what is suggested for every column that matters."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from medveil.datasets import load, patients
from medveil.guessing.column_profile import profile
from medveil.guessing.guess import Guess, guess
from medveil.hierarchy.mask import Mask
from medveil.table.schema import Kind, Role

SYNTHEA = {
    Role.IDENTIFIER: "Id SSN DRIVERS PASSPORT PREFIX FIRST LAST SUFFIX MAIDEN ADDRESS LAT LON",
    Role.QUASI: "BIRTHDATE DEATHDATE MARITAL RACE ETHNICITY GENDER BIRTHPLACE CITY STATE COUNTY ZIP",
    Role.SENSITIVE: "HEALTHCARE_EXPENSES HEALTHCARE_COVERAGE",
}
DIABETES = {
    Role.SUBJECT: "patient_nbr",
    Role.IDENTIFIER: "encounter_id",
    Role.QUASI: "race gender age weight admission_type_id discharge_disposition_id time_in_hospital payer_code",
    Role.SENSITIVE: "diag_1 diag_2 diag_3 max_glu_serum A1Cresult metformin insulin glyburide-metformin readmitted",
}
NHANES = {
    Role.IDENTIFIER: "ID",
    Role.QUASI: "Gender Age AgeMonths Race1 Race3 Education MaritalStatus Height Weight BMI HomeOwn Work SurveyYr",
    Role.SENSITIVE: "HHIncome Poverty Pulse BPSysAve TotChol Testosterone Diabetes Depressed SmokeNow Alcohol12PlusYr "
    "Marijuana HardDrugs SexAge SexOrientation SexNumPartnLife PregnantNow nPregnancies",
}
ADULT = {
    Role.QUASI: "age workclass education education-num marital-status occupation relationship race sex native-country",
    Role.SENSITIVE: "capital-gain capital-loss income",
}
PERSON = {
    Role.IDENTIFIER: "person_id person_source_value",
    Role.QUASI: "gender_concept_id year_of_birth month_of_birth day_of_birth birth_datetime race_concept_id "
    "ethnicity_concept_id gender_source_value race_source_value ethnicity_source_value",
}
CONDITION = {
    Role.SUBJECT: "person_id",
    Role.IDENTIFIER: "condition_occurrence_id visit_occurrence_id visit_detail_id",
    Role.QUASI: "condition_start_date condition_end_date",
    Role.SENSITIVE: "condition_concept_id condition_source_value",
}
GENERATED = {
    Role.SUBJECT: "patient_id",
    Role.QUASI: "age sex length_of_stay region surgery",
    Role.SENSITIVE: "disease",
}


def from_csv(path: Path) -> dict[str, Guess]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: guess(profile(name, [row[name] or None for row in rows])) for name in rows[0]}


def from_public(name: str, folder: Path) -> dict[str, Guess]:
    table = load(name, folder)
    return {column: guess(profile(column, table[column].to_pylist())) for column in table.column_names}


def check(found: dict[str, Guess], expected: dict[Role, str]) -> None:
    wanted = {name: role for role, names in expected.items() for name in names.split()}
    assert {name: found[name].role for name in wanted} == wanted


def test_synthea_patients(data_folder):
    found = from_csv(data_folder / "synthea" / "csv" / "patients.csv")
    check(found, SYNTHEA)
    assert {name for names in SYNTHEA.values() for name in names.split()} == set(found)
    direct = SYNTHEA[Role.IDENTIFIER].split()
    recall = sum(found[name].role is Role.IDENTIFIER for name in direct) / len(direct)
    assert recall == 1
    assert found["BIRTHDATE"].kind is Kind.DATE
    assert (found["ZIP"].kind, found["ZIP"].hierarchy) == (Kind.CODE, Mask(length=5))
    assert found["HEALTHCARE_EXPENSES"].kind is Kind.NUMBER


def test_synthea_identifiers_without_their_names(data_folder):
    """Values alone: no direct identifier may be suggested as plain, whatever its column is called."""
    path = data_folder / "synthea" / "csv" / "patients.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {name: guess(profile(f"v{i}", [row[name] or None for row in rows])) for i, name in enumerate(rows[0])}
    direct = SYNTHEA[Role.IDENTIFIER].split()
    assert all(found[name].role is not Role.PLAIN for name in direct)
    assert {name for name in direct if found[name].role is Role.IDENTIFIER} >= {"Id", "SSN", "DRIVERS", "ADDRESS"}


@pytest.mark.parametrize("table", ["allergies.csv", "careplans.csv", "conditions.csv.gz", "devices.csv"])
def test_synthea_events(data_folder, table):
    found = from_csv(data_folder / "synthea" / "csv" / table)
    check(found, {Role.SUBJECT: "PATIENT", Role.IDENTIFIER: "ENCOUNTER", Role.SENSITIVE: "CODE DESCRIPTION"})


@pytest.mark.parametrize(("name", "expected"), [("diabetes130", DIABETES), ("nhanes", NHANES), ("adult", ADULT)])
def test_public_sets(data_folder, name, expected):
    check(from_public(name, data_folder), expected)


@pytest.mark.parametrize(("table", "expected"), [("PERSON", PERSON), ("CONDITION_OCCURRENCE", CONDITION)])
def test_omop(data_folder, table, expected):
    check(from_csv(data_folder / "omop" / f"{table}.csv"), expected)


def test_generated_patients():
    table = patients(3_000, seed=1, patient_id=True)
    columns = {name: [str(value) for value in table[name].to_pylist()] for name in table.column_names}
    found = {name: guess(profile(name, values)) for name, values in columns.items()}
    check(found, GENERATED)
    assert found["disease"].kind is Kind.CODE
