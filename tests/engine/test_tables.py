"""Changing and linking tables are verbs of an engine: one that cannot refuses, before anything is read."""

import pyarrow as pa
import pyarrow.csv
import pytest

import medveil
from medveil.engine import open_engine
from medveil.engine.specification import EngineSpec
from medveil.errors import PolicyError
from medveil.run import Run

PRIVACY = {"privacy": [{"model": "k-anonymity", "k": 2}]}
SEX = {"sex": {"role": "quasi"}}
PEOPLE = pa.table({"id": ["a", "b", "c", "d"], "sex": ["f", "f", "m", "m"]})


class CountsAlone(EngineSpec):
    """An engine that opens tables, and has no other verbs."""

    name = "counts-alone"

    def open(self, source, columns, limits=None, **told):
        return open_engine(source, columns, limits, **told)


@pytest.fixture
def run():
    engine = CountsAlone()
    return Run(engines=engine.open, tables=engine)


def test_it_makes_a_release_of_one_table(run):
    release = medveil.anonymize(PEOPLE, {"attributes": SEX, **PRIVACY}, run=run)
    assert release.manifest.rows["published"] == 4


def test_it_refuses_to_change_a_table(run):
    policy = {"attributes": {"id": {"role": "key"}, **SEX}, **PRIVACY}
    with pytest.raises(PolicyError, match="The engine 'counts-alone' makes no pseudonyms"):
        medveil.anonymize(PEOPLE, policy, run=run)


def test_it_refuses_to_link_tables(run, tmp_path):
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    people = {"data": str(tmp_path / "people.csv"), "attributes": {"id": {"role": "key"}, **SEX}}
    with pytest.raises(PolicyError, match="The engine 'counts-alone' does not link tables"):
        medveil.anonymize({"tables": {"people": people}, **PRIVACY}, run=run)
