"""What is published as it is must not single people out behind a good verdict."""

import datetime as dt
import json

import pandas as pd
import pytest

import medveil
from medveil.errors import PolicyError
from medveil.report.claims import verdict

ROWS = 120
BIRTHS = [str(dt.date(1940, 1, 1) + dt.timedelta(days=71 * i)) for i in range(ROWS)]
STAMPS = [f"2020-03-{1 + i % 28:02} {i % 24:02}:{i % 60:02}:{7 * i % 60:02}" for i in range(ROWS)]
AMOUNTS = [f"{1000 + 17.37 * i:.2f}" for i in range(ROWS)]
WARDS = ["north", "south"]


def frame(**columns):
    return pd.DataFrame(
        {
            "sex": ["f", "m"] * (ROWS // 2),
            "age": [str(30 + i // 10) for i in range(ROWS)],
            "ill": ["flu", "cold", "ague"] * (ROWS // 3),
            **columns,
        }
    )


def policy(*models, **attributes):
    return {
        "attributes": {"sex": {"role": "quasi"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}, **attributes},
        "privacy": [{"model": "k-anonymity", "k": 5}, *models],
    }


def told(data, asked):
    events = []
    release = medveil.anonymize(data, asked, progress=events.append)
    return release, [event.detail for event in events if event.stage == "warn"]


@pytest.mark.parametrize("role", ["plain", "sensitive"])
def test_exact_births_are_refused_whatever_they_are_called(role):
    with pytest.raises(PolicyError, match="dates of birth"):
        medveil.anonymize(frame(birth_date=BIRTHS), policy(birth_date={"role": role}))


@pytest.mark.parametrize("values", [STAMPS, AMOUNTS], ids=["timestamps", "amounts"])
def test_a_plain_column_of_its_own_values_is_refused(values):
    with pytest.raises(PolicyError, match=r"(alone singles out 100\.0%|looks like an identifier)") as refused:
        medveil.anonymize(frame(x=values), policy(x={"role": "plain"}))
    assert not any(value in str(refused.value) for value in values)


def rare_days():
    """Thirty values of which each is shared by four people, but hardly within one group of the release."""
    return [f"d{i % 30}" for i in range(ROWS)]


def test_a_plain_column_that_tells_with_the_rest_is_refused(tmp_path):
    data, asked = frame(day=rare_days()), policy(day={"role": "plain"})
    with pytest.raises(PolicyError, match="With the published quasi-identifiers, the plain column 'day'"):
        medveil.anonymize(data, asked, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_columns_that_tell_only_together_are_refused_together():
    bed = [i % 10 // 2 for i in range(ROWS)]
    places = {"ward": [str(int(b < 2)) for b in bed], "floor": [str(b % 2) for b in bed]}
    asked = policy(**{name: {"role": "plain"} for name in places})
    with pytest.raises(PolicyError, match="'ward', 'floor' together single out"):
        medveil.anonymize(frame(**places), asked)


@pytest.mark.parametrize("insist", [True, 1.0])
def test_who_insists_gets_it_and_the_verdict_says_so(tmp_path, insist):
    release, _ = told(frame(day=rare_days()), policy(day={"role": "plain", "insist": insist}))
    release.save(tmp_path / "out")
    for page in ("report.html", "internal/report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "what the plain column &#39;day&#39; tells takes no part in its claims." in text


def test_a_share_that_is_too_small_is_refused_with_one_that_is_not():
    with pytest.raises(PolicyError, match="insist: ") as refused:
        medveil.anonymize(frame(day=rare_days()), policy(day={"role": "plain", "insist": 0.01}))
    enough = float(str(refused.value).split("insist: ")[1].split("'")[0])
    medveil.anonymize(frame(day=rare_days()), policy(day={"role": "plain", "insist": enough}))


def test_a_plain_column_that_hides_people_passes():
    release, _ = told(frame(ward=[WARDS[i // 2 % 2] for i in range(ROWS)]), policy(ward={"role": "plain"}))
    assert "ward" in release.to_pandas()


def test_visits_of_one_person_are_that_person():
    """A value that stands in twenty records of one person alone tells who that is."""
    data = frame(who=[str(i // 20) for i in range(ROWS)], clinic=[f"c{i // 20}" for i in range(ROWS)])
    asked = policy(who={"role": "subject"}, clinic={"role": "plain"})
    asked["privacy"] = [{"model": "k-anonymity", "k": 2}]
    with pytest.raises(PolicyError, match=r"'clinic' alone singles out 100\.0%"):
        medveil.anonymize(data, asked)


def test_a_sensitive_column_that_no_model_covers_is_a_warning():
    _, warnings = told(frame(), policy())
    assert any("No model protects 'ill'" in words and "l-diversity" in words for words in warnings)
    _, warnings = told(frame(), policy({"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "ill"}))
    assert not warnings


def test_a_sensitive_value_of_one_person_is_told_with_a_remedy(tmp_path):
    data = frame(cost=["secretvalue", *["10"] * (ROWS - 1)])
    release, warnings = told(data, policy(cost={"role": "sensitive"}))
    words = next(words for words in warnings if "one person's alone" in words)
    assert "'cost': 1 of 2 values" in words
    assert "Round or group" in words
    assert "secretvalue" not in words
    release.save(tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "internal" / "run.json").read_text(encoding="utf-8"))
    assert words in kept["warnings"]


def test_a_warning_names_a_few_columns_of_many():
    many = {f"c{i}": [f"v{i}", *["10"] * (ROWS - 1)] for i in range(30)}
    many["c7"] = [*map(str, range(9)), *["10"] * (ROWS - 9)]
    _, warnings = told(frame(**many), policy(**{name: {"role": "sensitive"} for name in many}))
    bare, alone = warnings
    assert "No model protects 'ill', 'c0', 'c1', 'c2', 'c3' and 26 more:" in bare
    assert "('c7': 9 of 10 values; 'c0': 1 of 2 values;" in alone, "the worst first"
    assert "and 25 more columns)" in alone


def test_nothing_is_computed_from_the_data_under_differential_privacy():
    """Neither the guard nor the warnings look at values there: two tables get the same words."""
    asked = {
        "attributes": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "ill": {"role": "sensitive", "domain": ["flu", "cold", "ague"]},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 1.0}],
        "method": {"name": "dp-histogram"},
    }
    rare = frame()
    rare.loc[0, "ill"] = "only one has this"
    rare.loc[1, "ill"] = "dr.who@example.org"
    assert told(frame(), asked)[1] == told(rare, asked)[1]


def test_the_first_sentence_names_plain_columns():
    claim = {"model": "k-anonymity", "summary": "5-anonymity", "holds": True, "basis": "proved again from the files"}
    claim |= {"achieved": {"k": 5}, "required": {"k": 5}, "parameters": {"k": 5}, "attribute": None, "on": None}
    first = verdict([claim], "for publication", ["ward"]).sentence.split(". ")[0]
    assert "'ward'" in first
    assert "ward" not in verdict([claim], "for publication").sentence


def test_of_one_record_no_column_alone_is_to_blame():
    frame = pd.DataFrame({"age": [30], "deceased": [None]})
    policy = {
        "attributes": {"age": {"role": "quasi"}, "deceased": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    with pytest.raises(medveil.UnreachableError, match="k = 1"):
        medveil.anonymize(frame, policy)
