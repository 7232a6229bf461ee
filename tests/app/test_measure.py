"""`medveil measure`: any table or release, with and without its original."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import medveil
from medveil.app.measure import measure
from medveil.cli import app
from medveil.datasets import patients
from medveil.errors import InputError, PolicyError
from medveil.evaluation.comparison import Score, Skipped
from medveil.risk.risk import RiskFinding

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        "surgery": {"role": "plain"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "disease"},
    ],
    "method": {"name": "optimal", "suppression": 0.1},
    "evaluation": {"queries": {"by sex": "SELECT sex, avg(age) FROM data GROUP BY sex"}, "targets": 200},
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A release directory, its original and its policy."""
    folder = tmp_path_factory.mktemp("measured")
    pyarrow.csv.write_csv(patients(3000, seed=4, patient_id=False), folder / "patients.csv")
    (folder / "policy.json").write_text(json.dumps({"data": "patients.csv", **POLICY}), encoding="utf-8")
    medveil.anonymize(folder / "policy.json", out=folder / "release")
    return folder


def figures(results):
    return {name for name, result in results.items() if not isinstance(result, Skipped)}


def test_a_release_with_its_original(released):
    found = measure(released / "release", released / "patients.csv")
    assert found.roles_from == "the release's own policy"
    assert found.rows["original"] == 3000
    assert {"lm", "ncp", "query-error", "sql-queries", "truthfulness", "marginal-distance"} <= figures(found.measures)
    assert found.measures["truthfulness"].value == 1.0
    assert {"prosecutor", "record-linkage", "attribute-inference", "membership", "minimality"} <= figures(found.risks)
    assert found.risks["prosecutor"].value <= 1 / 5
    assert found.notes == []


def test_figures_of_the_workflow_are_those_of_measure(released):
    """What was written when the release was made, and what is measured of it now."""
    internal = released / "release" / "internal"
    then = json.loads((internal / "measures.json").read_text(encoding="utf-8"))
    risks = json.loads((internal / "risks.json").read_text(encoding="utf-8"))
    now = measure(released / "release", released / "patients.csv", quick=True)
    for name in figures(now.measures):
        assert now.measures[name].value == pytest.approx(then[name]["value"]), name
    for name in figures(now.risks):
        assert now.risks[name].value == pytest.approx(risks[name]["value"]), name
    assert "record-linkage" not in risks


def test_a_release_without_its_original(released):
    found = measure(released / "release")
    assert figures(found.measures) == {"average-class-size", "discernibility"}
    assert {"prosecutor", "marketer", "sample-uniqueness", "leakage"} <= figures(found.risks)
    assert found.measures["lm"] == Skipped("the original is not given")
    whole = measure(released / "release", released / "patients.csv", quick=True)
    assert found.risks["prosecutor"].value == whole.risks["prosecutor"].value


def test_recipients_measure_by_the_manifest_alone(released, tmp_path):
    for name in ("release.csv", "manifest.json"):
        (tmp_path / name).write_bytes((released / "release" / name).read_bytes())
    found = measure(tmp_path)
    assert found.roles_from == "the manifest"
    assert found.roles == {
        "age": "quasi",
        "sex": "quasi",
        "region": "quasi",
        "disease": "sensitive",
        "surgery": "plain",
    }
    with_original = measure(tmp_path, released / "patients.csv", quick=True)
    by_policy = measure(released / "release", released / "patients.csv", quick=True)
    assert with_original.measures["lm"].value == pytest.approx(by_policy.measures["lm"].value)


def test_a_table_that_somebody_else_made():
    original = pa.table(
        {
            "age": [21, 24, 38, 35],
            "zip": ["10115", "10117", "20095", "20097"],
            "diagnosis": ["flu", "flu", "gout", "tb"],
        }
    )
    made = pa.table(
        {
            "age": ["20-29", "20-29", "30-39", "30-39"],
            "zip": ["101**", "101**", "200**", "200**"],
            "diagnosis": ["flu", "flu", "gout", "tb"],
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [20, 39], "widths": [10]}},
            "zip": {"role": "quasi", "type": "code"},
            "diagnosis": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    found = measure(made, original, policy)
    assert found.measures["lm"].parts == pytest.approx({"age": 9 / 19, "zip": 1 / 3})
    assert found.measures["truthfulness"].value == 1.0
    assert found.risks["prosecutor"].value == 1 / 2
    assert found.risks["homogeneity"].value == 1 / 2
    assert found.notes == []


def test_roles_are_guessed_where_nobody_tells(released):
    found = measure(released / "patients.csv", quick=True)
    assert found.roles_from == "guessing"
    assert found.roles["age"] == "quasi"
    assert found.risks["prosecutor"].value == 1.0


def test_labels_that_nobody_can_read_and_columns_that_are_gone(released):
    table = pa.csv.read_csv(released / "release" / "release.csv")
    odd = table.set_column(0, "age", pa.array(["quite old"] * len(table))).drop_columns(["region"])
    found = measure(odd, released / "patients.csv", POLICY, quick=True)
    assert any("'age' stands for no known value" in note for note in found.notes)
    assert any("'region' is not published" in note for note in found.notes)
    assert not any("quite old" in note for note in found.notes)
    assert found.measures["lm"].parts["region"] == found.measures["lm"].parts["age"] == 1.0


def test_a_query_on_a_column_that_is_not_published(released):
    asked = POLICY | {"evaluation": {"queries": ["SELECT avg(length_of_stay) FROM data", "SELECT count(*) FROM data"]}}
    found = measure(released / "release", released / "patients.csv", asked, quick=True)
    score = found.measures["sql-queries"]
    assert isinstance(score, Score)
    assert "'length_of_stay', which is not published" in score.skipped["query 1"]
    assert set(score.parts) == {"query 2"}


def test_two_releases_of_the_same_people(released):
    finer = {**POLICY, "privacy": [{"model": "k-anonymity", "k": 2}]}
    medveil.anonymize(released / "patients.csv", finer, out=released / "second")
    found = measure(released / "release", released / "patients.csv", other=released / "second")
    assert isinstance(found.risks["intersection"], RiskFinding)
    assert found.risks["intersection"].value >= found.risks["intersection"].guesser


def test_people_are_counted_through_the_links(tmp_path):
    table = patients(2000, seed=2, patient_id=True)
    policy = replace_attribute(POLICY, patient_id={"role": "subject"})
    medveil.anonymize(table, policy, out=tmp_path / "release")
    found = measure(tmp_path / "release", table, quick=True)
    assert found.risks["prosecutor"].counted == "people"
    assert found.risks["prosecutor"].value <= 1 / 5
    (tmp_path / "release" / "internal" / "links.parquet").unlink()
    unlinked = measure(tmp_path / "release", table, quick=True)
    assert unlinked.risks["prosecutor"].counted == "records"
    assert any("Records are counted" in note for note in unlinked.notes)


def test_a_population_is_for_measures_alone(tmp_path):
    """The release is the one that would be made without it, and the journalist is measured, then and later."""
    everybody = patients(4000, seed=7, patient_id=False)
    pyarrow.csv.write_csv(everybody, tmp_path / "everybody.csv")
    pyarrow.csv.write_csv(everybody.slice(0, 1500), tmp_path / "sample.csv")
    without = {"data": "sample.csv", **POLICY, "method": "mondrian", "seed": 1}
    named = {**without, "evaluation": {"population": "everybody.csv"}}
    for name, policy in (("without", without), ("named", named)):
        (tmp_path / f"{name}.json").write_text(json.dumps(policy), encoding="utf-8")
        medveil.anonymize(tmp_path / f"{name}.json", out=tmp_path / name)
    assert (tmp_path / "named" / "release.csv").read_bytes() == (tmp_path / "without" / "release.csv").read_bytes()
    then = json.loads((tmp_path / "named" / "internal" / "risks.json").read_text(encoding="utf-8"))
    now = measure(tmp_path / "named", tmp_path / "sample.csv", quick=True).risks
    assert 0 < now["journalist"].value <= now["prosecutor"].value
    assert now["journalist"].parts["average"] < now["prosecutor"].parts["average"]
    assert now["journalist"].value == then["journalist"]["value"]
    assert now["population-uniqueness"].note == "Counted in the population file."
    attacked = measure(tmp_path / "named", tmp_path / "sample.csv").risks
    assert attacked["membership"].note == "Strangers are people of the population."


def test_a_population_file_that_is_not_there(released):
    asked = POLICY | {"evaluation": {"population": "nowhere.csv"}}
    with pytest.raises(InputError, match="There is no file"):
        measure(released / "release", released / "patients.csv", asked)


def replace_attribute(policy, **attributes):
    return {**policy, "attributes": {**policy["attributes"], **attributes}}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (lambda folder: (folder / "nothing.csv",), "There is no file"),
        (lambda folder: (folder,), "not a release directory"),
        (lambda folder: (folder / "release", folder / "nothing.csv"), "There is no file"),
        (lambda folder: (folder / "patients.csv", None, {"attributes": {"agee": {"role": "quasi"}}}), "privacy"),
        (
            lambda folder: (
                folder / "patients.csv",
                folder / "patients.csv",
                replace_attribute(POLICY, x={"role": "quasi"}),
            ),
            "no column 'x'",
        ),
    ],
)
def test_bad_input(released, arguments, problem):
    with pytest.raises((InputError, PolicyError), match=problem):
        measure(*arguments(released))


def test_the_command_line(released):
    runner = CliRunner()
    shown = runner.invoke(app, ["measure", str(released / "release"), "--original", str(released / "patients.csv")])
    assert shown.exit_code == 0, shown.output
    assert "what it gives away" in shown.output
    assert "Skipped, there is no catalog of counterfeits: catalog-attack." in shown.output
    told = runner.invoke(app, ["measure", str(released / "release"), "--quick", "--json"])
    content = json.loads(told.output)
    assert content["measures"]["lm"] == {"reason": "the original is not given"}
    assert content["risks"]["prosecutor"]["value"] <= 1 / 5
