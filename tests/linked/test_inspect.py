"""Keys between files are found, and the starter policy makes a release."""

import csv
import json

import pytest

import medveil
from medveil.app.inspect import inspect_linked, write_linked_policy
from medveil.errors import InputError, PolicyError
from medveil.policy import load_policy


def test_the_keys_of_a_cohort_are_found_and_its_starter_policy_makes_a_release(folder, tmp_path):
    paths = [folder / f"{name}.csv" for name in ("conditions", "patients", "encounters")]
    found = inspect_linked(paths)
    told = found.to_dict()
    assert told["people"] == "patients"
    assert told["links"] == {
        "conditions.PATIENT": "patients.Id",
        "conditions.ENCOUNTER": "encounters.Id",
        "encounters.PATIENT": "patients.Id",
    }
    json.dumps(told)
    write_linked_policy(found, paths, tmp_path / "policy.yaml")
    policy, _ = load_policy(tmp_path / "policy.yaml")
    assert list(policy.tables) == ["patients", "conditions", "encounters"]
    assert policy.tables["conditions"].attributes["CODE"].set
    release = medveil.anonymize(str(tmp_path / "policy.yaml"), out=tmp_path / "out")
    assert [claim["model"] for claim in release.manifest.claims] == ["k-anonymity", "km-anonymity"]
    assert medveil.audit(tmp_path / "out", tmp_path / "policy.yaml").ok


def table(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_amounts_that_people_have_alone_are_published_as_intervals(tmp_path):
    """The amount that a hospital billed finds a person as a name does, pseudonyms or not."""
    people = [
        {
            "Id": f"{i:06}",
            "GENDER": "fm"[i % 2],
            "HEALTHCARE_EXPENSES": f"{1000 + 7.31 * i:.2f}",
            "INCOME": 10 * (i % 9),
        }
        for i in range(200)
    ]
    patients = table(tmp_path / "patients.csv", people)
    visits = table(tmp_path / "visits.csv", [{"patient": f"{i % 200:06}", "ward": i % 5} for i in range(400)])
    write_linked_policy(inspect_linked([patients, visits]), [patients, visits], tmp_path / "policy.yaml")
    policy, _ = load_policy(tmp_path / "policy.yaml")
    columns = policy.tables["patients"].attributes
    assert (columns["HEALTHCARE_EXPENSES"].role, columns["INCOME"].role) == ("quasi", "sensitive")
    release = medveil.anonymize(tmp_path / "policy.yaml", out=tmp_path / "out")
    published = (tmp_path / "out" / "patients.csv").read_text()
    assert not any(row["HEALTHCARE_EXPENSES"] in published for row in people)
    assert not any("HEALTHCARE_EXPENSES" in left["what"] for left in release.manifest.uncovered)


def test_small_numbers_that_are_among_the_keys_are_no_links(tmp_path):
    """A count from 1 to 9 is among the numbers of patients, and means nothing by that."""
    patients = table(tmp_path / "patients.csv", [{"number": f"{i:06}", "sex": "fm"[i % 2]} for i in range(1, 80)])
    visits = table(
        tmp_path / "visits.csv",
        [{"patient": f"{1 + i % 79:06}", "floor": 1 + i % 9, "ward": i % 5} for i in range(300)],
    )
    found = inspect_linked([patients, visits])
    assert found.to_dict()["links"] == {"visits.patient": "patients.number"}


def test_tables_that_nothing_connects_are_named(tmp_path):
    one = table(tmp_path / "one.csv", [{"a": f"x{i}"} for i in range(50)])
    two = table(tmp_path / "two.csv", [{"b": f"y{i}"} for i in range(50)])
    found = inspect_linked([one, two])
    assert found.links.root is None
    with pytest.raises(InputError, match="No table holds people"):
        found.policy({"one": "one.csv", "two": "two.csv"})


def test_a_description_beside_a_hidden_code_is_refused(policy, folder, tmp_path):
    rows = list(csv.DictReader((folder / "conditions.csv").read_text().splitlines()))
    path = table(tmp_path / "conditions.csv", [{**row, "WORDS": f"disease {row['CODE']}"} for row in rows])
    policy["tables"]["conditions"]["data"] = str(path)
    policy["tables"]["conditions"]["attributes"]["WORDS"] = {"role": "sensitive"}
    with pytest.raises(PolicyError, match=r"'conditions\.WORDS' gives away the value of 'conditions\.CODE'"):
        medveil.anonymize(policy)
