"""Tables of a cluster, and Parquet files that it names in its own way, are read where they are."""

import datetime as dt

import pytest
from tests.engine.spark import LOCAL, SETTINGS, need_spark, patients, policy

import medveil
from medveil.clusters import connect
from medveil.engine import open_engine
from medveil.engine.spark import Spark
from medveil.errors import InputError, PolicyError
from medveil.sources.spark import SparkSpec
from medveil.workspace import Workspace

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]


@pytest.fixture
def table(tmp_path):
    """A table of the catalog with the patients, and further types."""
    spark = connect(LOCAL, SETTINGS).spark
    moment = dt.datetime(2024, 2, 29, 13, 5)  # noqa: DTZ001
    rows = [(*row.values(), float(i % 3), moment, [1]) for i, row in enumerate(patients(200).to_pylist())]
    schema = "age INT, sex STRING, ill STRING, ward STRING, who STRING, real DOUBLE, moment TIMESTAMP, list ARRAY<INT>"
    name = f"visits_{tmp_path.name}".replace("-", "_")
    spark.createDataFrame(rows, schema).write.option("path", f"file://{tmp_path}/visits").saveAsTable(name)
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def declared(**where):
    return SparkSpec(remote=LOCAL, settings=SETTINGS, **where)


def test_a_release_of_a_table_is_that_of_duckdb(table, tmp_path):
    here = medveil.anonymize(patients(200), policy(who={"role": "subject"}))
    for number, where in enumerate(({"table": table}, {"path": f"file://{tmp_path}/visits"})):
        asked = policy(remote=LOCAL, who={"role": "subject"})
        asked["data"] = {"type": "spark", "remote": LOCAL, "settings": SETTINGS, **where}
        there = medveil.anonymize(asked, out=tmp_path / str(number))
        assert there.to_arrow().to_pylist() == here.to_arrow().to_pylist()
        assert there.manifest.claims == here.manifest.claims


def test_texts_are_those_that_are_read_by_batches(table):
    source = declared(table=table).open(Workspace())
    assert source.names == ("age", "sex", "ill", "ward", "who", "real", "moment")
    assert "'list'" in source.remarks[0]
    with Spark(remote=LOCAL, settings=SETTINGS).open(source, source.names) as there:
        assert not there.remarks
        assert there.rows == 200
        assert there.values("real")["value"].to_pylist() == ["0.0", "1.0", "2.0"]
        assert there.values("moment")["value"].to_pylist() == ["2024-02-29 13:05:00"]
        with open_engine(source, ["age", "real", "ward"]) as here:
            told = [sorted(map(str, engine.cells(["age", "real", "ward"]).to_pylist())) for engine in (here, there)]
    assert told[0] == told[1]


def test_a_table_that_is_not_there_or_vanishes(table):
    with pytest.raises(InputError, match="finds no table of that name"):
        declared(table="nowhere").open(Workspace())
    with pytest.raises(InputError, match="finds no Parquet file"):
        declared(path="file:///nowhere/at/all").open(Workspace())
    source = declared(table=table).open(Workspace())
    connect(LOCAL, SETTINGS).spark.sql(f"DROP TABLE {table}")
    with pytest.raises(InputError, match="no longer where they were"):
        Spark(remote=LOCAL, settings=SETTINGS).open(source, ["age"])


def test_either_a_table_or_a_path():
    asked = policy(remote=LOCAL)
    asked["data"] = {"type": "spark", "remote": LOCAL}
    with pytest.raises(PolicyError, match="either 'table' or 'path'"):
        medveil.anonymize(asked)
