"""What a notebook shows, and in which types a release comes back."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import medveil

FRAME = pd.DataFrame(
    {
        "age": [1, 2] * 10,
        "ill": ["<flu>", "cold"] * 10,
        "count": range(20),
        "share": [0.5] * 19 + [None],
        "alive": [True, False] * 10,
        "day": pd.to_datetime(["2020-01-01 10:00", "2020-01-02 11:30"] * 10),
        "code": ["01", "02"] * 10,
        "group": pd.Categorical(["u", "v"] * 10),
    }
)
PLAIN = ("count", "share", "alive", "day", "code", "group")
POLICY = {
    "attributes": {
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive"},
        **{name: {"role": "plain", "insist": True} for name in PLAIN},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal", "suppression": 0.5},
    "output": {"report": False},
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("given", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_plain_columns_come_back_in_their_types(given, form):
    release = medveil.anonymize(given, {**POLICY, "output": {"report": False, "format": form}})
    schema = release.to_arrow().schema
    kinds = [schema.field(name).type for name in PLAIN[:-1]]
    day = pa.timestamp("ns")
    assert kinds[:3] == [pa.int64(), pa.float64(), pa.bool_()]
    assert pa.types.is_timestamp(kinds[3])
    assert kinds[3].unit == day.unit
    assert pa.types.is_string(kinds[4]) or pa.types.is_large_string(kinds[4])
    assert pa.types.is_dictionary(schema.field("group").type)
    back = release.to_pandas().sort_values("count").reset_index(drop=True)
    assert back["count"].tolist() == list(range(20))
    assert back["day"][0] == dt.datetime(2020, 1, 1, 10)  # noqa: DTZ001
    assert back["code"].tolist() == ["01", "02"] * 10


def test_types_of_a_parquet_file_come_back(tmp_path):
    FRAME.to_parquet(tmp_path / "data.parquet")
    release = medveil.anonymize(tmp_path / "data.parquet", POLICY, out=tmp_path / "out")
    assert release.to_arrow().schema.field("alive").type == pa.bool_()


def test_a_column_with_stars_stays_text():
    frame = pd.DataFrame({"age": [1, 1, 2], "count": [1, 2, 3]})
    stars = {
        "attributes": {"age": {"role": "quasi", "max_level": 0}, "count": {"role": "plain", "insist": True}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "optimal", "suppression": 0.5},
        "output": {"suppressed": "stars", "report": False},
    }
    assert medveil.anonymize(frame, stars).to_arrow()["count"].to_pylist() == ["*", "1", "2"]


def test_a_release_shows_its_claims_and_first_rows():
    shown = medveil.anonymize(FRAME, POLICY)._repr_html_()
    assert "2-anonymity" in shown
    assert "20 records published" in shown
    assert "&lt;flu&gt;" in shown
    assert "<flu>" not in shown
    assert shown.count("<tr>") == 2 + 1 + 5


def test_an_inspection_shows_no_value():
    shown = medveil.inspect(FRAME)._repr_html_()
    assert "20 records" in shown
    assert "<td" in shown
    for value in ("flu", "cold", "2020"):
        assert value not in shown


def test_leakage_shows_every_column():
    found = medveil.leakage(FRAME[["age", "ill", "count"]], columns=["age", "ill", "count"], up_to=2)
    shown = found._repr_html_()
    assert "20 records" in shown or "20 people" in shown
    assert "age, ill" in shown
    assert "100.0%" in shown
