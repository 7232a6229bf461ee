"""Words that seem to stand for a missing value are proposed by a first look, and taken by nobody but the steward."""

import html

import pandas as pd
import pytest
from tests.test_cli import run

import medveil
from medveil.app.inspect import inspect_linked, write_linked_policy, write_policy
from medveil.guessing.missing_words import MISSING_WORDS, missing_words
from medveil.policy import load_policy

ROWS = 240
TABLE = pd.DataFrame(
    {
        "age": ["?" if i % 40 == 0 else str(20 + i % 60) for i in range(ROWS)],
        "race": ["?" if i % 30 == 0 else "abc"[i % 3] for i in range(ROWS)],
        "weight_kg": ["NA" if i % 20 == 0 else f"{50 + i / 7:.2f}" for i in range(ROWS)],
        "rhesus": ["+-"[i % 2] for i in range(ROWS)],
        "last_name": ["NULL", "Null", *(f"N{i}" for i in range(ROWS - 2))],
        "answer": ["none", "unknown", "yes"] * (ROWS // 3),
    }
)
PRIVATE = {
    "attributes": {
        "race": {"role": "quasi", "domain": ["a", "b", "c"]},
        "answer": {"role": "sensitive", "domain": ["none", "unknown", "yes"]},
    },
    "privacy": [{"model": "differential-privacy", "epsilon": 1.0}],
    "method": "dp-histogram",
}


@pytest.fixture
def table(tmp_path):
    TABLE.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_they_are_found_with_their_columns_and_nothing_is_read_that_way(table):
    found = medveil.inspect(table)
    assert found.missing_words == found.to_dict()["missing_words"] == {"?": ["age", "race"], "NA": ["weight_kg"]}
    assert all(profile.missing == 0 for profile in found.profiles)
    assert "inspect again with missing=['?', 'NA']." in html.unescape(found._repr_html_())
    again = medveil.inspect(TABLE, missing=["?", "NA"])
    assert {p.name: p.missing for p in again.profiles if p.missing} == {"age": 6, "race": 8, "weight_kg": 12}


def test_the_terminal_names_the_options_and_who_takes_them_gets_numbers(table, tmp_path):
    told = " ".join(run("inspect", table).stdout.split())
    assert "'?' seems to stand for a missing value (in age, race)." in told
    assert "inspect again with --missing '?' --missing NA" in told
    done = run("inspect", table, "--missing", "?", "--missing", "NA", "--policy-out", tmp_path / "p.yaml")
    assert "seems to stand" not in done.stdout
    policy, _ = load_policy(tmp_path / "p.yaml")
    assert policy.data.missing == ("?", "NA")
    assert policy.attributes["age"].type == "number"
    assert "seems to stand" not in (tmp_path / "p.yaml").read_text(encoding="utf-8")


def test_the_starter_policy_proposes_the_line_that_says_so(table, tmp_path):
    write_policy(medveil.inspect(table), table, tmp_path / "p.yaml")
    lines = (tmp_path / "p.yaml").read_text(encoding="utf-8").splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.startswith("data: ")]
    assert lines[place - 1] == '# data: {path: data.csv, missing: ["?", NA]}'
    lines[place - 1 : place + 1] = [lines[place - 1].removeprefix("# ")]
    (tmp_path / "followed.yaml").write_text("\n".join(lines), encoding="utf-8")
    policy, _ = load_policy(tmp_path / "followed.yaml")
    assert policy.data.missing == ("?", "NA")


def test_linked_tables_are_told_by_table_and_keep_what_was_said(tmp_path):
    people = pd.DataFrame({"id": [f"{i:05}" for i in range(60)], "race": ["?", "a", "b"] * 20})
    visits = pd.DataFrame({"person": [f"{i % 60:05}" for i in range(120)], "ward": ["x", "y"] * 60})
    for name, frame in (("people", people), ("visits", visits)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [tmp_path / "people.csv", tmp_path / "visits.csv"]
    write_linked_policy(inspect_linked(paths), paths, tmp_path / "a.yaml")
    assert '    # data: {path: people.csv, missing: ["?"]}' in (tmp_path / "a.yaml").read_text(encoding="utf-8")
    write_linked_policy(inspect_linked(paths, missing=["?"]), paths, tmp_path / "b.yaml")
    policy, _ = load_policy(tmp_path / "b.yaml")
    assert policy.tables["people"].data.missing == ("?",)


def test_a_word_among_many_values_is_found_whatever_its_place():
    values = [f"{i / 8:.3f}" for i in range(9_000)]
    found = medveil.inspect(pd.DataFrame({"sodium": [*values, "n/a"]}))
    assert found.missing_words == {"n/a": ["sodium"]}


def test_a_minus_beside_a_plus_is_a_result():
    assert missing_words(["-", "+"]) == ()
    assert missing_words(["-", "1"]) == ("-",)
    assert not {"none", "None", "unknown", "Null", "Na", "0"} & set(MISSING_WORDS)


def test_under_differential_privacy_the_policy_alone_says_what_is_missing():
    """Whether a `?` is in the data changes neither what is said nor how anything is read."""
    told = []
    for frame in (TABLE, TABLE.replace("?", "a")):
        said = []
        medveil.anonymize(frame, PRIVATE, progress=lambda event, said=said: said.append((event.stage, event.detail)))
        told.append([detail for stage, detail in said if stage == "warn"])
    assert told[0] == told[1]
    assert not any("seems to stand" in detail for detail in told[0])
