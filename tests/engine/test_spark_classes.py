"""Spark counts classes where its records are, as every engine that declares it must: on fewer tables."""

import pyarrow as pa
import pytest
from tests.engine import test_classes as contract
from tests.engine.spark import LOCAL, SETTINGS, need_spark, patients, policy, run_on_few

import medveil
from medveil.engine.spark import Spark
from medveil.errors import PolicyError
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


def test_a_release_of_cells_that_stay_there_is_that_of_duckdb_to_the_row(tmp_path, remote):
    """Of people, some of whose records are suppressed; the plan is told beforehand."""
    table, told = patients(403), []
    rare = pa.array([110 if i % 90 == 0 else age for i, age in enumerate(table["age"].to_pylist())])
    table = table.set_column(0, "age", rare)
    asked = {
        **policy(who={"role": "subject"}),
        "privacy": [{"model": "k-anonymity", "k": 20}, {"model": "l-diversity", "variant": "distinct", "l": 2}],
        "method": {"name": "optimal", "suppression": 0.2},
    }
    engine = {"type": "spark", "remote": remote, "settings": SETTINGS, "cells_at_most": 10}
    here = medveil.anonymize(table, asked, out=tmp_path / "here")
    there = medveil.anonymize(table, {**asked, "engine": engine}, out=tmp_path / "there", progress=told.append)
    assert there.to_arrow().to_pylist() == here.to_arrow().to_pylist()
    assert there.manifest.claims == here.manifest.claims
    assert there.manifest.rows == here.manifest.rows
    assert there.manifest.rows["suppressed"] > 0
    assert medveil.audit(tmp_path / "there", table).publishable
    stages = [event.stage.value for event in told]
    plan = next(place for place, event in enumerate(told) if "The plan" in (event.detail or ""))
    assert plan < stages.index("search")


@pytest.mark.parametrize(
    "privacy",
    [{"model": "t-closeness", "t": 0.3}, {"model": "l-diversity", "variant": "entropy", "l": 2}],
    ids=["t-closeness", "entropy"],
)
def test_a_model_that_no_query_decides_is_refused_with_what_would_help(privacy):
    engine = {"type": "spark", "remote": LOCAL, "settings": SETTINGS, "cells_at_most": 10}
    with pytest.raises(PolicyError, match="looks at how often each value occurs") as refused:
        medveil.anonymize(patients(), {**policy(), "privacy": [privacy], "engine": engine})
    assert "cells_at_most" in refused.value.remedy
    assert "distinct l-diversity" in refused.value.remedy
