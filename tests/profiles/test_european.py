"""The European profiles: two formats, what each fills in and refuses, what is checked and what is left to people."""

import json

import pytest

import medveil
from medveil.errors import PolicyError
from medveil.profiles import profiles

ROWS = 240


@pytest.fixture
def table():
    return {
        "patient_id": [f"P{i // 2:03}" for i in range(ROWS)],
        "age": [str(20 + i // 2 % 60) for i in range(ROWS)],
        "sex": ["fm"[i // 2 % 2] for i in range(ROWS)],
        "admitted": [f"20{15 + i % 3}-03-{1 + i % 28:02}" for i in range(ROWS)],
        "diagnosis": [("flu", "cold", "asthma")[i % 3] for i in range(ROWS)],
        "phone": [f"617-555-{i:04}" for i in range(ROWS)],
        "postcode": [("10115", "20095", "80331")[i // 2 % 3] for i in range(ROWS)],
    }


GROUPS = {"model": "k-anonymity", "k": 11}
DIVERSE = {"model": "l-diversity", "l": 2, "attribute": "diagnosis"}
ANONYMOUS = {
    "patient_id": {"role": "subject"},
    "age": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "admitted": {"role": "quasi"},
    "diagnosis": {"role": "sensitive"},
}
PSEUDONYMOUS = {
    **ANONYMOUS,
    "patient_id": {"role": "key"},
    "admitted": {"role": "date", "shift": {"days": 183}},
}


def policy(profile, attributes, models=(GROUPS, DIVERSE), **others):
    return {
        "profile": profile,
        "attributes": attributes,
        "privacy": list(models),
        "method": {"name": "optimal", "suppression": 0.3},
        **others,
    }


@pytest.mark.parametrize("name", ["gdpr-research", "ehds"])
def test_an_anonymous_release_is_filled_in_checked_and_told(table, tmp_path, name):
    release = medveil.anonymize(table, policy(name, ANONYMOUS), out=tmp_path / "out")
    levels = {a["name"]: (a["hierarchy"]["type"], a["level"]) for a in release.manifest.attributes if a["hierarchy"]}
    assert levels["age"][0] == "intervals"
    assert levels["admitted"][0] == "dates"
    assert all(level >= 1 for _, level in (levels["age"], levels["admitted"]))
    assert release.manifest.status == "for publication"
    claim = next(claim for claim in release.manifest.claims if claim["model"] == name)
    assert (claim["holds"], claim["achieved"]) == (True, {"faults": 0})
    for page in ("report.html", "internal/report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "Singling out: everybody is in a group of at least 11 people" in text
        assert "to be attested by a person" in text
        assert "no legal verdict" in text
    assert medveil.audit(tmp_path / "out", table).ok


def forge(folder, edit):
    path = folder / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return medveil.audit(folder)


@pytest.mark.parametrize("name", ["gdpr-research", "ehds"])
def test_a_pseudonymous_release_is_for_a_secure_environment_only(table, tmp_path, name):
    profile = {"name": name, "format": "pseudonymous"}
    asked = policy(profile, PSEUDONYMOUS, [{"model": "k-anonymity", "k": 2}], output={"report": False})
    release = medveil.anonymize(table, asked, out=tmp_path / "out")
    assert release.manifest.status == "pseudonymous, for a secure environment only"
    assert medveil.audit(tmp_path / "out", table).ok
    report = forge(tmp_path / "out", lambda content: content.update(status="pseudonymous, not anonymous"))
    assert any("secure environment" in f.finding.note and not f.proved for f in report.findings)


def test_a_pseudonymous_release_cannot_be_called_anonymous(table, tmp_path):
    profile = {"name": "ehds", "format": "pseudonymous"}
    asked = policy(profile, PSEUDONYMOUS, [{"model": "k-anonymity", "k": 2}], output={"report": False})
    medveil.anonymize(table, asked, out=tmp_path / "out")

    def edit(content):
        content["status"] = "for publication"
        for claim in content["claims"]:
            if claim["model"] == "ehds":
                claim["parameters"]["format"] = "anonymous"
                claim["parameters"]["attested"] = {"patient_id": "that it names nobody", "admitted": "that it is old"}

    report = forge(tmp_path / "out", edit)
    notes = " ".join(f.finding.note for f in report.findings if not f.proved)
    for words in ("holds pseudonyms", "holds shifted dates", "no claim hides everybody", "'diagnosis', which is sens"):
        assert words in notes
    assert not report.ok


@pytest.mark.parametrize(
    ("change", "models", "sentence"),
    [
        ({"patient_id": {"role": "key"}}, (GROUPS, DIVERSE), "holds pseudonyms, which link"),
        ({"admitted": {"role": "date", "shift": {"days": 9}}}, (GROUPS, DIVERSE), "who knows one date of a person"),
        ({"phone": {"role": "plain"}}, (GROUPS, DIVERSE), "'phone' cannot be published"),
        ({"postcode": {"role": "plain"}}, (GROUPS, DIVERSE), "'postcode' is published as it is"),
        ({}, ({"model": "k-anonymity", "k": 5}, DIVERSE), "Groups of 11 people are asked for"),
        ({}, ({**GROUPS, "on": ["age"]}, DIVERSE), "Groups of 11 people are asked for"),
        ({}, (GROUPS,), "Nothing hides 'diagnosis' within a group"),
    ],
)
def test_what_an_anonymous_release_may_not_hold_is_refused(table, change, models, sentence):
    with pytest.raises(PolicyError, match=sentence) as refused:
        medveil.anonymize(table, policy("gdpr-research", {**ANONYMOUS, **change}, models))
    assert "P001" not in str(refused.value)
    assert "617-555" not in str(refused.value)


def test_a_pseudonymous_release_refuses_what_names_people_and_needs_to_know_whose_records_are(table):
    profile = {"name": "ehds", "format": "pseudonymous"}
    with pytest.raises(PolicyError, match="'phone' cannot be published"):
        medveil.anonymize(table, policy(profile, {**PSEUDONYMOUS, "phone": {"role": "plain"}}))
    nobody = {name: a for name, a in ANONYMOUS.items() if name != "patient_id"}
    with pytest.raises(PolicyError, match="Nothing says whose a record is"):
        medveil.anonymize(table, policy(profile, nobody))


def test_another_number_of_people_and_what_is_insisted_on_are_left_to_a_person(table):
    profile = {"name": "gdpr-research", "people": 5}
    attributes = {**ANONYMOUS, "postcode": {"role": "plain", "insist": True}}
    asked = policy(profile, attributes, ({"model": "k-anonymity", "k": 5}, DIVERSE), output={"report": False})
    release = medveil.anonymize(table, asked)
    claim = next(claim for claim in release.manifest.claims if claim["model"] == "gdpr-research")
    points = [p.sentence for p in profiles()["gdpr-research"]().checklist(claim["parameters"]) if "attested" in p.by]
    assert any("5 people are enough" in sentence for sentence in points)
    assert any("nobody outside can know 'postcode'" in sentence for sentence in points)


def test_dates_to_the_day_that_the_program_took_for_texts_are_found_by_the_auditor(table):
    mask = {"type": "mask", "length": 10, "alphabet": "0123456789-"}
    attributes = {**ANONYMOUS, "admitted": {"role": "quasi", "type": "category", "hierarchy": mask}}
    few = {**table, "admitted": [f"2015-03-0{1 + i % 2}" for i in range(ROWS)]}
    with pytest.raises(PolicyError, match="'admitted' holds dates to the day"):
        medveil.anonymize(few, policy("ehds", attributes, output={"report": False}))
