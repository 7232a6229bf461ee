"""HIPAA Safe Harbor: what is filled in, refused, checked again from the files, and left to people."""

import datetime as dt
import json
import re

import pytest

import medveil
from medveil.errors import PolicyError
from medveil.release.manifest import file_hash

ROWS = 240
BOTTOM = dt.datetime.now(tz=dt.UTC).year - 89


@pytest.fixture
def table():
    days = [dt.date(2015, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)]
    return {
        "patient_id": [f"P{i // 2:03}" for i in range(ROWS)],
        "birthdate": [str(dt.date(1920 + i % 80, 1 + i % 12, 1)) for i in range(ROWS)],
        "age": [str(20 + i % 80) for i in range(ROWS)],
        "zip": [("02139", "03601", "90210")[i % 3] for i in range(ROWS)],
        "admitted": [str(day) for day in days],
        "sex": ["fm"[i % 2] for i in range(ROWS)],
        "diagnosis": [("flu", "cold", "asthma")[i % 3] for i in range(ROWS)],
        "phone": [f"617-555-{i:04}" for i in range(ROWS)],
        "city": [("Boston", "Salem")[i % 2] for i in range(ROWS)],
        "contact": ["none" if i else "jane@example.org" for i in range(ROWS)],
    }


def policy(attributes, **others):
    return {
        "profile": "hipaa-safe-harbor",
        "attributes": {"patient_id": {"role": "subject"}, "sex": {"role": "quasi"}, **attributes},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "optimal", "suppression": 1.0},
        **others,
    }


def published(release, name):
    return {row[name] for row in release.to_arrow().to_pylist()}


def test_what_is_left_out_is_filled_in(table, tmp_path):
    asked = policy({name: {"role": "quasi"} for name in ("age", "zip", "admitted")})
    release = medveil.anonymize(table, asked, out=tmp_path / "out")
    levels = {a["name"]: (a["hierarchy"]["type"], a["level"]) for a in release.manifest.attributes if a["hierarchy"]}
    assert levels["zip"][0] == "zip3"
    assert levels["zip"][1] >= 1
    assert levels["admitted"] == ("dates", 1)
    assert levels["age"][0] == "intervals"
    assert published(release, "admitted") == {"2015"}
    assert published(release, "zip") <= {"021**", "000**", "902**", "02***", "90***", "0****", "9****", "*"}
    assert not {str(age) for age in range(90, 120)} & published(release, "age")
    claim = next(claim for claim in release.manifest.claims if claim["model"] == "hipaa-safe-harbor")
    assert claim["achieved"] == {"faults": 0}
    assert claim["holds"] is True
    assert claim["parameters"]["zip_areas_of"] == "2000 census"
    for page in ("report.html", "internal/report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "to be attested by a person" in text
        assert "no legal verdict" in text
    assert medveil.audit(tmp_path / "out", table).ok


def test_years_of_birth_that_tell_ages_over_89_are_one_group(table):
    born = medveil.anonymize(table, policy({"birthdate": {"role": "quasi"}}))
    assert f"<{BOTTOM}" in published(born, "birthdate")
    assert all(not label.isdigit() or int(label) >= BOTTOM for label in published(born, "birthdate") - {"*"})
    years = {**table, "birthdate": [date[:4] for date in table["birthdate"]]}
    assert f"<{BOTTOM}" in published(medveil.anonymize(years, policy({"birthdate": {"role": "quasi"}})), "birthdate")
    derived = {"role": "quasi", "derive": {"age_at": "2020-01-01", "name": "years"}}
    old = medveil.anonymize(table, policy({"birthdate": derived}))
    labels = published(old, "years") - {"*"}
    assert "90+" in labels
    assert all(int(re.findall(r"\d+", label)[-1]) < 90 for label in labels - {"90+"})


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        (
            {"phone": {"role": "plain", "insist": False}},
            "'phone' cannot be published: it looks like 'telephone numbers'",
        ),
        ({"city": {"role": "quasi"}}, "a place smaller than a state"),
        ({"contact": {"role": "sensitive"}}, "some of its values look like mail addresses"),
        ({"admitted": {"role": "date", "shift": {"days": 100}}}, "a shifted date is still a date"),
        ({"admitted": {"role": "plain", "insist": True}}, "'admitted' holds dates"),
        ({"admitted": {"role": "quasi", "hierarchy": {"type": "dates"}, "min_level": 1}}, "finer than the year"),
        ({"admitted": {"role": "quasi", "hierarchy": {"type": "dates", "levels": ["month"]}}}, "end below the year"),
        ({"zip": {"role": "quasi", "hierarchy": {"type": "mask", "length": 5}}}, "hierarchy: {type: zip3}"),
        ({"zip": {"role": "sensitive"}}, "hierarchy: {type: zip3}"),
        ({"age": {"role": "sensitive"}}, "ages of 90 and over"),
        ({"age": {"role": "quasi", "hierarchy": {"type": "top-bottom", "top": 95}}}, "Write 'top: 90'"),
        ({"birthdate": {"role": "sensitive"}}, "tells when people were born"),
    ],
)
def test_what_the_rule_forbids_is_refused(table, attributes, sentence):
    with pytest.raises(PolicyError, match="The profile 'hipaa-safe-harbor' refuses this policy") as refused:
        medveil.anonymize(table, policy(attributes))
    assert sentence in str(refused.value)


PARTS = ("%Y-%m", "%m/%Y", "%b %Y", "%B %Y", "%Y-W%V", "%Y%m", "%Y-%j", "%m-%d", "%B", "%A", "%Y Q1")


@pytest.mark.parametrize("written", PARTS)
def test_a_part_of_a_date_in_whatever_form_is_refused(table, written):
    days = [dt.date.fromisoformat(day) for day in table["admitted"]][:60] * 4
    table["a1"] = [day.strftime(written) for day in days]
    with pytest.raises(PolicyError, match=r"'a1' cannot be published: its values look like .* \(C\)"):
        medveil.anonymize(table, policy({"a1": {"role": "plain"}}))
    release = medveil.anonymize(table, policy({"a1": {"role": "plain", "insist": True}}))
    assert "a1" in release.manifest.claims[-1]["parameters"]["attested"]


@pytest.mark.parametrize(
    "values", [["2015", "2016"], ["2339-0", "2951-2"], ["May", "Smith"], ["250.01", "401.9"], ["201504", "990001"]]
)
def test_years_codes_and_words_are_no_parts_of_dates(table, values):
    table["a1"] = [values[i % 2] for i in range(ROWS)]
    assert medveil.anonymize(table, policy({"a1": {"role": "plain"}})).manifest.claims[-1]["holds"]


def test_everything_that_is_refused_is_told_at_once(table):
    with pytest.raises(PolicyError) as refused:
        medveil.anonymize(table, policy({"city": {"role": "quasi"}, "zip": {"role": "sensitive"}}))
    assert "'city'" in str(refused.value)
    assert "'zip'" in str(refused.value)


def test_a_person_may_attest_and_the_checklist_says_so(table, tmp_path):
    asked = policy({"city": {"role": "quasi", "insist": True}})
    release = medveil.anonymize(table, asked, out=tmp_path / "out")
    assert "city" in release.manifest.claims[-1]["parameters"]["attested"]
    assert "That &#39;city&#39; holds none" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_days_since_the_first_visit_are_no_dates(table, tmp_path):
    visits = {"role": "plain", "derive": {"days_since": "admitted", "name": "day"}}
    release = medveil.anonymize(table, policy({"patient_id": {"role": "key"}, "admitted": visits}))
    assert published(release, "day") == {0, 1}
    assert "patient_id" in release.manifest.claims[-1]["parameters"]["attested"]
    (tmp_path / "steward.key").write_text("0123456789abcdef" * 4, encoding="utf-8")
    secret = {"pseudonyms": {"key_file": str(tmp_path / "steward.key")}}
    with pytest.raises(PolicyError, match="key is drawn for this release"):
        medveil.anonymize(table, policy({"patient_id": {"role": "key"}, "admitted": visits}, **secret))


def test_differential_privacy_and_unknown_profiles_are_refused(table):
    private = {"privacy": [{"model": "differential-privacy", "epsilon": 1.0}], "method": "dp-histogram"}
    attributes = {"sex": {"role": "quasi", "domain": ["f", "m"]}}
    with pytest.raises(PolicyError, match="would have to pay for"):
        medveil.anonymize(table, policy(attributes, **private))
    with pytest.raises(PolicyError, match=r"profile: there is no 'hipaa'\. Known are: .*hipaa-safe-harbor"):
        medveil.anonymize(table, policy({}, profile="hipaa"))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("2015", "2015-03", "finer than the year"),
        ("2015", "2015-03-07", "holds dates"),
        ("021**", "02139", "more than three digits"),
        ("902**", "036**", "at most 20,000"),
        ("90+", "93", "ages of 90 and over"),
        ("f", "f@example.org", "mail addresses"),
        ("f", "2015-03", "'sex' holds parts of a year"),
    ],
)
def test_the_auditor_finds_what_a_changed_release_holds(table, tmp_path, old, new, fault):
    asked = policy({name: {"role": "quasi"} for name in ("age", "zip", "admitted")})
    asked["attributes"]["zip"] = {"role": "quasi", "max_level": 1}
    folder = tmp_path / "out"
    medveil.anonymize(table, {**asked, "output": {"report": False}}, out=folder)
    path = folder / "release.csv"
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    assert any(old in row for row in rows)
    changed = [",".join(new if cell == old else cell for cell in row) for row in rows]
    path.write_text("\n".join([changed[0], *sorted(changed[1:])]) + "\n", encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["release.csv"] = file_hash(path)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    found = {one.claim["model"]: one.finding for one in medveil.audit(folder).findings}
    assert found["hipaa-safe-harbor"].holds is False
    assert fault in found["hipaa-safe-harbor"].note


def test_a_column_that_is_attested_away_in_the_manifest_still_needs_its_words(table, tmp_path):
    folder = tmp_path / "out"
    medveil.anonymize(table, policy({"zip": {"role": "quasi"}}, output={"report": False}), out=folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["claims"][-1]["parameters"] = {}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert medveil.audit(folder).refuted


@pytest.mark.parametrize(
    ("label", "fault"),
    [(f"<{BOTTOM - 5}", "not one group"), (str(BOTTOM - 1), "not one group"), (f"<={BOTTOM - 1}", ""), ("1950s", "")],
)
def test_the_auditor_finds_years_of_birth_that_tell_ages_over_89(table, tmp_path, label, fault):
    born = {"birthdate": {"role": "quasi", "hierarchy": {"type": "dates", "levels": ["year"]}, "max_level": 1}}
    release = medveil.anonymize(table, policy(born), out=tmp_path / "out")
    assert f"<{BOTTOM}" in published(release, "birthdate")
    path = tmp_path / "out" / "release.csv"
    lines = path.read_text(encoding="utf-8").replace(f"<{BOTTOM}", label).splitlines()
    path.write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n", encoding="utf-8")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    manifest["files"]["release.csv"] = file_hash(path)
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest))
    claims = {found.claim["model"]: found.finding for found in medveil.audit(tmp_path / "out").findings}
    assert (claims["hipaa-safe-harbor"].holds is False) == bool(fault)
    assert fault in claims["hipaa-safe-harbor"].note


def test_births_that_are_one_group_too_late_are_found(table, tmp_path):
    """Whoever was born in the first year that is told is 90 in a year that the release tells too."""
    table["admitted"] = [f"{BOTTOM + 90}-05-01" for _ in table["admitted"]]
    dates = {"role": "quasi", "hierarchy": {"type": "dates", "levels": ["year"]}}
    with pytest.raises(PolicyError, match=f"one group only before {BOTTOM}"):
        medveil.anonymize(table, policy({"birthdate": dates, "admitted": dates}), out=tmp_path / "out")


def test_days_that_are_ninety_years_tell_an_age(table, tmp_path):
    """Over all columns of days since the first: from the earliest to the latest."""
    table["admitted"] = [("1925-01-01", "2014-01-01")[i % 2] for i in range(ROWS)]
    table["birthdate"] = ["1923-01-01"] * ROWS
    days = {"role": "plain", "derive": {"days_since": "admitted", "name": "day"}}
    asked = {"patient_id": {"role": "key"}, "admitted": days}
    assert max(published(medveil.anonymize(table, policy(asked)), "day")) == 32_507
    table["seen"] = [str(dt.date(1924, 1, 1)) for _ in range(ROWS)]
    asked["seen"] = {"role": "plain", "derive": {"days_since": "admitted", "name": "before"}}
    with pytest.raises(PolicyError, match="'day' tells 90 years of a life: derive the days with 'most: 32504'"):
        medveil.anonymize(table, policy(asked))
    asked["admitted"] = {**days, "derive": {**days["derive"], "most": 32_504}}
    release = medveil.anonymize(table, policy(asked), out=tmp_path / "out")
    assert published(release, "day") == {0, None}
    assert medveil.audit(tmp_path / "out").ok
