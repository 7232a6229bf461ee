"""A run on Spark tells how far it is, from the stages of the cluster."""

import numpy as np
import pyarrow as pa
import pytest
from tests.engine.spark import SETTINGS, need_spark, patients

from medveil.engine.spark import Spark
from medveil.run import Run, Stage
from medveil.sources.opening import open_source

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]


def test_shares_of_a_long_stage_are_told(tmp_path, remote, monkeypatch):
    monkeypatch.setattr("medveil.engine.spark_progress._BETWEEN", 0.02)
    told = []
    run = Run(listener=told.append, engines=Spark(remote=remote, settings=SETTINGS).open)
    with run.engine(open_source(patients()), ["age"]) as engine:
        run.step(Stage.WRITE)
        engine.expand(pa.table({"a": ["x", "y"]}), np.full(2, 1_000_000)).write(tmp_path, "parquet")
    shares = [event.share for event in told if event.stage is Stage.WRITE and event.share is not None]
    assert shares
    assert all(0 <= share <= 1 for share in shares)
