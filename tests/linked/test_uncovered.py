"""Quasi-identifiers that no claim is on, or on one by one, are told as what no claim covers."""

import csv
import random
from collections import Counter, defaultdict

import pytest

import medveil
from medveil.errors import PolicyError

QUASI = ("age", "GENDER", "REGION")


def rows(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write(path, records):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, records[0])
        writer.writeheader()
        writer.writerows(records)
    return str(path)


def told(release):
    return {left["what"]: left["singled_out"] for left in release.manifest.uncovered}


def alone(people, columns):
    """The share of people whose values nobody else has."""
    numbers = Counter(tuple(row[column] for column in columns) for row in people)
    return sum(n for n in numbers.values() if n == 1) / len(people)


@pytest.fixture(scope="module")
def one_visit(folder, tmp_path_factory):
    """Wards of diagnoses and kinds of observations: two tables that point to visits."""
    draw, path = random.Random(3), tmp_path_factory.mktemp("one_visit")
    wards = [{**row, "WARD": draw.choice("ABC")} for row in rows(folder / "conditions.csv")]
    kinds = [
        {"PATIENT": row["PATIENT"], "ENCOUNTER": row["Id"], "KIND": draw.choice("XYZ")}
        for row in rows(folder / "encounters.csv")
        if draw.random() < 0.7
    ]
    return write(path / "conditions.csv", wards), write(path / "observations.csv", kinds)


def test_without_a_model_of_groups_quasi_identifiers_are_told_alone_and_together(policy, tmp_path):
    policy["privacy"] = policy["privacy"][1:]
    release = medveil.anonymize(policy, out=tmp_path / "out")
    people = rows(release.folder / "patients.csv")
    shares = told(release)
    for column in QUASI:
        assert shares[f"the values in patients.{column}"] == pytest.approx(alone(people, [column]), abs=1e-4)
    assert shares["all quasi-identifiers in patients"] == pytest.approx(alone(people, QUASI), abs=1e-4)
    assert alone(people, QUASI) > 0.5
    assert medveil.audit(release.folder).publishable


def test_a_claim_on_some_quasi_identifiers_leaves_the_others(policy, tmp_path):
    policy["privacy"] = [{"model": "k-anonymity", "k": 4, "on": ["patients.GENDER"]}]
    release = medveil.anonymize(policy, out=tmp_path / "out")
    people = rows(release.folder / "patients.csv")
    shares = told(release)
    assert "the values in patients.GENDER" not in shares
    assert shares["the values in patients.age"] == pytest.approx(alone(people, ["age"]), abs=1e-4)
    assert shares["all quasi-identifiers in patients"] == pytest.approx(alone(people, QUASI), abs=1e-4)
    assert alone(people, QUASI) > 0.5


def test_claims_on_each_quasi_identifier_do_not_cover_them_together(policy):
    policy["privacy"] = [{"model": "k-anonymity", "k": 2, "on": [f"patients.{column}"]} for column in QUASI]
    shares = told(medveil.anonymize(policy))
    assert shares["all quasi-identifiers in patients"] > 0
    assert not any(f"the values in patients.{column}" in shares for column in QUASI)


def test_where_a_claim_is_on_all_of_them_nothing_is_left(policy):
    assert not any("quasi-identifiers in patients" in what for what in told(medveil.anonymize(policy)))


@pytest.mark.parametrize("asked", [{"min_level": 1}, {"hierarchy": {"type": "intervals", "widths": [40], "top": 80}}])
def test_what_is_to_be_generalized_is_not_published_as_it_is(policy, asked):
    """A least level, as Safe Harbor asks for of dates, and a top code."""
    policy["tables"]["patients"]["attributes"]["BIRTHDATE"].update(asked)
    k, sets = policy["privacy"]
    policy["privacy"] = [sets]
    with pytest.raises(PolicyError, match=r"'patients\.age' is to be generalized, and no model .*Add a model such as"):
        medveil.anonymize(policy)
    policy["privacy"] = [k, sets]
    assert medveil.anonymize(policy).manifest.rows["published"]


def test_records_of_one_visit_are_told_where_claims_look_at_them_side_by_side(policy, one_visit, tmp_path):
    conditions, observations = one_visit
    policy["tables"]["conditions"]["data"] = conditions
    policy["tables"]["conditions"]["attributes"]["WARD"] = {"role": "quasi"}
    keys = {"PATIENT": "patients.Id", "ENCOUNTER": "encounters.Id"}
    attributes = {"KIND": {"role": "quasi"}}
    policy["tables"]["observations"] = {"data": observations, "key": keys, "attributes": attributes}
    policy["tables"]["patients"]["attributes"].pop("REGION")
    policy["privacy"] = [{"model": "k-anonymity", "k": 4}]
    policy["method"]["suppression"] = 0.4
    release = medveil.anonymize(policy, out=tmp_path / "out")
    wards, together = defaultdict(list), defaultdict(list)
    for row in rows(release.folder / "conditions.csv"):
        wards[row["ENCOUNTER"]].append(row["WARD"])
    for row in rows(release.folder / "observations.csv"):
        together[row["PATIENT"]] += [(ward, row["KIND"]) for ward in wards[row["ENCOUNTER"]]]
    people = [{"own": tuple(sorted(together[row["Id"]]))} for row in rows(release.folder / "patients.csv")]
    share = told(release)["records in conditions and observations of one record in encounters"]
    assert share == pytest.approx(alone(people, ["own"]), abs=1e-4)
    assert share > 0.1
    policy["tables"]["encounters"]["attributes"]["CLASS"] = {"role": "quasi"}
    assert not any("of one record in" in what for what in told(medveil.anonymize(policy)))
