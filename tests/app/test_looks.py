"""Use cases that look at data for a steward who is deciding: against the same, counted by hand."""

from collections import Counter

import pyarrow as pa
import pyarrow.parquet
import pytest

from medveil.app.anonymize import anonymize
from medveil.app.check import check
from medveil.app.exposure import exposure
from medveil.app.fitting import fitting
from medveil.app.generate import generate
from medveil.app.levels import LEAST, levels
from medveil.app.preview import preview
from medveil.app.rows import peek, rows
from medveil.app.starter import starter
from medveil.datasets import patients
from medveil.errors import InputError, OutputError
from medveil.methods import methods
from medveil.run import Run

TABLE = patients(800, seed=5, patient_id=True)
POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}],
}


def column(name):
    return [str(value) for value in TABLE.column(name).to_pylist()]


def test_the_share_of_unique_people_is_counted_right():
    found = exposure(POLICY, data=TABLE)
    counts = Counter(zip(column("age"), column("sex"), column("region"), strict=True))
    assert found.together.unique == pytest.approx(sum(count == 1 for count in counts.values()) / 800)
    assert found.people == 800
    pair = next(one for one in found.pairs if set(one.attributes) == {"age", "region"})
    pairs = Counter(zip(column("age"), column("region"), strict=True))
    assert pair.unique == pytest.approx(sum(count == 1 for count in pairs.values()) / 800)
    assert [one.loss for one in found.columns] == sorted((one.loss for one in found.columns), reverse=True)


def test_without_quasi_identifiers_there_is_nothing_together():
    plain = {**POLICY, "attributes": {"age": {"role": "plain"}, "sex": {"role": "plain"}}}
    assert exposure(plain, data=TABLE).together is None


def test_levels_are_counted_right_and_show_no_value_of_few_people():
    found = levels(POLICY, "age", data=TABLE)
    decades = Counter(int(age) // 10 for age in column("age"))
    first = found.levels[1]
    assert first.groups == len(decades)
    assert first.smallest == min(decades.values())
    assert first.exposed == sum(count for count in decades.values() if count < LEAST)
    assert len(first.labels) == sum(count >= LEAST for count in decades.values())
    assert found.levels[0].labels == (), "the values themselves are nobody's business"
    assert found.levels[-1].groups == 1
    assert found.levels[-1].loss == pytest.approx(1)


def test_every_method_fits_or_says_why():
    found = fitting(POLICY, data=TABLE)
    assert set(found) == set(methods())
    assert found["optimal"] is None
    assert "differential-privacy" in found["ipa"]


def test_a_preview_is_of_a_sample_and_keeps_what_must_hold():
    found = preview(POLICY, number=300, data=TABLE)
    assert (found.generated, found.sampled, found.of) == (False, 300, 800)
    assert found.published + (found.suppressed or 0) == 300
    assert found.summaries == ["4-anonymity"]
    assert len(found.rows) <= 20


class Untouchable:
    """Data that must not be read."""

    def __getattr__(self, name):
        raise AssertionError("the data were touched")


def test_a_preview_under_differential_privacy_reads_no_data():
    pytest.importorskip("opendp", reason="differential privacy needs the extra 'dp'")
    private = {
        "data": "not-there.csv",
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [20]}},
            "disease": {"role": "sensitive", "domain": ["a", "b"]},
        },
        "privacy": [{"model": "differential-privacy", "epsilon": 1, "budget": 2}],
        "method": {"name": "dp-histogram"},
    }
    found = preview(private, number=400, data=Untouchable())
    assert found.generated
    assert found.of is None
    assert {row[1] for row in found.rows} <= {"a", "b"}


def test_rows_are_those_of_the_table(tmp_path):
    shown = peek(POLICY, number=7, data=TABLE, run=Run())
    records = set(zip(*(column(name) for name in TABLE.column_names), strict=True))
    assert len(shown.rows) == 7
    assert {tuple(row) for row in shown.rows} <= records
    assert peek(POLICY, number=7, data=TABLE.slice(0, 3)).total == 3


def test_a_text_is_a_policy_or_says_what_is_wrong_where():
    good = check("attributes: {age: {role: quasi}}\nprivacy:\n  - {model: k-anonymity, k: 3}\n")
    assert good.summaries == ("3-anonymity",)
    assert good.spending is None
    wrong = check("attributes: {age: {role: quasi}}\nprivacy:\n  - {model: k-anonymity, k: many}\n")
    assert [fault.line for fault in wrong.faults] == [3]
    assert wrong.policy is None
    assert check("a: [").faults[0].line is not None


def test_a_policy_is_told_as_it_is_written():
    """A parameter whose name is a word of Python keeps its own."""
    text = "attributes: {zip: {role: quasi, hierarchy: {type: mask, length: 5, from: left}}}\n"
    told = check(text + "privacy: [{model: k-anonymity, k: 2}]\n").policy
    assert told["attributes"]["zip"]["hierarchy"] == {"type": "mask", "length": 5, "from": "left"}


def test_a_starter_is_a_policy_for_the_table(tmp_path):
    path = generate(300, tmp_path / "patients.csv", seed=1)
    found = starter(str(path))
    assert found.inspection.rows == 300
    assert check(found.policy).faults == ()
    with pytest.raises(OutputError):
        generate(300, path)
    with pytest.raises(InputError, match="columns, which is more than 3"):
        starter(str(path), bounds={"columns": 3})


def test_a_release_shows_its_own_rows(tmp_path):
    anonymize(TABLE, {**POLICY, "output": {"report": False}}, out=tmp_path / "out")
    (shown,) = rows(tmp_path / "out", number=5)
    assert len(shown.rows) == 5
    assert shown.table is None
    assert shown.names == ("age", "sex", "region", "disease")


@pytest.mark.parametrize("kind", ["gzip", "zstd", "parquet"])
def test_a_file_that_expands_without_end_is_refused(tmp_path, kind):
    path = tmp_path / "bomb"
    if kind == "parquet":
        column = pa.DictionaryArray.from_arrays(pa.array([0] * 500_000, pa.int32()), pa.array(["x"]))
        pyarrow.parquet.write_table(pa.table({f"c{number}": column for number in range(10)}), path)
    else:
        path.write_bytes(pa.Codec(kind).compress(b"age,sex\n" + b"12,F\n" * 1_000_000, asbytes=True))
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="expands to far more"):
        starter(str(path), bounds={"free": 1 << 20, "ratio": 20})
