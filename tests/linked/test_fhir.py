"""Linked releases of FHIR: references lead to keys, and a folder has a starter policy."""

import json

import pytest
from typer.testing import CliRunner

import medveil
from medveil.app.inspect_folder import inspect_folder, write_folder_policy
from medveil.cli import app
from medveil.datasets import cohort
from medveil.errors import InputError, UnreachableError
from medveil.policy import load_policy
from medveil.sources.fhir import FhirSpec
from medveil.workspace import Workspace


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    return cohort(120, seed=3, visits=3, diagnoses=1.5).write_fhir(tmp_path_factory.mktemp("bulk"))


def rows(path, view):
    return FhirSpec(path=str(path), view=view).open(Workspace()).batches().read_all().to_pylist()


def test_a_folder_has_a_starter_policy_that_makes_a_linked_release(export, tmp_path):
    found = inspect_folder(export)
    assert found.to_dict()["links"] == {
        "Encounter.patient": "Patient.id",
        "Condition.patient": "Patient.id",
        "Condition.encounter": "Encounter.id",
    }
    assert found.to_dict()["people"] == "Patient"
    write_folder_policy(found, export, tmp_path / "policy.yaml")
    text = (tmp_path / "policy.yaml").read_text(encoding="utf-8")
    policy, _ = load_policy(tmp_path / "policy.yaml")
    assert list(policy.tables) == ["Patient", "Encounter", "Condition"]
    assert policy.tables["Condition"].key == {"patient": "Patient.id", "encounter": "Encounter.id"}
    assert policy.tables["Condition"].attributes["code"].set
    assert policy.tables["Condition"].attributes["code"].hierarchy.name.startswith("icd-10")
    (tmp_path / "table.yaml").write_text(text.replace("format: fhir", "format: csv, report: false"), encoding="utf-8")
    release = medveil.anonymize(str(tmp_path / "table.yaml"), out=tmp_path / "out")
    assert [table["rows"]["strays"] for table in release.manifest.tables.values()] == [0, 0, 0]
    assert medveil.audit(tmp_path / "out", tmp_path / "table.yaml").ok


def test_references_in_every_form_lead_to_their_patient(tmp_path):
    forms = ("Patient/a", "urn:uuid:a", "https://example.org/fhir/Patient/a", "Patient/a/_history/2")
    others = ("Group/a", "Patient?identifier=a", "#a", "Patient/", "urn:")
    conditions = [
        {"resourceType": "Condition", "id": f"c{i}", "subject": {"reference": form}}
        for i, form in enumerate((*forms, *others))
    ]
    (tmp_path / "c.ndjson").write_text("".join(json.dumps(one) + "\n" for one in conditions), encoding="utf-8")
    assert [row["patient"] for row in rows(tmp_path, "Condition")] == ["a"] * len(forms) + [None] * len(others)


def test_names_of_a_bundle_stand_for_the_ids_of_its_resources(tmp_path):
    """A bundle may call a resource `urn:uuid:x` whose id is another, or which has none."""
    entries = [
        {"fullUrl": "urn:uuid:x", "resource": {"resourceType": "Patient", "id": "p1"}},
        {"fullUrl": "urn:uuid:y", "resource": {"resourceType": "Encounter", "subject": {"reference": "urn:uuid:x"}}},
        {
            "resource": {
                "resourceType": "Condition",
                "id": "c1",
                "subject": {"reference": "urn:uuid:x"},
                "encounter": {"reference": "urn:uuid:y"},
            }
        },
    ]
    (tmp_path / "b.json").write_text(json.dumps({"resourceType": "Bundle", "entry": entries}), encoding="utf-8")
    assert [row["id"] for row in rows(tmp_path, "Patient")] == ["p1"]
    assert [(row["id"], row["patient"]) for row in rows(tmp_path, "Encounter")] == [("y", "p1")]
    assert [(row["patient"], row["encounter"]) for row in rows(tmp_path, "Condition")] == [("p1", "y")]


def test_what_has_no_ready_view_or_points_nowhere_is_told(export, tmp_path):
    (tmp_path / "Patient.ndjson").write_text((export / "Patient.ndjson").read_text(encoding="utf-8"), encoding="utf-8")
    conditions = (export / "Condition.ndjson").read_text(encoding="utf-8")
    (tmp_path / "Condition.ndjson").write_text(conditions, encoding="utf-8")
    (tmp_path / "Group.ndjson").write_text('{"resourceType": "Group", "id": "g"}\n', encoding="utf-8")
    found = inspect_folder(tmp_path)
    assert list(found.left_out) == ["Group"]
    guesses = {
        p.name: g for p, g in zip(found.tables["Condition"].profiles, found.tables["Condition"].guesses, strict=True)
    }
    assert guesses["encounter"].role.value == "identifier"
    assert guesses["patient"].role.value == "key"


def test_a_table_of_fewer_people_than_hide_each_other_is_left_out_and_says_so_where_it_is_not(export, tmp_path):
    for name in ("Patient", "Encounter"):
        (tmp_path / f"{name}.ndjson").write_bytes((export / f"{name}.ndjson").read_bytes())
    patient = json.loads((export / "Patient.ndjson").read_text(encoding="utf-8").splitlines()[0])["id"]
    allergy = {
        "resourceType": "AllergyIntolerance",
        "id": "a",
        "patient": {"reference": f"Patient/{patient}"},
        "code": {"coding": [{"code": "1191"}]},
    }
    (tmp_path / "Allergy.ndjson").write_text(json.dumps(allergy) + "\n", encoding="utf-8")
    found = inspect_folder(tmp_path)
    assert list(found.tables) == ["Patient", "Encounter"]
    assert found.left_out == {"AllergyIntolerance": "fewer than 5 people have records there"}
    data = {"type": "fhir", "path": str(tmp_path)}
    policy = {
        "tables": {
            "Patient": {"data": {**data, "view": "Patient"}, "attributes": {"id": {"role": "key"}}},
            "allergies": {
                "data": {**data, "view": "AllergyIntolerance"},
                "key": {"patient": "Patient.id"},
                "attributes": {"code": {"role": "sensitive", "type": "code", "set": True}},
            },
        },
        "privacy": [{"model": "km-anonymity", "k": 5, "attribute": "allergies.code"}],
    }
    with pytest.raises(UnreachableError, match=r"Fewer than 5 people have any value in 'allergies\.code'"):
        medveil.anonymize(policy)


def test_a_line_that_is_broken_further_down_stops_a_linked_release_without_a_value(export, tmp_path):
    for name in ("Patient", "Condition"):
        (tmp_path / f"{name}.ndjson").write_bytes((export / f"{name}.ndjson").read_bytes())
    with (tmp_path / "Condition.ndjson").open("a", encoding="utf-8") as stream:
        stream.write('{"resourceType": "Condition", "id": "SECRET\n')
    data = {"type": "fhir", "path": str(tmp_path)}
    policy = {
        "tables": {
            "Patient": {"data": {**data, "view": "Patient"}, "attributes": {"id": {"role": "key"}}},
            "Condition": {
                "data": {**data, "view": "Condition"},
                "key": {"patient": "Patient.id"},
                "attributes": {"onset": {"role": "date", "shift": {"days": 30}}},
            },
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(InputError, match=r"of 'Condition\.ndjson' is not a FHIR resource") as refused:
        medveil.anonymize(policy)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"resourceType": "Group", "id": "g"}\n', "holds no patients"),
        ('{"resourceType": "Patient", "id": "SECRET', "is not a FHIR resource"),
        ('{"resourceType": "Bundle", "entry": {"SECRET": 1}}\n', "is not a FHIR resource"),
        ("", "is not a FHIR resource"),
        (None, "holds neither FHIR"),
    ],
)
def test_folders_that_cannot_be_looked_at_are_told_in_one_sentence(tmp_path, content, words):
    if content is not None:
        (tmp_path / "x.ndjson").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words) as refused:
        inspect_folder(tmp_path)
    assert "SECRET" not in str(refused.value)


def test_a_folder_takes_no_options_of_files(export):
    with pytest.raises(InputError, match="without further options"):
        inspect_folder(export, missing=["?"])
    assert inspect_folder(export, missing=[], delimiter=None).links.root == "Patient"


def test_the_command_shows_the_folder(export, tmp_path):
    shown = CliRunner().invoke(app, ["inspect", str(export), "--policy-out", str(tmp_path / "p.yaml")])
    assert shown.exit_code == 0
    assert "Condition.encounter points to Encounter.id." in shown.output
    made = CliRunner().invoke(app, ["anonymize", str(tmp_path / "p.yaml"), "--out", str(tmp_path / "out")])
    assert made.exit_code == 0
    assert "Condition.csv and Condition.ndjson:" in made.output
    assert medveil.audit(tmp_path / "out", tmp_path / "p.yaml").ok
