"""FHIR out: valid resources of the published rows and nothing else, which the auditor reads back by itself."""

import copy
import json

import pyarrow as pa
import pytest
from fhir.resources.R4B import get_fhir_model_class

import medveil
from medveil.datasets import cohort
from medveil.errors import InputError, PolicyError
from medveil.policy import load_policy
from medveil.release.fhir import WrittenColumn, WrittenResource, write_fhir
from medveil.release.fhir_elements import ALLOWED, element_of
from medveil.release.manifest import file_hash
from medveil.sources.fhir_views import VIEWS

DATE = {"role": "date", "shift": {"days": 183}}
PATIENT = {
    "id": {"role": "key"},
    "birth_date": {
        "role": "quasi",
        "type": "date",
        "hierarchy": {"type": "dates", "levels": ["year", "decade"]},
        "min_level": 1,
    },
    "gender": {"role": "quasi"},
    "state": {"role": "quasi"},
}
POLICY = {
    "tables": {
        "Patient": {"attributes": PATIENT},
        "Encounter": {
            "key": {"patient": "Patient.id"},
            "attributes": {
                "id": {"role": "key"},
                "class": {"role": "plain"},
                "start": DATE,
                "end": {"role": "plain", "derive": {"days_after": "start", "name": "stay é"}},
            },
        },
        "Condition": {
            "key": {"patient": "Patient.id", "encounter": "Encounter.id"},
            "attributes": {
                "id": {"role": "key"},
                "onset": DATE,
                "system": {"role": "plain", "insist": True},
                "code": {
                    "role": "sensitive",
                    "type": "code",
                    "set": True,
                    "hierarchy": {"type": "icd-10", "other": "other"},
                },
            },
        },
    },
    "privacy": [
        {"model": "k-anonymity", "k": 4},
        {"model": "km-anonymity", "k": 3, "m": 1, "attribute": "Condition.code"},
    ],
    "method": {"name": "optimal", "suppression": 0.1},
    "output": {"format": "fhir", "report": False},
}


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    return cohort(150, seed=5, visits=3, diagnoses=1.5).write_fhir(tmp_path_factory.mktemp("bulk"))


@pytest.fixture
def policy(export):
    found = copy.deepcopy(POLICY)
    for name, table in found["tables"].items():
        table["data"] = {"type": "fhir", "path": str(export), "view": name}
    return found


@pytest.fixture(scope="module")
def made(export, tmp_path_factory):
    asked = copy.deepcopy(POLICY)
    for name, table in asked["tables"].items():
        table["data"] = {"type": "fhir", "path": str(export), "view": name}
    return medveil.anonymize(asked, out=tmp_path_factory.mktemp("made") / "out")


def resources(folder, kind):
    return [json.loads(line) for line in (folder / f"{kind}.ndjson").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("kind", ["Patient", "Encounter", "Condition"])
def test_every_resource_is_valid_for_an_independent_reader(made, kind):
    model = get_fhir_model_class(kind)
    found = resources(made.folder, kind)
    assert len(found) == made.manifest.tables[kind]["rows"]["published"] > 50
    for resource in found:
        model.model_validate(resource)


def test_references_lead_to_pseudonyms_and_nothing_of_the_source_is_left(made, export):
    patients = {one["id"] for one in resources(made.folder, "Patient")}
    encounters = {one["id"] for one in resources(made.folder, "Encounter")}
    for condition in resources(made.folder, "Condition"):
        assert condition["subject"]["reference"].removeprefix("Patient/") in patients
        assert condition["encounter"]["reference"].removeprefix("Encounter/") in encounters
    text = "".join(path.read_text(encoding="utf-8") for path in made.folder.glob("*.ndjson"))
    for resource in resources(export, "Patient"):
        assert resource["id"] not in text
        assert resource["name"][0]["family"] not in text
    assert not {"text", "div", "meta", "identifier", "name", "telecom"} & {
        key for one in resources(made.folder, "Patient") for key in one
    }


def test_years_stand_in_the_element_groups_in_an_extension_and_what_is_derived_beside(made):
    patients = resources(made.folder, "Patient")
    years = [one.get("birthDate") or one["_birthDate"]["extension"][0]["valueString"] for one in patients]
    assert all(len(year) in {1, 4, 5} for year in years)  # *, 1970 and 1970s
    assert all(len(one["birthDate"]) == 4 for one in patients if "birthDate" in one)
    conditions = resources(made.folder, "Condition")
    codes = [one["code"]["coding"][0] for one in conditions if "code" in one]
    assert {"code" in one for one in codes} == {True, False}  # common ones stay, groups are told apart from codes
    for one in codes:
        assert one["system"] == "http://hl7.org/fhir/sid/icd-10"
        assert ("code" in one) != ("_code" in one)
    visits = resources(made.folder, "Encounter")
    stays = [e for one in visits for e in one.get("extension", ()) if e["url"].startswith("urn:medveil:derived:stay-")]
    assert len(stays) == len(visits)
    assert all(len(one["period"]["start"]) == 10 for one in visits)
    # FHIR asks for a status, which this release does not publish.
    assert all(one["_status"]["extension"][0]["valueCode"] == "masked" for one in visits)


def forged(made, folder, kind, change):
    """A copy of the release whose FHIR file was changed, with a manifest that knows its new hash."""
    folder = made.save(folder) or folder
    path = folder / f"{kind}.ndjson"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{line}\n" for line in change(lines)), encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][path.name] = file_hash(path)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return medveil.audit(folder)


def first(edit):
    def change(lines):
        resource = json.loads(lines[0])
        edit(resource)
        return [json.dumps(resource), *lines[1:]]

    return change


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("Patient", first(lambda r: r.update(name=[{"family": "X"}])), "no column of its table"),
        ("Patient", first(lambda r: r.update(text={"status": "generated", "div": "<div/>"})), "no column"),
        ("Patient", first(lambda r: r.update(gender="other")), "does not hold what its table holds"),
        ("Patient", first(lambda r: r.update(extension=[{"url": "urn:x", "valueString": "y"}])), "no column"),
        ("Patient", first(lambda r: r.update(_gender={"extension": [{"url": "urn:x"}]})), "no resource of medveil's"),
        ("Condition", first(lambda r: r.update(subject={"reference": "Group/1"})), "does not hold"),
        ("Condition", first(lambda r: r["code"]["coding"].append({"code": "A00"})), "no resource of medveil's"),
        ("Condition", first(lambda r: r.update(note=[{"text": "seen"}])), "no column"),
        ("Patient", lambda lines: ['{"gender": "SECRET", ' + lines[0][1:], *lines[1:]], "no resource of medveil's"),
        ("Condition", lambda lines: lines[1:], "does not hold"),
        ("Condition", lambda lines: lines[:-1], "lacks rows"),
        ("Condition", lambda lines: [*lines, lines[-1]], "more resources"),
        ("Condition", lambda lines: [lines[0][:-5], *lines[1:]], "no resource of medveil's"),
    ],
)
def test_what_a_file_holds_beside_its_table_is_found(made, tmp_path, kind, change, words):
    report = forged(made, tmp_path / "copy", kind, change)
    assert any(words in problem and f"'{kind}'" in problem for problem in report.problems)
    assert not report.ok


def test_the_release_is_audited_with_and_without_its_source(made, tmp_path, policy):
    assert medveil.audit(made.folder).ok
    assert forged(made, tmp_path / "copy", "Condition", lambda lines: lines).ok


NEVER = [
    "text.div",
    "identifier.value",
    "telecom.value",
    "address.line",
    "contact.name.family",
    "photo.data",
    "extension.where(url='urn:x').valueString",
    "birthDate.extension.valueString",
    "code.coding[1].code",
    "subject.display",
    "note.text",
    "generalPractitioner.reference.key()",
    "address",
    "id.key()",
]


def test_elements_that_are_not_on_the_list_are_refused(policy, export):
    view = {"resource": "Patient", "columns": {**VIEWS["Patient"], "family": "name.family"}}
    policy["tables"]["Patient"]["data"] = {"type": "fhir", "path": str(export), "view": view}
    policy["tables"]["Patient"]["attributes"]["family"] = {"role": "plain", "insist": True}
    with pytest.raises(PolicyError, match=r"'name\.family' of Patient is not on it"):
        medveil.anonymize(policy)
    for path in NEVER:
        for kind in ALLOWED:
            with pytest.raises(PolicyError, match="is not on it"):
                element_of(kind, path)


def test_ready_views_are_on_the_list_but_for_words():
    for kind, columns in VIEWS.items():
        for name, path in columns.items():
            if name == "display":
                with pytest.raises(PolicyError):
                    element_of(kind, path)
            else:
                assert element_of(kind, path).path("") == path.replace("(Patient)", "()").replace("(Encounter)", "()")


def test_tables_that_fhir_cannot_hold_are_refused(policy, export, tmp_path):
    one = {"data": str(export / "Patient.ndjson"), "attributes": PATIENT, **{k: POLICY[k] for k in ("output",)}}
    with pytest.raises(PolicyError, match="'format: fhir' is for linked tables"):
        load_policy({**one, "privacy": [{"model": "k-anonymity", "k": 2}]})
    twice = copy.deepcopy(policy)
    twice["tables"]["again"] = copy.deepcopy(twice["tables"]["Condition"])
    with pytest.raises(PolicyError, match="Two tables hold resources of the type Condition"):
        medveil.anonymize(twice)
    tables = cohort(150, seed=5, visits=3).write(tmp_path)
    other = copy.deepcopy(policy)
    other["tables"]["Patient"] = {"data": str(tables / "patients.csv"), "attributes": {"Id": {"role": "key"}}}
    other["tables"]["Encounter"]["key"] = {"patient": "Patient.Id"}
    other["tables"]["Condition"]["key"]["patient"] = "Patient.Id"
    with pytest.raises(PolicyError, match="'Patient' was not read from FHIR"):
        medveil.anonymize(other)


def test_ids_are_pseudonyms_or_not_there(policy):
    policy["tables"]["Condition"]["attributes"]["id"] = {"role": "plain", "insist": True}
    with pytest.raises(PolicyError, match=r"'Condition\.id' is the id of resources"):
        medveil.anonymize(policy)


def test_under_the_health_data_space_it_is_for_a_secure_environment_only(policy, tmp_path):
    policy["profile"] = {"name": "ehds", "format": "pseudonymous"}
    release = medveil.anonymize(policy, out=tmp_path / "out")
    assert release.manifest.status == "pseudonymous, for a secure environment only"
    claim = next(claim for claim in release.manifest.claims if claim["model"] == "ehds")
    assert claim["holds"] is True
    assert list(claim["parameters"]["attested"]) == ["Condition.system"]
    report = medveil.audit(tmp_path / "out")
    assert report.ok
    policy["profile"] = "ehds"
    with pytest.raises(PolicyError, match=r"'Patient\.id' holds pseudonyms"):
        medveil.anonymize(policy)


def columns(kind, **values):
    return [WrittenColumn(name, element_of(kind, path)) for name, path in values.items()]


def test_numbers_groups_and_missing_values_are_written_so_that_they_are_read_again(tmp_path):
    resource = WrittenResource("Observation", columns("Observation", v="valueQuantity.value", s="status"))
    texts = ["5.40", "7", "[5-10)", None, "*", "-0.5", "1e3", "0.1234567890123456789", "NaN"]
    table = pa.table({"v": texts, "s": ["final"] * len(texts)})
    write_fhir(table, tmp_path, resource)
    found = [one.get("valueQuantity", {}) for one in resources(tmp_path, "Observation")]
    assert [one.get("value") for one in found] == [5.4, 7, None, None, None, -0.5, 1000, None, None]
    groups = [one["_value"]["extension"][0]["valueString"] if "_value" in one else None for one in found]
    assert groups == [None, None, "[5-10)", None, "*", None, None, texts[7], "NaN"]
    for one in resources(tmp_path, "Observation"):
        get_fhir_model_class("Observation").model_validate(one)


def test_an_element_of_two_types_is_refused_without_a_value(tmp_path):
    resource = WrittenResource("Condition", columns("Condition", a="onsetDateTime", b="onsetPeriod.start"))
    write_fhir(pa.table({"a": ["2020", None], "b": [None, "2021"]}), tmp_path, resource)
    with pytest.raises(InputError, match="of which FHIR allows one") as refused:
        write_fhir(pa.table({"a": ["2020", "2019"], "b": [None, "2021"]}), tmp_path, resource)
    assert "2019" not in str(refused.value)
