"""Profiles with linked tables, Safe Harbor above all: what it fills in, refuses and has checked, in every table."""

from __future__ import annotations

import copy
import csv
import json
import re
import shutil

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.errors import PolicyError
from medveil.policy import load_policy
from medveil.release.manifest import file_hash


@pytest.fixture(scope="module")
def policy(folder):
    return {
        "profile": "hipaa-safe-harbor",
        "tables": {
            "patients": {
                "data": str(folder / "patients.csv"),
                "attributes": {
                    "Id": {"role": "key"},
                    "BIRTHDATE": {"role": "quasi", "derive": {"age_at": "2021-01-01", "name": "age"}},
                    "GENDER": {"role": "quasi"},
                    "ZIP": {"role": "quasi"},
                },
            },
            "encounters": {
                "data": str(folder / "encounters.csv"),
                "key": {"PATIENT": "patients.Id"},
                "attributes": {
                    "Id": {"role": "key"},
                    "START": {"role": "plain", "derive": {"days_since": "encounters.START", "name": "day"}},
                    "CLASS": {"role": "plain"},
                },
            },
            "conditions": {
                "data": str(folder / "conditions.csv"),
                "key": {"PATIENT": "patients.Id", "ENCOUNTER": "encounters.Id"},
                "attributes": {"START": {"role": "quasi"}, "CODE": {"role": "sensitive", "type": "code", "set": True}},
            },
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0.1},
        "output": {"report": False},
    }


@pytest.fixture
def changeable(policy):
    return copy.deepcopy(policy)


@pytest.fixture(scope="module")
def release(policy, tmp_path_factory):
    return medveil.anonymize(policy, out=tmp_path_factory.mktemp("safe") / "out")


def rows(release, name):
    with (release.folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_years_areas_and_one_group_of_the_oldest_are_filled_in_in_every_table(release):
    described = {
        f"{name}.{a['name']}": a for name, table in release.manifest.tables.items() for a in table["attributes"]
    }
    assert described["patients.ZIP"]["hierarchy"]["type"] == "zip3"
    assert described["patients.age"]["hierarchy"]["top"] == 90
    assert described["conditions.START"]["hierarchy"]["type"] == "dates"
    everything = [value for name in release.manifest.tables for row in rows(release, name) for value in row.values()]
    assert not [value for value in everything if re.search(r"\d{4}-\d\d|\d{5}$", value) and len(value) < 32]
    starts = {row["START"] for row in rows(release, "conditions")}
    assert all(re.fullmatch(r"(19|20)\d\d|(19|20)\d0s|\*|", start) for start in starts)


def test_the_claim_is_proved_again_and_every_pseudonym_is_left_to_a_person(release, policy):
    claim = release.manifest.claims[-1]
    assert (claim["model"], claim["holds"]) == ("hipaa-safe-harbor", True)
    keys = {"patients.Id", "encounters.Id", "encounters.PATIENT", "conditions.PATIENT", "conditions.ENCOUNTER"}
    assert set(claim["parameters"]["attested"]) == keys
    assert claim["parameters"]["years_beside_days"] == ["conditions.START", "encounters.day"]
    assert release.manifest.status == "pseudonymous, not anonymous"
    report = medveil.audit(release.folder, load_policy(policy)[0])
    assert (report.ok, report.unchecked) == (True, ())


def test_a_date_that_somebody_writes_into_a_table_outside_the_view_is_found(release, tmp_path):
    copied = tmp_path / "out"
    shutil.copytree(release.folder, copied)
    path = copied / "encounters.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = ",".join([*lines[1].rstrip("\n").split(",")[:-1], "2019-03-04"]) + "\n"
    path.write_text("".join(lines), encoding="utf-8")
    told = json.loads((copied / "manifest.json").read_text(encoding="utf-8"))
    told["files"]["encounters.csv"] = file_hash(path)
    told["uncovered"] = []
    (copied / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    found = medveil.audit(copied).findings[-1].finding
    assert found.achieved == {"faults": 1}
    assert found.note.startswith("'encounters.CLASS' holds dates")


@pytest.mark.parametrize(
    ("table", "column", "attribute", "words"),
    [
        ("encounters", "START", {"role": "date", "shift": {"days": 100}}, "'encounters.START' is shifted"),
        ("encounters", "STOP", {"role": "plain"}, "'encounters.STOP' holds dates"),
        ("patients", "ZIP", {"role": "quasi", "hierarchy": {"type": "mask", "length": 5}}, "holds postal codes"),
    ],
)
def test_what_the_rule_forbids_is_refused_in_whichever_table(changeable, table, column, attribute, words):
    changeable["tables"][table]["attributes"][column] = attribute
    with pytest.raises(PolicyError, match=words):
        medveil.anonymize(changeable)


@pytest.mark.parametrize("top", [90, 60])
def test_an_age_long_before_a_visit_tells_the_age_at_it(changeable, top, people, tmp_path):
    """Somebody of 75 to 79 at the start of 2000 who was ill in 2019 was over 90 then."""
    births = ["1922-05-05"] * 30 + people.patients["BIRTHDATE"].to_pylist()[30:]
    place = people.patients.schema.get_field_index("BIRTHDATE")
    pa.csv.write_csv(people.patients.set_column(place, "BIRTHDATE", pa.array(births)), tmp_path / "patients.csv")
    changeable["tables"]["patients"]["data"] = str(tmp_path / "patients.csv")
    patients = changeable["tables"]["patients"]["attributes"]
    patients["BIRTHDATE"]["derive"]["age_at"] = "2000-01-01"
    patients["BIRTHDATE"]["hierarchy"] = {"type": "intervals", "widths": [5, 10, 20], "top": top, "domain": [0, 110]}
    del changeable["tables"]["encounters"]["attributes"]["START"], patients["ZIP"]
    changeable["privacy"] = [{"model": "k-anonymity", "k": 2}]
    if top == 90:
        with pytest.raises(PolicyError, match=r"'patients\.age' tells ages over 90 beside the years of later dates"):
            medveil.anonymize(changeable)
    else:
        assert medveil.anonymize(changeable).manifest.claims[-1]["holds"]


def test_days_since_birth_are_an_age(changeable, people, tmp_path):
    seen = people.patients.append_column("SEEN", pa.array(["2020-01-01"] * people.patients.num_rows))
    pa.csv.write_csv(seen, tmp_path / "patients.csv")
    changeable["tables"]["patients"]["data"] = str(tmp_path / "patients.csv")
    days = {"role": "plain", "derive": {"days_after": "BIRTHDATE", "name": "days"}}
    changeable["tables"]["patients"]["attributes"]["SEEN"] = days
    with pytest.raises(PolicyError, match="days since birth tell the date of birth"):
        medveil.anonymize(changeable)


def test_pseudonyms_that_link_releases_are_refused(changeable, tmp_path):
    (tmp_path / "key").write_text("s" * 40)
    changeable["pseudonyms"] = {"key_file": str(tmp_path / "key")}
    with pytest.raises(PolicyError, match="made with the steward's own key"):
        medveil.anonymize(changeable)


def test_pseudonymous_tables_are_for_a_secure_environment_only(policy, tmp_path):
    """Shifted dates and pseudonyms, which Safe Harbor refuses or leaves to people, are what such places are for."""
    given = copy.deepcopy(policy)
    given["profile"] = {"name": "ehds", "format": "pseudonymous"}
    given["tables"]["encounters"]["attributes"]["START"] = {"role": "date", "shift": {"days": 183}}
    release = medveil.anonymize(given, out=tmp_path / "out")
    assert "secure environment" in release.manifest.status
    assert medveil.audit(release.folder, load_policy(given)[0]).ok
    given["profile"] = {"name": "ehds"}
    with pytest.raises(PolicyError, match="holds pseudonyms, which link all records"):
        medveil.anonymize(given)
