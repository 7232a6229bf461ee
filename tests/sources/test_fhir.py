"""FHIR R4 in: bulk exports and bundles by ready and declared views, broken ones in one sentence."""

import gzip
import json
from pathlib import Path

import pytest

import medveil
from medveil.errors import MedveilError, PolicyError
from medveil.sources.fhir import FhirSpec, FhirView, resources
from medveil.sources.fhir_paths import compile_path
from medveil.sources.fhir_views import VIEWS
from medveil.workspace import Workspace

SHARED = Path(__file__).parents[3] / "shared" / "data"
NAME = "Wilhelmina"
PATIENTS = [
    {
        "resourceType": "Patient",
        "id": f"p{i}",
        "birthDate": f"19{50 + i}-01-02",
        "gender": "female" if i % 2 else "male",
        "name": [{"family": NAME}],
        "address": [{"postalCode": "02139", "state": "MA"}],
    }
    for i in range(12)
]
CONDITIONS = [
    {
        "resourceType": "Condition",
        "id": f"c{i}",
        "subject": {"reference": f"Patient/p{i % 12}"},
        "encounter": {"reference": f"urn:uuid:e{i}"},
        "code": {"coding": [{"system": "icd", "code": "E11.9"}, {"code": "second"}]},
        "onsetDateTime": "2020-01-05T08:00:00Z",
    }
    for i in range(30)
]


def rows(path, view=None):
    source = FhirSpec(path=str(path), view=view).open(Workspace())
    return source.batches().read_all().to_pylist()


def lines(*documents):
    return "\n".join(map(json.dumps, documents)) + "\n"


@pytest.fixture
def export(tmp_path):
    (tmp_path / "Patient.ndjson").write_text(lines(*PATIENTS), encoding="utf-8")
    (tmp_path / "Condition.000.ndjson.gz").write_bytes(gzip.compress(lines(*CONDITIONS).encode()))
    (tmp_path / "log.txt").write_text("not read", encoding="utf-8")
    return tmp_path


def test_a_folder_of_an_export_by_ready_views(export):
    patients = rows(export, "Patient")
    assert len(patients) == 12
    assert patients[1]["gender"] == "female"
    assert patients[1]["postal_code"] == "02139"
    assert NAME not in str(patients)
    condition = rows(export, "Condition")[1]
    assert (condition["patient"], condition["encounter"], condition["code"]) == ("p1", "e1", "E11.9")


def test_a_bundle_and_a_line_of_bundles_hold_the_same(export):
    bundle = {"resourceType": "Bundle", "entry": [{"resource": one} for one in (*PATIENTS, *CONDITIONS)]}
    for text in (json.dumps(bundle), json.dumps(bundle, indent=1), lines(bundle)):
        (export / "bundle.json").write_text(text, encoding="utf-8")
        for view in ("Patient", "Condition"):
            assert rows(export / "bundle.json", view) == rows(export, view)[: len(rows(export / "bundle.json", view))]
        (export / "bundle.json").unlink()


def test_a_view_of_ones_own(export):
    view = {"resource": "Condition", "columns": {"who": "subject.reference.key()", "other": "code.coding[1].code"}}
    assert rows(export, view)[0] == {"who": "p0", "other": "second"}
    for path in ("", "a..b", "a.", "name[x]", "a b", "where(a=b)"):
        with pytest.raises(ValueError, match="not a path"):
            FhirView(resource="Patient", columns={"a": path})


def test_a_plain_path_is_known_by_its_content_and_released(export):
    policy = {
        "data": str(export / "Patient.ndjson"),
        "attributes": {"gender": {"role": "quasi"}, "state": {"role": "plain"}, "id": {"role": "key"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"report": False},
    }
    release = medveil.anonymize(policy)
    assert release.manifest.rows["published"] == 12
    assert "p1" not in release.to_arrow()["id"].to_pylist()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            lines(PATIENTS[0]) + '{"resourceType": "Patient", "id": "' + NAME,
            "Line 2 of 'x.ndjson' is not a FHIR resource",
        ),
        ('{"resourceType": "Patient"}\n["Patient"]\n', "Line 2"),
        ('{"resourceType": "Bundle", "entry": [{"resource": "Patient"}]}\n', "Line 1"),
        ("[1, 2", "Line 1 of 'x.ndjson' is not a FHIR resource"),
        (lines({"resourceType": "Group", "id": NAME}), "holds no resource of the type 'Patient'"),
    ],
)
def test_what_is_broken_is_told_in_one_sentence_without_values(tmp_path, content, words):
    (tmp_path / "x.ndjson").write_text(content, encoding="utf-8")
    with pytest.raises(MedveilError) as refused:
        rows(tmp_path, "Patient")
    assert words in str(refused.value)
    assert NAME not in str(refused.value)


def test_folders_views_and_files_that_are_not_there(tmp_path, export):
    (tmp_path / "empty").mkdir()
    with pytest.raises(MedveilError, match="holds no NDJSON"):
        rows(tmp_path / "empty", "Patient")
    with pytest.raises(PolicyError, match="There is no view 'Patients'"):
        rows(export, "Patients")
    (export / "Patient.ndjson.gz").write_bytes(gzip.compress(lines(*PATIENTS).encode())[:60])
    with pytest.raises(MedveilError, match="does not decompress"):
        rows(export, "Patient")


@pytest.mark.skipif(not (SHARED / "fhir-bulk").is_dir(), reason="the public data are not at hand")
@pytest.mark.parametrize("view", ["Patient", "Encounter", "Condition", "MedicationRequest", "Procedure"])
def test_ready_views_fill_their_columns_from_public_exports(view):
    found = rows(SHARED / "fhir-bulk", view)
    filled = {name for row in found for name, value in row.items() if value is not None}
    assert {"id"} < filled
    assert len(filled) >= 0.6 * len(VIEWS[view])
    if view != "Patient":
        patients = {row["id"] for row in rows(SHARED / "fhir-bulk", "Patient")}
        assert {row["patient"] for row in found} <= patients


def test_resources_of_every_kind_and_paths_by_hand(export):
    kinds = [one["resourceType"] for one in resources(tuple(sorted(export.glob("*.ndjson*"))))]
    assert (kinds.count("Condition"), kinds.count("Patient")) == (30, 12)
    assert compile_path("a.b")({"a": [{"b": True}, {"b": 2}]}) == "true"
    assert compile_path("a")({"a": {"b": 1}}) is None
