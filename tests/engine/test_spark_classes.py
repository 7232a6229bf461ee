"""Spark counts classes where its records are, as every engine that declares it must: on fewer tables."""

import pyarrow as pa
import pytest
from tests.engine import test_classes as contract
from tests.engine.spark import SETTINGS, need_spark, run_on_few

from medveil.engine.spark import Spark
from medveil.sources.opening import open_source

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]
BODIES = {name: body for name, body in vars(contract).items() if name.startswith("test_")}
DRAWN = sorted(name for name, body in BODIES.items() if hasattr(body, "hypothesis"))


@pytest.mark.parametrize("name", DRAWN)
def test_contract_on_drawn_tables(remote, tmp_path_factory, name):
    def opened(records):
        table = pa.table({name: pa.array([row[j] for row in records], pa.string()) for j, name in enumerate("abcw")})
        return Spark(remote=remote, settings=SETTINGS).open(open_source(table), tuple("abcw"))

    run_on_few(BODIES[name], opened=opened, tmp_path_factory=tmp_path_factory)
