"""Values are the same on Spark and here, whatever their types: read from Parquet files by the cluster, and written."""

import datetime as dt
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.spark import LOCAL, SETTINGS, need_spark

from medveil.engine import open_engine
from medveil.engine.links import read_links
from medveil.engine.spark import Spark
from medveil.release.reading import TEXT, read_csv
from medveil.sources.opening import open_source

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]
few = settings(max_examples=4, deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4) | st.sampled_from(
    ["", " x ", "?", "\u00a0y\t", '"', "a,b", "c\r\nd", "\r", "#", "e\\", "ß", "😀"]
)
reals = st.floats() | st.sampled_from([0.0, -0.0, 1e20, 1.5e-7, 0.1, 1e-5, 123456789.125, 5e-324])
KINDS = {
    "whole": (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    "small": (st.integers(-(2**15), 2**15 - 1), pa.int16()),
    "real": (reals, pa.float64()),
    "single": (st.floats(width=32), pa.float32()),
    "day": (st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)), pa.date32()),
    "moment": (st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2200, 1, 1)), pa.timestamp("us")),  # noqa: DTZ001
    "money": (st.decimals(Decimal(-1000), Decimal(1000), places=7), pa.decimal128(12, 7)),
    "truth": (st.booleans(), pa.bool_()),
    "a `word`.": (texts, pa.string()),
}
records = st.lists(st.tuples(*(st.none() | values for values, _ in KINDS.values())), min_size=2, max_size=12)


def spark():
    return Spark(remote=LOCAL, settings=SETTINGS)


def write_parts(folder, rows):
    schema = pa.schema([(name, kind) for name, (_, kind) in KINDS.items()])
    for number, part in enumerate((rows[::2], rows[1::2])):
        columns = [pa.array([row[j] for row in part], kind) for j, kind in enumerate(schema.types)]
        pq.write_table(pa.table(columns, schema=schema), folder / f"part {number} [é].parquet")


def counted(table):
    return Counter({tuple(row[f"q{j}"] for j in range(len(KINDS))): row["records"] for row in table.to_pylist()})


@few
@given(rows=records)
def test_the_cluster_reads_parquet_files_as_duckdb_does(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("parts")
    write_parts(folder, rows)
    told = []
    for number, opens in enumerate((open_engine, spark().open)):
        with opens(open_source(folder, missing=["?", "0.1"]), list(KINDS)) as engine:
            assert not engine.remarks
            cells = engine.cells(list(KINDS))
            labels = [cells[f"q{j}"].combine_chunks() for j in range(len(KINDS))]
            engine.write_links(cells, list(KINDS), labels, np.ones(len(cells), dtype=bool), folder / f".links{number}")
            with open_engine(engine.snapshot.source, list(KINDS)) as again:
                assert counted(again.cells(list(KINDS))) == counted(cells), "the snapshot is what was counted"
            told.append((counted(cells), read_links(folder / f".links{number}").labels.to_pylist(), engine.rows))
    assert told[0] == told[1]


@few
@given(rows=st.lists(st.tuples(st.none() | texts, st.none() | texts), min_size=1, max_size=15))
def test_a_csv_file_holds_what_was_given_to_it(tmp_path_factory, rows):
    table = pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(("a,b", "A"))})
    read = []
    for opens in (open_engine, spark().open):
        folder = tmp_path_factory.mktemp("written")
        with opens(open_source(table), ["a,b"]) as engine:
            parts = engine.publish_table(table).write(folder, "csv")
            alone = engine.publish_table(table.select(["A"])).write(tmp_path_factory.mktemp("alone"), "parquet")
            assert sum(part.rows for part in alone) == len(rows)
        read.append([row for part in parts for row in read_csv(folder / part.name, ["a,b", "A"], TEXT).to_pylist()])
    assert read[0] == read[1]
    assert len(read[0]) == len(rows)


def test_types_that_spark_lacks_are_read_here(tmp_path):
    table = pa.table({"moment": pa.array([1, None], pa.timestamp("ns")), "n": [1, 2]})
    pq.write_table(table, tmp_path / "t.parquet")
    with spark().open(open_source(tmp_path / "t.parquet"), ["moment", "n"]) as engine:
        (told,) = engine.remarks
        assert "less than 1 MB of Parquet" in told
        with open_engine(open_source(tmp_path / "t.parquet"), ["moment", "n"]) as here:
            assert engine.values("moment").to_pylist() == here.values("moment").to_pylist()
