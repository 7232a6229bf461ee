"""What looks at linked tables beside making a release of them: leakage, advice, measure, compare, fitting methods."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.linked.conftest import POLICY

import medveil
from medveil.app.advice import advice, changed
from medveil.app.compare import compare
from medveil.app.fitting import fitting
from medveil.app.missing_values import missing_values
from medveil.errors import InputError, PolicyError, UnreachableError
from medveil.policy import load_policy


@pytest.fixture(scope="module")
def given(folder):
    return {**POLICY, "tables": {n: {**t, "data": str(folder / t["data"])} for n, t in POLICY["tables"].items()}}


@pytest.fixture(scope="module")
def release(given, tmp_path_factory):
    return medveil.anonymize(given, out=tmp_path_factory.mktemp("looked") / "out")


def test_what_leaks_more_than_is_allowed_is_not_published(policy):
    policy["leakage"] = {"most": 0.0, "columns": ["patients.GENDER"]}
    with pytest.raises(UnreachableError, match=r"'patients.GENDER' would still leak 0\.\d+"):
        medveil.anonymize(policy)
    policy["leakage"] = {"most": 1.0}
    assert medveil.anonymize(policy).manifest.rows["published"] > 0


def test_leakage_is_of_quasi_identifiers_by_their_published_names(policy):
    policy["leakage"] = {"most": 0.5, "columns": ["encounters.CLASS"]}
    with pytest.raises(PolicyError, match=r"'encounters.CLASS', which is not a quasi-identifier of a table"):
        load_policy(policy)
    policy["leakage"] = {"most": 0.5, "columns": ["patients.age"]}
    assert load_policy(policy)[0].leakage is not None


def test_advice_is_a_change_of_the_tables_that_gives_what_it_says(release, given):
    found = advice(release.folder)
    assert found is not None
    assert "patients.REGION" in found.now.hidden
    of_columns = [one for one in found.suggestions if "tables" in one.change]
    assert of_columns
    methods = {one.change["method"]["name"] for one in found.suggestions if "method" in one.change}
    assert methods <= {"optimal", "mondrian"}
    best = of_columns[0]
    again = medveil.anonymize(changed(load_policy(given)[0], best.change))
    assert again.manifest.rows["suppressed"] == best.outcome.suppressed


def test_a_release_is_measured_alone_and_beside_its_original(release, given):
    alone = medveil.measure(release.folder, quick=True)
    assert alone.k == release.manifest.claims[0]["achieved"]["k"]
    assert any("intervals between" in note for note in alone.notes)
    whole = medveil.measure(release.folder, load_policy(given)[0], quick=True)
    told = json.loads((release.folder / "internal/measures.json").read_text(encoding="utf-8"))
    assert whole.measures["lm"].value == pytest.approx(told["lm"]["value"])
    assert whole.rows == {"published": release.manifest.rows["published"], "original": 250}


def test_an_original_that_is_one_table_is_refused(release, folder):
    with pytest.raises(InputError, match=r"beside the tables that its policy names"):
        medveil.measure(release.folder, folder / "patients.csv", quick=True)


def test_methods_that_fit_are_told_and_compared(given, tmp_path):
    fits = fitting(given)
    assert [name for name, reason in fits.items() if reason is None] == ["mondrian", "optimal"]
    assert "nothing could be linked" in str(fits["iab"])
    found = compare(given, out=tmp_path / "compared", chosen=["mondrian", "ipa"])
    assert {one.name: one.reason is None for one in found} == {"mondrian": True, "ipa": False}
    assert next(one for one in found if one.name == "mondrian").measures["lm"]["value"] < 0.5


def test_values_that_a_hierarchy_lacks_are_listed_by_table_and_column(policy, tmp_path):
    policy["tables"]["conditions"]["attributes"]["CODE"]["hierarchy"] = {"type": "icd-10"}
    assert missing_values(load_policy(policy)[0], "conditions.CODE").values == {}
    path = tmp_path / "conditions.csv"
    with Path(policy["tables"]["conditions"]["data"]).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows([{**rows[0], "CODE": "no code"}, *rows[1:]])
    policy["tables"]["conditions"]["data"] = str(path)
    assert missing_values(load_policy(policy)[0], "conditions.CODE").values == {"no code": 1}
    with pytest.raises(PolicyError, match=r"no column 'conditions.CODES'"):
        missing_values(load_policy(policy)[0], "conditions.CODES")
