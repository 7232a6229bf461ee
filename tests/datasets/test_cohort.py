"""The generated cohort: linked, seeded, with the shape that benchmarks and tests rely on."""

import json

import duckdb
import pytest

from medveil.datasets import cohort
from medveil.errors import InputError


@pytest.fixture(scope="module")
def people():
    return cohort(2000, seed=5)


def ask(found, query):
    with duckdb.connect() as connection:
        for name, table in found.tables.items():
            connection.register(name, table)
        return connection.execute(query).fetchall()


def test_a_seed_gives_the_same_cohort_and_another_seed_another(people):
    again = cohort(2000, seed=5)
    assert all(again.tables[name].equals(table) for name, table in people.tables.items())
    assert not cohort(2000, seed=6).conditions.equals(people.conditions)


def test_keys_are_unique_and_foreign_keys_hold(people):
    assert ask(people, "select count(*) = count(distinct Id) from patients") == [(True,)]
    assert ask(people, "select count(*) = count(distinct Id) from encounters") == [(True,)]
    assert ask(people, "select count(*) from encounters where PATIENT not in (select Id from patients)") == [(0,)]
    stray = (
        "select count(*) from conditions c left join encounters e on e.Id = c.ENCOUNTER and e.PATIENT = c.PATIENT "
        "where e.Id is null"
    )
    assert ask(people, stray) == [(0,)]


def test_numbers_are_about_what_was_asked_for(people):
    assert people.patients.num_rows == 2000
    assert people.encounters.num_rows == pytest.approx(20_000, rel=0.1)
    assert people.conditions.num_rows == pytest.approx(40_000, rel=0.1)
    few = cohort(500, seed=1, visits=2, diagnoses=1)
    assert few.conditions.num_rows == few.encounters.num_rows


def test_nobody_is_seen_before_birth_and_stays_do_not_end_before_they_begin(people):
    late = "select count(*) from encounters e join patients p on p.Id = e.PATIENT where e.START < p.BIRTHDATE"
    assert ask(people, late) == [(0,)]
    assert ask(people, "select count(*) from encounters where STOP < START") == [(0,)]


def test_diseases_come_back(people):
    (several, all_codes) = ask(
        people,
        "select count(*) filter (n > 1), count(*) from (select count(*) n from conditions group by PATIENT, CODE)",
    )[0]
    assert several / all_codes > 0.15


def test_nobody_and_impossible_numbers():
    assert cohort(0, seed=1).conditions.num_rows == 0
    assert cohort(3, seed=1, visits=0).encounters.num_rows == 0
    with pytest.raises(InputError):
        cohort(-1, seed=1)


def test_tables_and_fhir_are_written(people, tmp_path):
    few = cohort(20, seed=2)
    assert (few.write(tmp_path) / "conditions.csv").read_text().count("\n") == few.conditions.num_rows + 1
    folder = few.write_fhir(tmp_path / "bulk")
    lines = {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in folder.iterdir()}
    assert {kind: len(found) for kind, found in lines.items()} == {
        "Patient": 20,
        "Encounter": few.encounters.num_rows,
        "Condition": few.conditions.num_rows,
    }
    known = {f"Encounter/{resource['id']}" for resource in lines["Encounter"]}
    assert all(resource["encounter"]["reference"] in known for resource in lines["Condition"])
    assert len({resource["id"] for resource in lines["Condition"]}) == few.conditions.num_rows
    assert all(len(resource["id"]) <= 64 for found in lines.values() for resource in found)


def test_an_independent_reader_takes_every_resource_for_fhir():
    resources = pytest.importorskip("fhir.resources.R4B", reason="fhir.resources is not installed")
    for resource in cohort(5, seed=3).fhir():
        kind = resources.get_fhir_model_class(resource["resourceType"])
        assert kind.model_validate(resource).id == resource["id"]
