"""What a cluster cannot do, or does wrong, is told in one sentence, and nothing is published."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.spark import LOCAL, SETTINGS, free_port, need_spark, patients, policy

import medveil
from medveil.engine import named_engine
from medveil.engine.spark import Spark
from medveil.errors import CancelledError, InputError, PolicyError, VerificationError
from medveil.methods import methods
from medveil.run import Run
from medveil.sources.opening import open_source

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]


@pytest.mark.parametrize("method", sorted(name for name, method in methods().items() if method.needs_rows))
def test_a_method_that_needs_rows(method):
    asked = policy(method, LOCAL)
    if method == "diversity-aware":
        asked["privacy"].append({"model": "l-diversity", "l": 2, "attribute": "ill"})
    with pytest.raises(PolicyError, match="record by record"):
        medveil.anonymize(patients(), asked)


def test_pseudonyms_and_linked_tables():
    asked = policy(remote=LOCAL, who={"role": "key"})
    with pytest.raises(PolicyError, match="'spark' makes no pseudonyms"):
        medveil.anonymize(patients(), asked)


def test_no_server():
    with pytest.raises(InputError, match="No Spark answers"):
        Spark(remote=f"sc://127.0.0.1:{free_port()}").open(open_source(patients()), ["age"])


def test_another_version(monkeypatch):
    monkeypatch.setattr("medveil.clusters._VERSION", "3.5")
    with pytest.raises(InputError, match=r"runs Spark 4\.2\.\d+; medveil is made for Spark 3\.5"):
        Spark(remote=LOCAL, settings=SETTINGS).open(open_source(patients()), ["age"])


def test_another_address_in_the_same_process():
    Spark(remote=LOCAL, settings=SETTINGS).open(open_source(patients()), ["age"]).close()
    with pytest.raises(InputError, match="already holds a Spark"):
        Spark(remote="local[1]", settings=SETTINGS).open(open_source(patients()), ["age"])


@pytest.mark.parametrize("before", [True, False], ids=["before", "while"])
def test_data_that_vanish(tmp_path, before):
    pq.write_table(patients(), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    where = Spark(remote=LOCAL, folder=str(tmp_path / "shared"), settings=SETTINGS)
    if before:
        (tmp_path / "t.parquet").unlink()
        with pytest.raises(InputError, match="no longer where they were"):
            where.open(source, ["age"])
        return
    with where.open(source, ["age"]) as engine:
        for file in (tmp_path / "shared").rglob("*.parquet"):
            file.unlink()
        with pytest.raises(InputError, match="Spark could not do this") as told:
            engine.cells(["age"])
    assert "parquet" not in str(told.value)


def test_an_address_on_the_command_line():
    assert named_engine("spark", "sc://host:15002") == Spark(remote="sc://host:15002")
    with pytest.raises(InputError, match="in this process"):
        named_engine("duckdb", "sc://host:15002")
    with pytest.raises(InputError, match="cannot be read"):
        named_engine("spark", "https://token@host")


def test_a_cluster_that_does_not_sort_publishes_nothing(tmp_path, monkeypatch):
    """One Connect server was found to ignore the order before a write."""
    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrame.orderBy", lambda self, *_: self.repartition(2))
    with pytest.raises(VerificationError, match="not sorted by what they publish"):
        medveil.anonymize(patients(), policy(remote=LOCAL), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_cluster_that_loses_rows_publishes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrame.orderBy", lambda self, *_: self.limit(7))
    with pytest.raises(medveil.OutputError, match="other rows than it was given"):
        medveil.anonymize(patients(), policy(remote=LOCAL), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_is_cancelled_within_five_seconds(tmp_path, remote):
    """Ten milliards of rows are being sorted when somebody wants the run to stop."""
    began = []
    run = Run(
        cancelled=lambda: bool(began) and time.monotonic() - began[0] > 2,
        engines=Spark(remote=remote, settings=SETTINGS).open,
    )

    def endless():
        with run.engine(open_source(patients()), ["age"]) as engine:
            publication = engine.expand(pa.table({"a": ["x", "y"]}), np.full(2, 5_000_000_000))
            began.append(time.monotonic())
            publication.write(tmp_path, "csv")

    with pytest.raises(CancelledError):
        endless()
    assert time.monotonic() - began[0] < 2 + 5
    assert not list(tmp_path.iterdir())
