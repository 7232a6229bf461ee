"""The rest of the paper's preparation: normalization, redundant records, feature selection; and percentages."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixed_intervals import POLICY, internal, read_book, some_patients

import medveil
from medveil.auditor import audit
from medveil.errors import InputError, PolicyError
from medveil.methods.fixed_interval.ranking import normalized
from medveil.policy import load_policy

WITH_SUBJECT = {**POLICY["attributes"], "patient_id": {"role": "subject"}}


def made(tmp_path, frame=None, attributes=None, privacy=None, evaluation=None, **method):
    policy = {
        **POLICY,
        "attributes": attributes or POLICY["attributes"],
        "privacy": privacy or POLICY["privacy"],
        "method": {"name": "fixed-interval", **method},
        "output": {"report": evaluation is not None},
        "evaluation": evaluation or {},
    }
    return medveil.anonymize(some_patients() if frame is None else frame, policy, out=tmp_path / "out")


# Normalization


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_a_scale_does_not_depend_on_units(numbers, factor, shift):
    values, weights = np.array(numbers), np.ones(len(numbers), dtype=np.int64)
    for way in ("range", "standard"):
        one, other = normalized(values, weights, way), normalized(values * factor + shift, weights, way)
        if np.ptp(values) > 1:
            assert other == pytest.approx(one, abs=1e-4)


@pytest.mark.parametrize("way", ["none", "range", "standard"])
def test_classes_do_not_depend_on_the_units_of_a_column(tmp_path, way):
    """Incomes in thousands and in cents: only where columns are normalized the same people share a class."""
    shown = []
    for name, unit in (("thousands", 1), ("cents", 100_000)):
        frame = some_patients()
        frame["income"] = (unit * (np.arange(len(frame)) * 37 % 100)).astype(str)
        attributes = {**POLICY["attributes"], "income": {"role": "quasi"}}
        release = made(tmp_path / name, frame, attributes, normalize=way)
        assert all(claim["holds"] for claim in release.manifest.claims)
        shown.append(sorted(zip(*(release.to_pandas()[c].astype(str) for c in ("age", "sex", "region")), strict=True)))
    assert (shown[0] == shown[1]) == (way != "none")


# Redundant records


def test_records_that_repeat_another_of_the_same_person_are_dropped(tmp_path):
    frame = some_patients()
    distinct = len(frame.drop_duplicates([*WITH_SUBJECT]))
    doubled = pd.concat([frame, frame.iloc[:300]], ignore_index=True)
    release = made(tmp_path, doubled, WITH_SUBJECT, redundant="drop")
    left = internal(tmp_path / "out")["records left out"]
    assert left["redundant record"] == len(doubled) - distinct >= 300
    assert release.manifest.rows["published"] == distinct
    assert audit(tmp_path / "out", _source(tmp_path, doubled)).publishable


def test_without_a_subject_equal_records_may_be_those_of_several_people(tmp_path):
    with pytest.raises(PolicyError, match="needs a subject"):
        made(tmp_path, redundant="drop")


def _source(tmp_path, frame):
    from medveil.sources.opening import open_source  # noqa: PLC0415

    frame.to_csv(tmp_path / "source.csv", index=False)
    return open_source(tmp_path / "source.csv")


# Feature selection


def with_outcome():
    """An outcome that goes by age, noise in another column, and a constant one."""
    frame, chance = some_patients(), np.random.default_rng(2)
    frame["noise"] = chance.integers(0, 60, len(frame)).astype(str)
    frame["ward"] = "A"
    frame["outcome"] = np.where(frame["age"].astype(int) + chance.normal(0, 8, len(frame)) > 50, "ill", "well")
    columns = {name: {"role": "quasi"} for name in ("age", "sex", "noise", "ward")}
    return frame, {**columns, "disease": {"role": "sensitive"}, "outcome": {"role": "plain"}}


def test_columns_that_tell_nothing_of_the_target_are_not_published(tmp_path):
    frame, attributes = with_outcome()
    release = made(tmp_path, frame, attributes, features={"target": "outcome"})
    assert [a["name"] for a in release.manifest.attributes] == ["age", "disease", "outcome"]
    assert internal(tmp_path / "out")["columns that tell too little of the target"] == ["sex", "noise", "ward"]
    assert release.to_arrow().column_names == ["age", "disease", "outcome"]
    assert all(claim["holds"] for claim in release.manifest.claims)
    assert audit(tmp_path / "out", _source(tmp_path, frame)).publishable
    measures = json.loads((tmp_path / "out" / "internal" / "measures.json").read_text())
    assert measures["lm"]["parts"]["noise"] == 1.0, "what is not published is lost"


def test_measures_attacks_and_pages_take_a_column_that_is_not_published(tmp_path):
    frame, attributes = with_outcome()
    attributes["patient_id"] = {"role": "subject"}
    release = made(
        tmp_path,
        frame,
        attributes,
        evaluation={"attacks": True, "targets": 50},
        features={"target": "outcome"},
        statistic={"age": "percentage"},
        redundant="drop",
    )
    assert all(claim["holds"] for claim in release.manifest.claims)
    assert (tmp_path / "out" / "report.html").is_file()
    risks = json.loads((tmp_path / "out" / "internal" / "risks.json").read_text())
    assert risks["prosecutor"]["value"] <= 1 / 5
    assert risks["leakage"]["value"] < risks["leakage"]["parts"]["before"]


def test_a_column_that_a_model_names_stays(tmp_path):
    frame, attributes = with_outcome()
    privacy = [{"model": "k-anonymity", "k": 5}, {"model": "k-anonymity", "k": 20, "on": ["sex"]}]
    release = made(tmp_path, frame, attributes, privacy, features={"target": "outcome", "most": 1})
    assert [a["name"] for a in release.manifest.attributes] == ["age", "sex", "disease", "outcome"]
    assert all(claim["holds"] for claim in release.manifest.claims)


def test_categories_alone_may_be_left(tmp_path):
    frame, attributes = with_outcome()
    frame["outcome"] = np.where(frame["sex"] == "F", "ill", "well")
    release = made(tmp_path, frame, attributes, features={"target": "outcome", "least": 0.5})
    assert [a["name"] for a in release.manifest.attributes] == ["sex", "disease", "outcome"]
    assert "mean-support" not in {claim["model"] for claim in release.manifest.claims}
    assert all(claim["holds"] for claim in release.manifest.claims)


@pytest.mark.parametrize(
    ("features", "error", "words"),
    [
        ({"target": "outcom"}, PolicyError, "Did you mean 'outcome'"),
        ({"target": "age"}, PolicyError, "no sensitive or plain column"),
        ({"target": "outcome", "least": 0.99}, InputError, "the most is"),
        ({"target": "outcome", "columns": 3}, PolicyError, "there is no such key"),
    ],
)
def test_features_that_cannot_be_meant(tmp_path, features, error, words):
    frame, attributes = with_outcome()
    with pytest.raises(error, match=words):
        made(tmp_path, frame, attributes, features=features)


# Percentages


def test_percentages_by_hand(tmp_path):
    """Four people below 30, four in their forties, eight above 60."""
    ages = [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63, 64, 65, 66, 67]
    frame = pd.DataFrame({"age": map(str, ages), "disease": ["a", "b"] * 8})
    attributes = {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 4}]
    release = made(tmp_path, frame, attributes, privacy, statistic="percentage", width=20, ranges={"age": [20, 80]})
    book = {line["published"]: line for line in read_book(tmp_path / "out") if line["attribute"] == "age"}
    assert {text: line["people"] for text, line in book.items()} == {"12.5": "4", "37.5": "4", "75": "8"}
    assert {line["stands_for"] for line in book.values()} == {"percentage"}
    assert set(release.to_pandas()["age"].astype(str)) == {"12.5", "37.5", "75"}
    assert {a["name"]: a.get("form") for a in release.manifest.attributes}["age"] == "percentages"
    assert all(claim["holds"] for claim in release.manifest.claims)


def test_percentages_without_declared_ends_tell_of_no_number(tmp_path):
    made(tmp_path, statistic={"age": "percentage"})
    assert all(line["low"] == "" for line in read_book(tmp_path / "out") if line["attribute"] == "age")
    measures = json.loads((tmp_path / "out" / "internal" / "measures.json").read_text())
    assert measures["lm"]["parts"]["age"] == 1.0


def test_a_wrong_percentage_is_refuted(tmp_path):
    frame = some_patients()
    made(tmp_path, frame, statistic={"age": "percentage"})
    book = tmp_path / "out" / "codebook.csv"
    with book.open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    wrong = next(line for line in lines if line["stands_for"] == "percentage")
    before, after = wrong["published"], str(float(wrong["published"]) + 1)
    book.write_text(book.read_text().replace(f",{before},", f",{after},").replace(f'"{before}"', f'"{after}"'))
    assert not audit(tmp_path / "out", _source(tmp_path, frame)).publishable


def test_dates_are_not_percentages(tmp_path):
    frame = pd.DataFrame({"seen": [f"2020-01-{day:02d}" for day in range(1, 13)], "disease": ["a", "b"] * 6})
    attributes = {"seen": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match="by column"):
        made(tmp_path, frame, attributes, statistic="percentage")


def test_the_preparation_of_the_guide_is_a_policy(tmp_path):
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    (block,) = [part for part in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "fixed-interval" in part]
    (tmp_path / "policy.yaml").write_text(block)
    method = load_policy(tmp_path / "policy.yaml")[0].method
    assert {"ranges", "rules", "missing", "redundant", "features", "normalize", "outliers"} <= method.model_fields_set
