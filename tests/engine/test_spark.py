"""Spark passes the tests of every engine, on fewer tables: each of its answers takes a good part of a second."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine import test_contract as contract
from tests.engine.spark import LOCAL, SETTINGS, need_spark, patients, policy, run_on_few
from tests.private_releases import people
from tests.private_releases import policy as private_policy

import medveil
from medveil.engine.spark import Spark
from medveil.methods import methods
from medveil.sources.opening import open_source

need_spark()
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("spark")]
BODIES = {name: body for name, body in vars(contract).items() if name.startswith("test_")}
DRAWN = sorted(name for name, body in BODIES.items() if hasattr(body, "hypothesis"))


@pytest.fixture(scope="session")
def engines(remote):
    return Spark(remote=remote, settings=SETTINGS).open


@pytest.mark.parametrize("name", DRAWN)
def test_contract_on_drawn_tables(engines, tmp_path_factory, name):
    run_on_few(BODIES[name], engines=engines, tmp_path_factory=tmp_path_factory)


def test_every_test_of_the_contract_is_run():
    here = {name for name in globals() if name.startswith("test_")}
    assert set(BODIES) - set(DRAWN) <= here


test_publications_are_written = BODIES["test_publications_are_written"]
test_nothing_is_published_with_its_header = BODIES["test_nothing_is_published_with_its_header"]
test_typed_values_become_texts_alike = BODIES["test_typed_values_become_texts_alike"]
test_a_profile_does_not_depend_on_the_order_of_rows = BODIES["test_a_profile_does_not_depend_on_the_order_of_rows"]
test_what_was_read_can_be_read_again = BODIES["test_what_was_read_can_be_read_again"]
test_an_empty_table_is_refused_unless_it_may_be = BODIES["test_an_empty_table_is_refused_unless_it_may_be"]


@pytest.mark.parametrize("subject", [{}, {"who": {"role": "subject"}}], ids=["records", "people"])
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_a_release_is_that_of_duckdb_to_the_row(tmp_path, remote, method, subject):
    here = medveil.anonymize(patients(), policy(method, **subject), out=tmp_path / "here")
    there = medveil.anonymize(patients(), policy(method, remote, **subject), out=tmp_path / "there")
    assert there.to_arrow().to_pylist() == here.to_arrow().to_pylist()
    assert there.manifest.claims == here.manifest.claims
    assert there.manifest.rows == here.manifest.rows
    assert sorted(there.manifest.parts) == sorted(
        str(path.relative_to(tmp_path / "there")) for path in (tmp_path / "there" / "release").iterdir()
    )
    assert medveil.audit(tmp_path / "there", patients()).publishable
    told = [json.loads((tmp_path / out / "internal" / "measures.json").read_text()) for out in ("here", "there")]
    assert told[0]["lm"] == told[1]["lm"]


ON_CELLS = sorted(name for name, method in methods().items() if not method.needs_rows)
PRIVATE = {"dp-histogram", "dp-sampling", "ipa"}


@pytest.mark.parametrize("method", sorted({*ON_CELLS} - PRIVATE - {"optimal", "mondrian"}))
def test_methods_that_work_on_cells_draw_the_same_with_the_same_seed(tmp_path, method):
    releases = []
    for where in (None, LOCAL):
        asked = {**policy(method, where), "seed": 7}
        del asked["attributes"]["ward"]
        releases.append(medveil.anonymize(patients(60), asked, out=tmp_path / str(where)))
    assert releases[0].to_arrow().to_pylist() == releases[1].to_arrow().to_pylist()


@pytest.mark.parametrize("method", sorted(PRIVATE))
def test_differentially_private_methods_work_there(tmp_path, method):
    engine = {"type": "spark", "remote": LOCAL, "settings": SETTINGS}
    subject, delta = {"who": {"role": "subject"}}, {"delta": 1e-6 if method == "dp-sampling" else 0.0}
    asked = private_policy(method=method, engine=engine, attributes=subject, model=delta)
    table = people(500).append_column("who", pa.array([str(i // 2) for i in range(500)]))
    release = medveil.anonymize(table, asked, out=tmp_path / "out", ledger=tmp_path / "ledger.json")
    assert release.manifest.parts
    assert medveil.audit(tmp_path / "out").publishable


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_parts_of_a_folder_are_read_by_the_cluster_and_by_duckdb_alike(tmp_path, remote, file_format):
    """A suppressed class and a plain column: labels go as maps of columns, and left-out cells as a list."""
    table = patients(403)
    rare = pa.array([110 if i % 90 == 0 else age for i, age in enumerate(table["age"].to_pylist())])
    table = table.set_column(0, "age", rare)
    (tmp_path / "in put").mkdir()
    for number in range(3):
        pq.write_table(
            table.slice(number * 150, 150), tmp_path / "in put" / f"part {number}.parquet", row_group_size=40
        )
    releases = []
    for name, where in (("here", None), ("there", remote)):
        asked = policy(remote=where, who={"role": "subject"})
        asked["privacy"] = [{"model": "k-anonymity", "k": 30}]
        asked["method"] = {"name": "optimal", "suppression": 0.2}
        asked["output"] = {"report": False, "format": file_format}
        release = medveil.anonymize(tmp_path / "in put", asked, out=tmp_path / name)
        assert medveil.audit(tmp_path / name, tmp_path / "in put").publishable
        releases.append(release)
    here, there = releases
    assert there.to_arrow().to_pylist() == here.to_arrow().to_pylist()
    assert there.manifest.rows == here.manifest.rows
    assert there.manifest.rows["suppressed"] > 0


def test_nothing_is_left_on_disk(tmp_path):
    where = Spark(remote=LOCAL, folder=str(tmp_path / "shared"), settings=SETTINGS)
    with where.open(open_source(patients()), ["age"]) as engine:
        assert engine.distinct("age") == 60
        assert list((tmp_path / "shared").iterdir())
    assert not list((tmp_path / "shared").iterdir())
