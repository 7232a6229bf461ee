"""Who follows the advice on views of FHIR gets resources."""

import copy
import json

import pytest
from tests.first_contact.following import Case

import medveil

PATIENT = {"id": {"role": "key"}, "gender": {"role": "quasi"}}
VISIT = {"id": {"role": "key"}, "class": {"role": "plain"}}
FINDING = {"id": {"role": "key"}, "clinical_status": {"role": "plain"}}
SPECIMEN = {"resource": "Specimen", "columns": {"patient": "subject.reference.key(Patient)", "status": "status"}}
SEX_TWICE = {"resource": "Patient", "columns": {"id": "id", "gender": "gender", "sex": "gender"}}
TABLES = {
    "Patient": {"data": {"view": "Patient"}, "attributes": PATIENT},
    "Encounter": {"data": {"view": "Encounter"}, "key": {"patient": "Patient.id"}, "attributes": VISIT},
    "Condition": {"data": {"view": "Condition"}, "key": {"patient": "Patient.id"}, "attributes": FINDING},
}
OF_SPECIMENS = {
    "data": {"view": SPECIMEN},
    "key": {"patient": "Patient.id"},
    "attributes": {"status": {"role": "plain"}},
}
OF_SEX = {"data": {"view": SEX_TWICE}, "attributes": {**PATIENT, "sex": {"role": "quasi"}}}
OF_VISIT = {"attributes": {**FINDING, "encounter": {"role": "plain", "insist": True}}}


def exported(folder):
    """A small export: each of forty people has a visit, a finding and a specimen."""

    def subject(i):
        return {"subject": {"reference": f"Patient/p{i}"}}

    visit = {"status": "finished", "class": {"code": "AMB"}}
    finding = {"clinicalStatus": {"coding": [{"code": "active"}]}}
    resources = {
        "Patient": lambda i: {"id": f"p{i}", "gender": "female" if i % 2 else "male"},
        "Encounter": lambda i: {"id": f"v{i}", **visit, **subject(i)},
        "Condition": lambda i: {"id": f"c{i}", **finding, **subject(i), "encounter": {"reference": f"Encounter/v{i}"}},
        "Specimen": lambda i: {"id": f"s{i}", "status": "available", **subject(i)},
    }
    for kind, one in resources.items():
        lines = [json.dumps({"resourceType": kind, **one(i)}) for i in range(40)]
        (folder / f"{kind}.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")


def made(written="fhir", **tables):
    """A run whose tables were changed; one that is None is left out."""

    def run(folder):
        exported(folder)
        chosen = {
            name: {**TABLES.get(name, {}), **copy.deepcopy(table)}
            for name, table in {**TABLES, **tables}.items()
            if table is not None
        }
        for table in chosen.values():
            table["data"] = {"type": "fhir", "path": str(folder), **table["data"]}
        policy = {
            "tables": chosen,
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "method": "optimal",
            "output": {"format": written, "report": False},
            "evaluation": {"advice": False},
        }
        release = medveil.anonymize(policy, out=folder / "release")
        assert written != "fhir" or {p.stem for p in (folder / "release").glob("*.ndjson")} == set(chosen)
        return release

    return run


CASES = {
    "resources that are not written": Case(
        "app/linked_fhir.py",
        "out, or take 'output: {format: csv}'.",
        made(Specimen=OF_SPECIMENS),
        (made(), made("csv", Specimen=OF_SPECIMENS)),
    ),
    "a reference that leads nowhere": Case(
        "app/linked_fhir.py",
        "Name the table under 'key:', or give the column the role identifier.",
        made(Condition=OF_VISIT),
        (
            made(Condition={"key": {"patient": "Patient.id", "encounter": "Encounter.id"}}),
            made(Condition={"attributes": {**FINDING, "encounter": {"role": "identifier"}}}),
        ),
    ),
    "one element twice": Case(
        "app/linked_fhir.py",
        "Take one of them out of the view.",
        made(Patient=OF_SEX),
        (made(Patient={"data": {"view": {**SEX_TWICE, "columns": {"id": "id", "gender": "gender"}}}}),),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
