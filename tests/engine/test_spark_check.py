"""`medveil engine check` tells a cluster that gives what DuckDB gives from one that does not."""

import json

import pytest
from tests.engine.spark import LOCAL, free_port, need_spark

from medveil.errors import InputError, VerificationError

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]


def test_a_sound_cluster_passes(command, tmp_path):
    code, said, _ = command("engine", "check", "--remote", LOCAL, "--folder", tmp_path)
    assert code == 0, said
    assert "8 of 8 hold" in said
    assert not list(tmp_path.iterdir())


def test_a_cluster_that_does_not_sort_is_found(command, monkeypatch):
    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrame.orderBy", lambda self, *_: self.repartition(2))
    code, said, _ = command("engine", "check", "--remote", LOCAL, "--json")
    assert code == VerificationError.exit_code
    found = {check["name"]: check["note"] for check in json.loads(said)["checks"] if not check["ok"]}
    assert found.keys() >= {"sorted CSV parts", "sorted Parquet parts", "a release with its audit"}
    assert found["sorted CSV parts"] == "The rows are not sorted."


def test_nobody_answers(command):
    code, _, errors = command("engine", "check", "--remote", f"sc://127.0.0.1:{free_port()}")
    assert code == InputError.exit_code
    assert "No Spark answers" in errors
