"""From a table and a policy to a release directory whose claims were proved from what was written."""

import json
import random
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import medveil
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.errors import (
    CancelledError,
    InputError,
    OutputError,
    PolicyError,
    UnreachableError,
    VerificationError,
)
from medveil.lattice.evaluate import Evaluator
from medveil.methods.problem import label_array
from medveil.release.manifest import read_manifest
from medveil.sources.opening import open_source

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "surgery": {"role": "plain"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}],
    "method": {"name": "optimal", "suppression": 0.05},
}


def with_(**changes):
    return {**POLICY, **changes}


@pytest.fixture(scope="module")
def table():
    return patients(2000, seed=3, patient_id=True)


def smallest_class(frame, columns):
    return frame.groupby(columns, dropna=False).size().min()


@pytest.mark.parametrize("method", [{"name": "optimal", "suppression": 0.05}, {"name": "mondrian"}])
def test_every_class_is_large_enough_and_every_record_is_accounted_for(table, method):
    release = medveil.anonymize(table, with_(method=method))
    frame = release.to_pandas()
    assert smallest_class(frame, ["age", "sex", "region"]) >= 4
    rows = release.manifest.rows
    assert rows["published"] == len(frame)
    assert rows["published"] + rows["suppressed"] == rows["input"] == 2000
    assert list(frame.columns) == ["age", "sex", "region", "disease", "surgery"]


def test_every_kind_of_frame_gives_the_same_release(table):
    expected = medveil.anonymize(table, POLICY).to_arrow()
    frame = table.to_pandas()
    shuffled = frame.sample(frac=1, random_state=1)
    for same in (frame, shuffled, pl.from_arrow(table), table.slice(700), None):
        if same is None or len(same) < 2000:
            continue
        assert medveil.anonymize(same, POLICY).to_arrow().to_pydict() == expected.to_pydict()


def test_rows_are_sorted_by_what_is_published_and_the_row_number_does_not_survive(table):
    frame = medveil.anonymize(table.to_pandas().sample(frac=1, random_state=2), POLICY).to_pandas()
    texts = [tuple(map(str, row)) for row in frame.itertuples(index=False)]
    assert texts == sorted(texts)
    assert list(frame.index) == list(range(len(frame)))


def test_a_missing_value_is_a_value_of_its_own_and_no_record_vanishes():
    """A package that drops missing values reports k = 3 here; the record without an age is alone: k = 1."""
    frame = pd.DataFrame({"age": [30, 30, 30, None], "sex": ["f"] * 4})
    policy = {
        "attributes": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    release = medveil.anonymize(frame, policy)
    assert release.manifest.claims[0]["achieved"] == {"k": 1}
    assert release.manifest.rows["published"] == 4
    general = medveil.anonymize(frame, {**policy, "privacy": [{"model": "k-anonymity", "k": 3}]})
    assert general.manifest.rows["published"] == 4
    assert set(general.to_pandas()["age"]) == {"*"}


def test_twenty_visits_of_one_patient_are_one_patient():
    frame = pd.DataFrame({"who": ["a"] * 20 + ["b", "c"], "sex": ["f"] * 20 + ["m", "m"], "ill": ["x"] * 22})
    policy = {
        "attributes": {"who": {"role": "subject"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    release = medveil.anonymize(frame, policy)
    assert set(release.to_pandas()["sex"]) == {"*"}
    assert release.manifest.claims[0]["achieved"] == {"k": 3}
    assert "who" not in release.to_pandas()


def test_suppressed_records_as_stars_hide_everything(table):
    attributes = {**POLICY["attributes"], "region": {"role": "quasi", "max_level": 0}}
    method = {"name": "optimal", "suppression": 0.9}
    release = medveil.anonymize(table, with_(attributes=attributes, output={"suppressed": "stars"}, method=method))
    frame = release.to_pandas()
    stars = frame[(frame == "*").all(axis=1)]
    assert len(stars) == release.manifest.rows["suppressed"] > 0
    assert len(frame) == 2000


def test_only_named_columns_are_published(table):
    attributes = {k: v for k, v in POLICY["attributes"].items() if k != "surgery"}
    release = medveil.anonymize(table, with_(attributes={**attributes, "patient_id": {"role": "identifier"}}))
    assert list(release.to_pandas()) == ["age", "sex", "region", "disease"]


def test_levels_are_held_between_their_limits(table):
    attributes = {**POLICY["attributes"]}
    attributes["age"] = {**attributes["age"], "min_level": 2, "max_level": 2}
    release = medveil.anonymize(table, with_(attributes=attributes))
    assert {a["name"]: a["level"] for a in release.manifest.attributes}["age"] == 2


def test_several_requirements_with_shields(table):
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "k-anonymity", "k": 40, "on": ["age", "sex"]}]
    frame = medveil.anonymize(table, with_(privacy=privacy)).to_pandas()
    assert smallest_class(frame, ["age", "sex", "region"]) >= 3
    assert smallest_class(frame, ["age", "sex"]) >= 40


def test_a_t_threshold_binds_on_every_class(table):
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.3, "attribute": "disease"}]
    release = medveil.anonymize(table, with_(privacy=privacy, method={"name": "optimal", "suppression": 0.1}))
    frame = release.to_pandas()
    whole = table.to_pandas()["disease"].value_counts(normalize=True)
    for _, part in frame.groupby(["age", "sex", "region"], dropna=False):
        share = part["disease"].value_counts(normalize=True).reindex(whole.index, fill_value=0)
        assert (share - whole).abs().sum() / 2 <= 0.3 + 1e-9
    claim = release.manifest.claims[1]
    assert claim["basis"] == "proved again from files and source"
    assert claim["achieved"]["t"] <= 0.3


def test_saving_reading_and_auditing(table, tmp_path):
    release = medveil.anonymize(table, with_(output={"format": "parquet"}))
    folder = release.save(tmp_path / "out")
    assert (folder / "release.parquet").is_file()
    saved = read_manifest(folder)
    assert set(saved.files) - set(release.manifest.files) == {"report.html"}
    assert replace(saved, files=release.manifest.files) == release.manifest
    assert audit(folder).ok
    assert release.to_polars().height == release.manifest.rows["published"]
    with pytest.raises(OutputError, match="already exists"):
        release.save(folder)


def test_what_stays_in_the_house_is_in_internal(table, tmp_path):
    medveil.anonymize(table, POLICY, out=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "release.csv",
        "manifest.json",
        "report.html",
        "internal",
    }
    internal = {path.name for path in (tmp_path / "out" / "internal").iterdir()}
    assert {"policy.json", "measures.json", "run.json", "report.html"} <= internal
    assert (tmp_path / "out" / "internal").stat().st_mode & 0o077 == 0
    measures = json.loads((tmp_path / "out" / "internal" / "measures.json").read_text())
    assert 0 < measures["lm"]["value"] < 1


def test_a_seed_repeats_every_byte_and_forbids_publication(table, tmp_path):
    for name in ("one", "two"):
        medveil.anonymize(table, with_(seed=424242), out=tmp_path / name)
    for file in ("release.csv", "manifest.json", "report.html", "internal/report.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    text = (tmp_path / "one" / "manifest.json").read_text()
    assert "424242" not in text
    assert json.loads(text)["status"] == "repeatable, not for publication"
    assert "424242" in (tmp_path / "one" / "internal" / "run.json").read_text()


def test_a_cell_value_reaches_nothing_but_the_release(tmp_path):
    """Every cell holds a token of its own; only what is published may be found in what was written."""
    chance = random.Random(5)
    frame = pd.DataFrame(
        {
            name: [f"zz{name}{chance.randrange(groups):04d}zz" for _ in range(300)]
            for name, groups in (("secret", 300), ("who", 100), ("quasi", 40), ("ill", 5), ("note", 7), ("left", 9))
        }
    )
    policy = {
        "attributes": {
            "secret": {"role": "identifier"},
            "who": {"role": "subject"},
            "quasi": {"role": "quasi"},
            "ill": {"role": "sensitive"},
            "note": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2}],
        "method": {"name": "optimal", "suppression": 0.0},
    }
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    published = (tmp_path / "out" / "release.csv").read_text()
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and path.suffix != ".parquet" and path.name != "release.csv":
            text = path.read_text()
            for column in frame:
                found = [value for value in set(frame[column]) if value in text]
                assert not found or column in {"ill", "note"}, f"{path.name} tells values of {column}"
    assert not any(value in published for value in [*frame["secret"], *frame["who"], *frame["quasi"], *frame["left"]])


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"privacy": [{"model": "k-anonymity", "k": 2001}]}, UnreachableError, "k = 2000"),
        ({"privacy": [{"model": "l-diversity", "l": 3, "attribute": "surgery"}]}, PolicyError, "'surgery'"),
        ({"privacy": [{"model": "k-anonymity", "k": 2, "on": ["agee"]}]}, PolicyError, "Did you mean 'age'"),
        ({"privacy": [{"model": "k-anonymity", "k": 2, "on": ["surgery"]}]}, PolicyError, "not a quasi-identifier"),
        ({"attributes": {"agee": {"role": "quasi"}}}, InputError, "Did you mean 'age'"),
        ({"attributes": {"disease": {"role": "sensitive"}}}, PolicyError, "no quasi-identifier"),
        (
            {
                "attributes": {
                    "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 50], "widths": [5]}}
                }
            },
            InputError,
            "'age'",
        ),
        ({"attributes": {"disease": {"role": "quasi", "type": "number"}}}, InputError, "declared as number"),
        ({"attributes": {"age": {"role": "quasi", "max_level": 7}}}, PolicyError, "ends at level 1"),
        (
            {"privacy": [{"model": "l-diversity", "l": 3}], "attributes": {"age": {"role": "quasi"}}},
            PolicyError,
            "needs a sensitive attribute",
        ),
    ],
)
def test_a_goal_or_column_that_cannot_be_meant(table, tmp_path, changes, error, words):
    with pytest.raises(error) as caught:
        medveil.anonymize(table, with_(**changes), out=tmp_path / "out")
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_free_text_is_refused_unless_the_policy_insists():
    words = ["seen", "patient", "pain", "left", "knee", "after", "fall", "home", "wife", "called", "doctor"]
    chance = random.Random(1)
    notes = [" ".join(chance.choices(words, k=14)) + "." for _ in range(200)]
    frame = pd.DataFrame({"sex": ["f", "m"] * 100, "note": notes})
    policy = {
        "attributes": {"sex": {"role": "quasi"}, "note": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(PolicyError, match="free text"):
        medveil.anonymize(frame, policy)
    policy["attributes"]["note"]["insist"] = True
    assert medveil.anonymize(frame, policy).manifest.rows["published"] == 200


def test_a_run_can_be_cancelled_and_leaves_nothing(table, tmp_path):
    with pytest.raises(CancelledError):
        medveil.anonymize(table, POLICY, out=tmp_path / "out", cancelled=lambda: True)
    assert list(tmp_path.iterdir()) == []


def test_a_method_that_breaks_its_promise_publishes_nothing(table, tmp_path, monkeypatch):
    monkeypatch.setattr(Evaluator, "kept_at", lambda self, _levels: self.cells.counts > 0)
    monkeypatch.setattr("medveil.methods.optimal.generalized", _not_generalized)
    with pytest.raises(VerificationError, match="4-anonymity"):
        medveil.anonymize(table, POLICY, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def _not_generalized(problem, _levels):
    cells = problem.cells
    return [label_array(cells.domains[n].values, c) for n, c in zip(cells.quasi, cells.codes, strict=True)]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_tiny_tables(rows):
    frame = pd.DataFrame({"a": range(rows), "b": ["x"] * rows})
    policy = {
        "attributes": {"a": {"role": "quasi"}, "b": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": rows}],
    }
    assert medveil.anonymize(frame, policy).manifest.claims[0]["achieved"]["k"] == rows


def test_odd_columns_values_and_names(tmp_path):
    """Columns called count, select or like each other, emoji, quotes, line ends, huge numbers, negative zero."""
    frame = pa.table(
        {
            "count": ["1e308", "-0", "0", "1e308"] * 3,
            "select": ['a "q"', "b\nb", "c,c", 'a "q"'] * 3,
            "Age": ["😀", "é", "😀", "é"] * 3,
            "age": ["*", "[1-2]", "{a}", "*"] * 3,
        }
    )
    policy = {
        "attributes": {
            "count": {"role": "quasi", "type": "number"},
            "select": {"role": "quasi"},
            "Age": {"role": "sensitive"},
            "age": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }
    for file_format in ("csv", "parquet"):
        out = tmp_path / file_format
        release = medveil.anonymize(frame, {**policy, "output": {"format": file_format}}, out=out)
        assert release.manifest.rows["published"] == 12
        assert audit(out, open_source(frame)).ok
        assert list(release.to_arrow().column_names) == ["count", "select", "Age", "age"]


def test_identical_records_and_unique_records():
    same = pd.DataFrame({"a": ["x"] * 50})
    policy = {"attributes": {"a": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 50}]}
    assert medveil.anonymize(same, policy).manifest.claims[0]["achieved"]["k"] == 50
    unique = pd.DataFrame({"a": [str(i) for i in range(50)]})
    assert set(medveil.anonymize(unique, policy).to_pandas()["a"]) == {"*"}
