"""What recipients are told beside the release: who made it and what for, what columns mean, what is left open."""

import json
import re
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

import medveil
from medveil.errors import PolicyError
from medveil.methods import methods
from medveil.privacy import models
from medveil.report.terms import claim_figures, parameters_in_words, reported

ABOUT = {"title": "Flu <in> winter", "purpose": "Teaching.\nNot for decisions.", "contact": "office@example.org"}


def policy(**more: object) -> dict[str, object]:
    return {
        "attributes": {
            "age": {"role": "quasi", "type": "number", "description": "Age in years & months"},
            "sex": {"role": "quasi", "max_level": 0},
            "ill": {"role": "sensitive"},
            "ward": {"role": "plain", "type": "category"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "release": ABOUT,
        **more,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame = pd.DataFrame(
        {"age": range(40), "sex": ["f", "m"] * 20, "ill": ["flu", "cold", None, "flu"] * 10, "ward": ["a"] * 40}
    )
    out = tmp_path_factory.mktemp("about") / "out"
    medveil.anonymize(frame, policy(), out=out)
    return out


def test_the_manifest_says_what_the_policy_says_and_the_day(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {key: manifest["about"][key] for key in ABOUT} == ABOUT
    assert abs((date.today() - date.fromisoformat(manifest["about"]["date"])).days) <= 1  # noqa: DTZ011
    assert [a.get("description") for a in manifest["attributes"]] == ["Age in years & months", None, None, None]


@pytest.mark.parametrize("page", ["report.html", "internal/report.html"])
def test_both_pages_have_title_purpose_contact_day_and_dictionary(folder: Path, page: str) -> None:
    text = (folder / page).read_text()
    assert "<h1>Flu &lt;in&gt; winter</h1>" in text
    for words in ("Teaching.", "office@example.org", "Made on", "Data dictionary", "Age in years &amp; months"):
        assert words in text
    dictionary = text[text.index("Data dictionary</caption>") :]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>.*?</tr>", dictionary)][:5]
    assert rows[0] == ["column", "what it means", "role", "type", "published as", "values", "missing"]
    assert rows[1][4:] == ["* alone: everything is hidden", "1", "0"]
    assert rows[2][4:] == ["values", "2", "0"]
    assert rows[3][2:] == ["sensitive: others should not learn it", "category", "values", "2", "10"]
    assert rows[4][2] == "published as it is"


def test_recipients_are_told_what_is_left_open(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "What it does not protect from" in text
    assert "everybody in the group is known to have it" in text
    assert "Columns that are published as they are" in text
    assert "Other releases of the same people" in text


def test_parameters_are_explained(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "The largest share of records that may be suppressed." in text
    assert "proved to be the best of its kind" in text
    for words in ("time_limit", "lemma_1"):
        assert words not in text


def test_nothing_is_shown_under_the_name_of_a_variable() -> None:
    method = {"name": "optimal", "parameters": {"time_limit": 3, "loss": None}, "least_alpha": "1/2", "warning": None}
    assert parameters_in_words(method) == [
        ["time limit", "3", "Seconds after which the best release found so far is taken."]
    ]
    assert reported(method) == [["largest share of the sensitive value in a cluster", "1/2"]]
    assert claim_figures({"lemma_1": True}) == "the catalog alone tells no counterfeit (Lemma 1): yes"
    assert claim_figures(None) == "none"


@pytest.mark.parametrize("part", [*models().values(), *methods().values()], ids=lambda part: part.name)
def test_every_model_and_method_says_what_it_leaves_open(part: type) -> None:
    if part.__module__.startswith("medveil."):
        assert re.fullmatch(r"[A-Zkltbd].{40,}\.", part.leaves_open)


def test_a_repeatable_run_has_no_day(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2] * 4, "sex": ["f"] * 8, "ill": ["flu"] * 8, "ward": ["a"] * 8})
    told = []
    for name in ("one", "two"):
        medveil.anonymize(frame, policy(seed=1), out=tmp_path / name)
        told.append((tmp_path / name / "manifest.json").read_bytes())
    assert told[0] == told[1]
    assert "date" not in json.loads(told[0])["about"]


def test_an_unknown_key_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(PolicyError, match="Did you mean 'title'"):
        medveil.anonymize(pd.DataFrame(), policy(release={"titel": "x"}))
