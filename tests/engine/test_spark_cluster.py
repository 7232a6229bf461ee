"""A real master with two workers, from the pip package: nothing is in its logs, and who is lost is survived."""

import importlib.util
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.spark import connect_server, need_spark, policy

import medveil

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark-cluster")]
TOKEN = "qzx"  # noqa: S105
"""No word of Spark's holds it."""
LONG = 300
"""Seconds after which something is stuck."""


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
spec = importlib.util.spec_from_file_location("spark_cluster", BENCHMARKS / "spark_cluster.py")
spark_cluster = importlib.util.module_from_spec(spec)
spec.loader.exec_module(spark_cluster)
SETTINGS = {"spark.executor.memory": "512m", "spark.log.level": "INFO", "spark.sql.shuffle.partitions": "4"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with spark_cluster.StandaloneCluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def planted(number):
    """Patients every value of whom holds the token, hierarchies and missing values too."""
    return pa.table(
        {
            "age": [None if i % 50 == 7 else f"{TOKEN}{99 if i % 300 == 1 else i * 7 % 40}" for i in range(number)],
            "sex": [f"{TOKEN}{'fm'[i * i % 2]}" for i in range(number)],
            "ill": [f"{TOKEN}ill{i * i % 3}" for i in range(number)],
            "ward": [f"{TOKEN}ward{i // 3 % 5}" for i in range(number)],
        }
    )


def written_policy(folder, name, remote, settings):
    asked = policy()
    asked["attributes"]["age"] = {"role": "quasi"}
    asked |= {
        "data": {"type": "file", "path": str(folder / "data"), "missing": [f"{TOKEN}39"]},
        "privacy": [{"model": "k-anonymity", "k": 30}],
        "method": {"name": "optimal", "suppression": 0.1},
    }
    if remote is not None:
        asked["engine"] = {"type": "spark", "remote": remote, "settings": settings}
    (folder / name).write_text(json.dumps(asked), encoding="utf-8")
    return folder / name


def started(folder, name, remote, settings):
    """An anonymization in a process of its own, which logs beside its policy."""
    asked = written_policy(folder, f"{name}.json", remote, settings)
    command = [sys.executable, "-m", "medveil", "anonymize", str(asked), "--out", str(folder / name)]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    table = planted(3000)
    for number in range(2):
        pq.write_table(table.slice(number * 1500, 1500), tmp_path / "data" / f"{number}.parquet")
    return tmp_path


def logs(*folders):
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return {file: file.read_bytes() for file in files if file.suffix not in {".parquet", ".csv", ".json", ".html"}}


def test_no_value_is_in_a_log_of_driver_executors_or_events(cluster, data):
    driver = started(data, "classic", cluster.address, {**cluster.settings, **SETTINGS})
    assert driver.wait(LONG) == 0, (data / "classic.log").read_text()
    with connect_server(cluster.address, json.dumps({**cluster.settings, **SETTINGS})) as address:
        assert started(data, "connect", address, {}).wait(LONG) == 0, (data / "connect.log").read_text()
    assert medveil.anonymize(written_policy(data, "here.json", None, {}), out=data / "here").manifest.rows["published"]
    released = [published(data / name) for name in ("here", "classic", "connect")]
    assert released[0] == released[1] == released[2]
    assert any(TOKEN in str(row) for row in released[0]), "values are published, so that they did travel"
    told = {**logs(cluster.folder), data / "classic.log": (data / "classic.log").read_bytes()}
    events = [file for file in told if "events" in file.parts]
    executors = [file for file in told if file.name == "stderr"]
    assert len(events) >= 2
    assert len(executors) >= 2
    assert any(b"SparkListenerSQLExecutionStart" in told[file] for file in events), "the logs hold queries"
    assert [file for file, text in told.items() if TOKEN.encode() in text] == []


def published(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    names = list(manifest.get("parts", ())) or [manifest["release"]]
    return [line for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines()[1:]]


def until(found, process):
    """Wait for something in the folders of a run."""
    limit = time.monotonic() + LONG
    while not found():
        assert process.poll() is None, "the run ended before"
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_a_lost_worker_is_survived_and_a_lost_driver_leaves_no_release(cluster, data):
    with ExitStack() as stack:
        table = pa.concat_tables([planted(3000)] * 50)
        pq.write_table(table, data / "data" / "2.parquet")
        run = started(
            data, "lost", cluster.address, {**cluster.settings, **SETTINGS, "spark.sql.shuffle.partitions": "16"}
        )
        stack.callback(spark_cluster.end, run)
        until(lambda: any(data.glob(".lost.medveil-*/.parts-*/_temporary/0/_temporary/*")), run)
        spark_cluster.end(cluster.workers[0])
        assert run.wait(LONG) == 0, (data / "lost.log").read_text()
        medveil.anonymize(written_policy(data, "whole.json", None, {}), out=data / "whole")
        assert published(data / "lost") == published(data / "whole")
        assert medveil.audit(data / "lost", data / "data", missing=[f"{TOKEN}39"]).publishable

        driver = started(data, "driver", cluster.address, {**cluster.settings, **SETTINGS})
        until(lambda: any(data.glob(".driver.medveil-*/.parts-*/_temporary/0/_temporary/*")), driver)
        spark_cluster.end(driver)
        assert not (data / "driver").exists()
        (left,) = data.glob(".driver.medveil-*")
        assert not (left / "manifest.json").exists()
        assert not (left / "release").exists()
