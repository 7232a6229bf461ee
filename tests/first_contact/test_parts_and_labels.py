"""Tables in parts, codes with labels, words for yes and no."""

import csv
import json
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.app.inspect import inspect_linked
from medveil.release.ledgers import content_hash
from medveil.sources import sources
from medveil.testing import check_source

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "widths": [10, 40]}},
        "sex": {"role": "quasi", "labels": {1: "male", "2": "female"}},
        "smoker": {"role": "quasi", "labels": "boolean"},
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"report": False},
    "evaluation": {"advice": False},
}
NAMES = ["age", "sex", "smoker", "diagnosis"]


def records(seed=0, number=60):
    draw = random.Random(seed)
    return [
        [draw.randint(20, 60), draw.choice("12"), draw.choice(["Yes", "no", "JA", "n"]), draw.choice("ab")]
        for _ in range(number)
    ]


def write(path, rows, names=NAMES):
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


@pytest.fixture
def visits(tmp_path):
    for number in range(3):
        write(tmp_path / "visits" / f"part-{number}.csv", records(number))
    (tmp_path / "visits" / "_SUCCESS").touch()
    (tmp_path / "visits" / ".hidden").write_text("x")
    return tmp_path / "visits"


@pytest.mark.parametrize("data", ["visits", "visits/*.csv", "visit?/part-[0-2].csv"])
def test_parts_are_one_table(tmp_path, visits, data):
    whole = write(tmp_path / "whole.csv", [row for number in range(3) for row in records(number)])
    (tmp_path / "policy.yaml").write_text(json.dumps({"data": data, **POLICY}))
    medveil.anonymize(None, tmp_path / "policy.yaml", out=tmp_path / "of parts")
    medveil.anonymize(whole, tmp_path / "policy.yaml", out=tmp_path / "of one")
    assert (tmp_path / "of parts/release.csv").read_text() == (tmp_path / "of one/release.csv").read_text()
    assert medveil.audit(tmp_path / "of parts", visits).ok
    assert medveil.audit(tmp_path / "of parts", whole).ok
    assert not medveil.audit(tmp_path / "of parts", visits / "part-0.csv").ok
    assert medveil.inspect(tmp_path / data).rows == 180


def test_the_contract_of_sources_holds_of_parts(tmp_path, visits):
    check_source(sources()["file"].model_validate({"path": "visits"}), tmp_path)


def test_parts_of_parquet_may_lack_every_value_of_a_column(tmp_path):
    (tmp_path / "parts").mkdir()
    for number, ill in enumerate((["a", "b"], [None, None])):
        pa.parquet.write_table(pa.table({"age": [1, 2], "ill": ill}), tmp_path / f"parts/{number}.parquet")
    found = medveil.inspect(tmp_path / "parts")
    assert (found.rows, [p.missing for p in found.profiles]) == (4, [0, 2])


@pytest.mark.parametrize(
    ("names", "row", "words"),
    [
        ([*NAMES, "more"], [30, 1, "no", "a", "x"], "have 5 and 4 columns"),
        (["age", "smoker", "sex", "diagnosis"], [30, "no", 1, "a"], r"other names or another order \(column 2, 3\)"),
    ],
)
def test_parts_of_other_columns_are_refused_by_their_places(visits, names, row, words):
    write(visits / "part-9.csv", [row], names)
    with pytest.raises(medveil.InputError, match=words) as caught:
        medveil.inspect(visits)
    assert "smoker" not in str(caught.value)


def test_parts_of_other_types_are_refused(tmp_path):
    for number, ages in enumerate(([1, 2], ["one", "two"])):
        pa.parquet.write_table(pa.table({"age": ages}), tmp_path / f"{number}.parquet")
    with pytest.raises(medveil.InputError, match="'age' is of type string in one and int64 in the other"):
        medveil.inspect(tmp_path)


def test_what_is_no_table_in_parts_gets_a_sentence(tmp_path, visits):
    with pytest.raises(medveil.InputError, match="No file matches"):
        medveil.inspect(tmp_path / "visits/*.parquet")
    with pytest.raises(medveil.InputError, match="holds folders"):
        medveil.inspect(tmp_path)
    (visits / "note.json").write_text('{"a": 1}')
    with pytest.raises(medveil.InputError, match="not all CSV, nor all Parquet"):
        medveil.inspect(visits)


def test_the_files_that_a_shell_hands_over_are_known_as_parts(visits):
    with pytest.raises(medveil.InputError, match="parts of one table"):
        inspect_linked(sorted(visits.glob("*.csv")))


def test_the_content_of_one_part_is_that_of_its_file_and_of_more_another(tmp_path, visits):
    write(tmp_path / "single/part-0.csv", records(0))
    assert content_hash(tmp_path / "single") == content_hash(visits / "part-0.csv") == content_hash(
        tmp_path / "single/*.csv"
    )  # fmt: skip
    assert content_hash(visits) == content_hash(visits / "*.csv") != content_hash(visits / "part-0.csv")


def test_the_budget_of_a_table_in_parts_is_one(tmp_path, visits):
    policy = {
        "attributes": {
            "sex": {"role": "quasi", "labels": {1: "male", 2: "female"}, "domain": ["male", "female"]},
            "diagnosis": {"role": "sensitive", "domain": ["a", "b"]},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 1.0, "budget": 1.5}],
        "method": "dp-histogram",
        "output": {"report": False},
    }
    read = {"encoding": "utf-8", "delimiter": ",", "header": True}
    medveil.anonymize(None, {**policy, "data": {"path": str(visits), **read}}, out=tmp_path / "first")
    with pytest.raises(medveil.UnreachableError, match="are spent"):
        medveil.anonymize(None, {**policy, "data": {"path": f"{visits}/*.csv", **read}}, out=tmp_path / "second")
    assert set(pd.read_csv(tmp_path / "first/release.csv")["sex"]) == {"male", "female"}


def test_labels_stand_for_codes_in_frames_too():
    policy = {**POLICY, "attributes": {"sex": {"role": "quasi", "labels": {1: "male", 2: "female", -9: "unknown"}}}}
    frame = pd.DataFrame({"sex": [1.0, 1.0, 2.0, 2.0, -9.0, -9.0, None, None, 7.0, 7.0]})
    published = medveil.anonymize(frame, policy).to_pandas()["sex"]
    assert published.isna().sum() == 2
    assert sorted(published.dropna()) == sorted(["male", "female", "unknown", "7"] * 2)


def test_labels_hold_for_measures_and_audits(tmp_path):
    original = write(tmp_path / "a.csv", records())
    medveil.anonymize(original, POLICY, out=tmp_path / "release")
    assert medveil.audit(tmp_path / "release", original).ok
    measured = medveil.measure(tmp_path / "release", original=original, quick=True)
    assert not [note for note in measured.notes if "no known value" in note]


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ({"role": "quasi", "type": "number", "labels": {1: "a"}}, "of type category or code"),
        ({"role": "subject", "labels": {1: "a"}}, "sensitive and plain columns"),
        ({"role": "quasi", "labels": {1: 2, 2: "b"}}, "also the code of another value"),
        ({"role": "quasi", "labels": "words"}, "labels"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(attribute, words):
    with pytest.raises(medveil.PolicyError, match=words):
        medveil.anonymize(pd.DataFrame({"a": [1]}), {**POLICY, "attributes": {"a": attribute}})


def test_inspect_finds_words_for_yes_and_no_that_are_written_in_several_ways(tmp_path):
    path = write(tmp_path / "a.csv", records())
    assert "smoker: {role: sensitive, type: category, labels: boolean}" in medveil.inspect(path).policy("a.csv")
    two = write(tmp_path / "b.csv", [[*row[:2], row[2] in {"Yes", "JA"}, row[3]] for row in records()])
    assert "boolean" not in medveil.inspect(two).policy("b.csv")
