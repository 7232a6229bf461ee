"""Use cases that look at data for a steward who is deciding, on linked tables: against the same, counted by hand."""

import csv
import shutil
from collections import Counter

import pytest

from medveil.app.anonymize import anonymize
from medveil.app.check import check
from medveil.app.exposure import exposure
from medveil.app.fitting import fitting
from medveil.app.levels import levels
from medveil.app.preview import preview
from medveil.app.rows import peek, rows
from medveil.app.starter import starter
from medveil.errors import InputError, PolicyError
from medveil.run import Run
from medveil.workspace import Workspace


def records(folder, name):
    with (folder / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def age(birth):
    """On the first of January 2021."""
    return 2021 - int(birth[:4]) - (birth[5:] > "01-01")


@pytest.fixture(scope="module")
def confined(folder):
    return Run(workspace=Workspace(folder, folder))


def test_files_that_belong_together_get_one_policy(folder, confined):
    names = ["patients", "encounters", "conditions"]
    found = starter(together=[f"{name}.csv" for name in names], run=confined)
    checked = check(found.policy)
    assert checked.faults == ()
    assert found.named == {"tables": {name: f"{name}.csv" for name in names}}
    assert {name: table["data"] for name, table in checked.policy["tables"].items()} == found.named["tables"]
    assert found.tables["patients"].rows == 250
    again = starter(tables=found.named["tables"], run=confined)
    assert again.policy is None
    assert {name: table.rows for name, table in again.tables.items()} == {
        name: len(records(folder, name)) for name in names
    }


def test_a_folder_is_linked_tables_or_the_parts_of_one(folder, tmp_path):
    run = Run(workspace=Workspace(tmp_path, tmp_path))
    (tmp_path / "linked").mkdir()
    for name in ("patients", "encounters"):
        shutil.copy(folder / f"{name}.csv", tmp_path / "linked")
    (tmp_path / "linked" / "README.md").write_text("not a table")
    assert set(starter(together=["linked"], run=run).named["tables"]) == {"patients", "encounters"}
    (tmp_path / "parts").mkdir()
    for name in ("one", "two"):
        shutil.copy(folder / "patients.csv", tmp_path / "parts" / f"{name}.csv")
    found = starter(together=["parts"], run=run)
    assert found.named == {"data": "parts"}
    assert found.inspection.rows == 500
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no tables"):
        starter(together=["empty"], run=run)
    with pytest.raises(PolicyError, match="leads out"):
        starter(together=["linked/patients.csv", str(folder / "encounters.csv")], run=run)


def test_a_folder_of_fhir_gets_its_policy(people, tmp_path):
    people.write_fhir(tmp_path)
    run = Run(workspace=Workspace(tmp_path, tmp_path))
    found = starter(together=[str(tmp_path)], run=run)
    told = check(found.policy).policy["tables"]
    assert {name: table["data"] for name, table in told.items()} == found.named["tables"]
    assert told["Patient"]["data"] == {"type": "fhir", "path": str(tmp_path), "view": "Patient"}
    shown = peek({**check(found.policy).policy}, table="Condition", number=3, run=run)
    assert len(shown.rows) == 3
    assert preview(check(found.policy).policy, number=200, run=run).sampled == 200


def test_the_share_of_unique_people_is_counted_over_the_tables(folder, policy):
    found = exposure(policy)
    people = Counter((age(p["BIRTHDATE"]), p["GENDER"], p["REGION"]) for p in records(folder, "patients"))
    assert (found.people, found.counted) == (250, "people")
    assert found.together.unique == pytest.approx(sum(count == 1 for count in people.values()) / 250)
    assert {one.attributes[0] for one in found.columns} == {"patients.age", "patients.GENDER", "patients.REGION"}
    for attribute in policy["tables"]["patients"]["attributes"].values():
        if attribute["role"] == "quasi":
            attribute.clear()
            attribute["role"] = "plain"
    assert exposure(policy).together is None


def test_levels_of_a_derived_column_are_those_of_what_is_derived(folder, policy):
    found = levels(policy, "BIRTHDATE", table="patients")
    ages = Counter(age(p["BIRTHDATE"]) // 10 for p in records(folder, "patients"))
    assert found.levels[1].groups == len(ages)
    assert found.levels[1].smallest == min(ages.values())


def test_a_derived_column_of_one_table_has_levels_too(folder, policy):
    patients = policy["tables"]["patients"]
    alone = {"data": patients["data"], "attributes": patients["attributes"], "privacy": [policy["privacy"][0]]}
    assert levels(alone, "BIRTHDATE").levels == levels(policy, "BIRTHDATE", table="patients").levels


def test_methods_fit_linked_tables_or_say_why(policy):
    found = fitting(policy)
    assert found["optimal"] is None
    assert any("nothing could be linked" in (reason or "") for reason in found.values())


def test_a_preview_is_of_people_with_all_their_records(policy):
    found = preview(policy, number=120)
    assert (found.sampled, found.of) == (120, 250)
    assert found.published + found.suppressed == 120
    assert found.names[0] == "Id"
    assert found.levels["age"] is not None
    assert set(found.summaries) == {"4-anonymity", "3^2-anonymity of conditions.CODE"}


def test_rows_of_every_table_are_shown(folder, policy, tmp_path):
    anonymize(policy, out=tmp_path / "out")
    shown = rows(tmp_path / "out", number=4)
    assert [one.table for one in shown] == ["patients", "encounters", "conditions"]
    assert all(len(one.rows) == 4 for one in shown)
    assert shown[1].names[:2] == ("Id", "PATIENT")
    looked = peek(policy, table="encounters", number=5)
    whole = {tuple(record[name] or None for name in looked.names) for record in records(folder, "encounters")}
    assert {tuple(row) for row in looked.rows} <= whole
    with pytest.raises(PolicyError, match="no such table"):
        peek(policy, table="visits")
