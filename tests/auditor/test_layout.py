"""Every reader gets every row, and the order of rows says nothing about the original."""

import csv
import itertools
import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import medveil
from medveil.auditor import audit, order
from medveil.auditor.order import descents
from medveil.auditor.published import ReleaseFiles
from medveil.release.manifest import file_hash

COLUMNS = {"age": "qc", "ill": "sc"}
WARDS = ["east"] * 6 + [None] * 5 + ["ward, west"] * 4


def wards(tmp_path, file_format):
    policy = {
        "attributes": {"ward": {"role": "quasi", "hierarchy": {"type": "flat"}}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": "optimal",
        "output": {"format": file_format, "report": False},
    }
    return medveil.anonymize(pa.table({"ward": WARDS}), policy, out=tmp_path / "out")


def test_every_reader_gets_every_row_of_one_column_with_missing_values(tmp_path):
    release = wards(tmp_path, "csv")
    path = tmp_path / "out" / "release.csv"
    with path.open(newline="") as stream:
        assert len(list(csv.reader(stream))) == 16
    assert pd.read_csv(path)["ward"].isna().tolist() == [False] * 10 + [True] * 5
    assert pl.read_csv(path).height == 15
    assert pa.csv.read_csv(path).num_rows == 15
    assert sorted(release.to_arrow()["ward"].to_pylist(), key=str) == sorted(WARDS, key=str)
    assert audit(tmp_path / "out").ok


def test_and_of_a_parquet_file(tmp_path):
    wards(tmp_path, "parquet")
    assert pq.read_table(tmp_path / "out" / "release.parquet")["ward"].null_count == 5
    assert audit(tmp_path / "out").ok


def test_the_auditor_finds_rows_that_readers_would_skip(release, make_claim):
    folder = release({"age": "qc"}, [("a",), ("a",), (None,), (None,)], [make_claim("k-anonymity", k=2)])
    assert audit(folder).ok
    path = folder / "release.csv"
    path.write_bytes(path.read_bytes().replace(b'""\n', b"\n"))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": {"release.csv": file_hash(path)}}))
    report = audit(folder)
    assert report.refuted
    assert "the release has 2 blank lines, which readers of CSV files skip" in report.problems


@pytest.mark.parametrize("parquet", [False, True])
def test_rows_in_another_order_are_found(release, make_claim, parquet):
    rows = [("a", "flu"), ("a", "gout"), ("b", "flu"), ("b", "gout")]
    claims = [make_claim("k-anonymity", k=2)]
    assert audit(release(COLUMNS, rows, claims, parquet=parquet, ordered=False)).ok
    report = audit(release(COLUMNS, rows[::-1], claims, parquet=parquet, ordered=False))
    assert report.refuted
    assert report.problems[0].startswith("3 rows are not sorted by what they publish: ")
    assert report.findings[0].proved, "the claim itself holds"


TEXTS = st.one_of(st.none(), st.text(alphabet='ab,"\nß🙂é', min_size=1, max_size=3))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=12), st.integers(min_value=1, max_value=5))
def test_descents_are_counted_as_python_counts_them(rows, size):
    keys = [[(value is None, (value or "").encode()) for value in row] for row in rows]
    expected = sum(1 for before, after in itertools.pairwise(keys) if after < before)
    table = pa.table({f"f{i}": pa.array([row[i] for row in rows], pa.string()) for i in range(2)})
    whole, order.BATCH = order.BATCH, size
    try:
        with duckdb.connect() as connection:
            connection.register("rows", table)
            assert descents(connection, ReleaseFiles(("a", "b"), "rows")) == expected
    finally:
        order.BATCH = whole


def test_numbers_that_a_method_made_may_stand_as_numbers(tmp_path):
    table = pa.table({"f0": ["2", "9", "10", "10"], "f1": ["b", "a", "a", "b"]})
    with duckdb.connect() as connection:
        connection.register("rows", table)
        release = ReleaseFiles(("class_id", "age"), "rows")
        assert descents(connection, release) == 1
        assert descents(connection, release, made=["class_id"]) == 0
