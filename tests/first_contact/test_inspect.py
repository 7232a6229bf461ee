"""A first look fits on a screen, says each reason once, and knows what columns are by short names and by shape."""

import os
import random
import subprocess
import sys
import time

import pandas as pd
import pytest

import medveil
from medveil.engine.duckdb_session import Session
from medveil.errors import PolicyError
from medveil.guessing.column_profile import profile
from medveil.guessing.guess import guess
from medveil.table.schema import Role

DRAW = random.Random(7)


def look(path, *options):
    command = [sys.executable, "-m", "medveil", "inspect", str(path), *options]
    done = subprocess.run(
        command, check=True, capture_output=True, encoding="utf-8", env={**os.environ, "COLUMNS": "80"}
    )
    return done.stdout.splitlines()


def visits(people=80):
    """Visits of people, whose number has a name that says nothing; the month is of the visit."""
    rows = []
    for number in range(people):
        sex, race = DRAW.choice("fm"), DRAW.choice(["a", "b", "c"])
        rows += [
            {
                "kz": str(7000 + 13 * number),
                "sex": sex,
                "race": race,
                "month": str(DRAW.randint(1, 12)),
                "n": str(visit),
            }
            for visit in range(DRAW.randint(2, 5))
        ]
    return pd.DataFrame(rows)


def test_the_table_fits_80_characters_and_says_a_reason_once(tmp_path):
    names = ["birth_date_of_the_patient_at_admission_to_hospital", *(f"unknown_{i}" for i in range(15)), "age", "sex"]
    pd.DataFrame({name: [str(i % 7) + "x" for i in range(60)] for name in names}).to_csv(
        tmp_path / "data.csv", index=False
    )
    lines = look(tmp_path / "data.csv")
    assert max(map(len, lines)) <= 80
    assert " ".join(lines).count("Nothing says what it is") == 1
    assert sum("unknown_" in line for line in lines) == 15


def test_a_wide_table_is_one_screen_and_all_is_shown_where_asked(tmp_path):
    wide = pd.DataFrame({f"c{i}": [str((i * j) % 11) for j in range(30)] for i in range(150)})
    wide["note"] = [f"Seen by doctor number {i} because of a cold that would not go away" for i in range(30)]
    wide.to_csv(tmp_path / "wide.csv", index=False)
    lines = look(tmp_path / "wide.csv")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("note") for line in lines), "what carries a warning is shown"
    assert "--all" in lines[-1]
    assert sum(line.startswith("c") for line in look(tmp_path / "wide.csv", "--all")) >= 150


def test_more_quasi_identifiers_than_any_k_can_hold_are_refused_before_the_search():
    """The columns that cost most are named, and what to do instead."""
    wide = pd.DataFrame({f"c{i}": [f"v{j % (2 + i % 5)}" for j in range(60)] for i in range(100)})
    policy = {
        "attributes": {name: {"role": "quasi", "type": "category"} for name in wide},
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    with pytest.raises(PolicyError, match="100 quasi-identifiers") as refused:
        medveil.anonymize(wide, policy)
    assert "'c4'" in str(refused.value)
    assert "lkc-privacy" in str(refused.value)


def test_a_person_is_known_by_shape():
    found = medveil.inspect(visits())
    roles = {column.name: guessed.role for column, guessed in zip(found.profiles, found.guesses, strict=True)}
    assert roles["kz"] is Role.SUBJECT
    assert [name for name, role in roles.items() if role is Role.SUBJECT] == ["kz"]
    assert "hierarchy" not in found.policy("x.csv").split("kz:")[1].split("\n")[0]


def test_a_number_within_which_people_change_is_no_person():
    mixed = visits()
    mixed["sex"] = [DRAW.choice("fm") for _ in range(len(mixed))]
    found = medveil.inspect(mixed)
    assert Role.SUBJECT not in {guessed.role for guessed in found.guesses}


@pytest.mark.parametrize(
    ("name", "role", "concept"),
    [
        ("sbp", Role.SENSITIVE, "result"),
        ("dbp", Role.SENSITIVE, "result"),
        ("HR", Role.SENSITIVE, "result"),
        ("ht", Role.QUASI, "weight"),
        ("wt_kg", Role.QUASI, "weight"),
        ("AGEP", Role.QUASI, "age"),
        ("RAC1P", Role.QUASI, "race"),
        ("fnlwgt", Role.QUASI, "survey-weight"),
        ("WTMEC2YR", Role.QUASI, "survey-weight"),
        ("death_year", Role.QUASI, "death"),
        ("ideathmon", Role.QUASI, "death"),
        ("day_of_death", Role.QUASI, "death"),
    ],
)
def test_common_names(name, role, concept):
    found = guess(profile(name, [str(20 + i % 37) for i in range(200)]))
    assert (found.role, found.concept) == (role, concept)


def test_weights_that_many_share_are_published_as_they_are():
    assert guess(profile("pwgtp", [str(i % 3) for i in range(300)])).role is Role.SENSITIVE


def test_a_starter_policy_of_many_quasi_identifiers_takes_a_method_that_ends(tmp_path):
    rows = range(200)
    words = ["low", "fair", "good", "high", "none"]
    wide = pd.DataFrame({f"item_{i}": [words[(i * j) % 5] for j in rows] for i in range(30)})
    wide["SDMVPSU"] = [j % 3 for j in rows]
    wide["diagnosis"] = [["J45", "I10", "E11"][j % 3] for j in rows]
    wide.to_csv(tmp_path / "wide.csv", index=False)
    found = medveil.inspect(tmp_path / "wide.csv").policy("wide.csv")
    assert "method: {name: mondrian}" in found
    assert "l: 2, attribute: diagnosis}" in found
    (tmp_path / "policy.yaml").write_text(found)
    release = medveil.anonymize(None, tmp_path / "policy.yaml")
    assert release.manifest.rows["published"] == 200


def test_a_thousand_columns_are_looked_at_one_question_each(tmp_path, monkeypatch):
    asked = []
    real = Session.row

    def row(self, query):
        asked.append(query)
        return real(self, query)

    monkeypatch.setattr(Session, "row", row)
    pd.DataFrame({f"c{i}": ["1", "2", "3"] for i in range(1_000)}).to_csv(tmp_path / "wide.csv", index=False)
    started = time.process_time()
    assert len(medveil.inspect(tmp_path / "wide.csv").guesses) == 1_000
    assert len(asked) <= 1_002
    assert not [query for query in asked if "FROM data " in query], "a view of all columns is unfolded each time"
    assert time.process_time() - started < 40
