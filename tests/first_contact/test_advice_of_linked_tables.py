"""Who follows the advice on linked tables, databases and files of others gets a release."""

import copy
import io
import json
import sqlite3

import pandas as pd
import pyarrow.parquet
import pytest
from tests.first_contact.following import FRAME, Case, changed, looked, twice

import medveil
from medveil.app.compare import fitting_methods
from medveil.app.starter import starter
from medveil.connections import read_connections
from medveil.policy import load_policy
from medveil.release.directory import staged
from medveil.run import Run
from medveil.workspace import Workspace

PEOPLE = pd.DataFrame({"id": [f"p{i}" for i in range(40)], "sex": ["f", "m"] * 20, "born": ["1980-01-02"] * 40})
VISITS = pd.DataFrame(
    {
        "person": [f"p{i % 40}" for i in range(80)],
        "seen": ["2020-03-04"] * 80,
        "code": ["A10", "A11", "B20", "B21"] * 20,
    }
)
CODES = {
    "role": "sensitive",
    "type": "code",
    "set": True,
    "hierarchy": {"type": "mask", "length": 3, "alphabet": "alphanumeric"},
}
WRITTEN_VISITS = VISITS.to_csv(index=False)
KM = {"model": "km-anonymity", "k": 2, "m": 1, "attribute": "visits.code"}
TABLES = {
    "people": {"data": "people.csv", "attributes": {"id": {"role": "key"}, "sex": {"role": "quasi"}}},
    "visits": {"data": "visits.csv", "key": {"person": "people.id"}, "attributes": {"code": CODES}},
}
LINKED = {
    "tables": TABLES,
    "privacy": [{"model": "k-anonymity", "k": 2}, KM],
    "method": "optimal",
    "output": {"report": False},
    "evaluation": {"advice": False},
}


def written(folder, visits=WRITTEN_VISITS):
    """The policy, with its tables in a folder."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    visits.to_csv(folder / "visits.csv", index=False) if isinstance(visits, pd.DataFrame) else (
        folder / "visits.csv"
    ).write_text(visits)
    policy = copy.deepcopy(LINKED)
    for table in policy["tables"].values():
        table["data"] = str(folder / table["data"])
    return policy


def linked(change=dict.copy, visits=WRITTEN_VISITS, act=medveil.anonymize):
    """A run of linked tables whose policy was changed."""

    def run(folder):
        policy = written(folder, visits)
        change(policy)
        return act(policy)

    return run


def released(act):
    """Something that is done with a linked release and its policy."""

    def run(folder):
        (folder / "policy.yaml").write_text(json.dumps(written(folder)))
        medveil.anonymize(folder / "policy.yaml", out=folder / "release")
        return act(folder / "release", folder / "policy.yaml")

    return run


def derived(name, **derive):
    def change(policy):
        policy["tables"]["visits"]["attributes"]["seen"] = {
            "role": "plain",
            "insist": True,
            "derive": derive | {"name": name},
        }
        policy["tables"]["people"]["attributes"]["born"] = {"role": "identifier"}

    return change


def shifted(**source):
    frame = FRAME.assign(seen=["2020-01-02"] * 47 + ["9999-12-31"])
    attributes = {"seen": {"role": "date", "shift": {"days": 10}}, "who": {"role": "key"}}
    return changed(attributes=attributes, frame=frame, **source)


def fits_beside(data):
    """Which methods fit the linked tables, beside these data."""
    return lambda folder: fitting_methods(load_policy(written(folder))[0], Workspace(), data, ["optimal"], Run())


def set_output(**output):
    return lambda policy: policy["output"].update(output)


def set_privacy(*models):
    return lambda policy: policy.update(privacy=[{"model": "k-anonymity", "k": 2}, *models])


def of_database(name):
    """A run on a table of a database in this file."""

    def run(folder):
        with sqlite3.connect(folder / "ward.db") as made:
            FRAME.to_sql("people", made, index=False)
        policy = {
            "data": {"type": "sql", "connection": "ward", "query": "SELECT age FROM people"},
            "attributes": {"age": {"role": "quasi", "type": "number"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "output": {"report": False},
        }
        return medveil.anonymize(policy, connections={"ward": f"sqlite:///{folder / name}"})

    return run


def known_connections(folder):
    (folder / "some.yaml").write_text("ward: sqlite:///ward.db\n")
    (folder / "some.yaml").chmod(0o600)
    return read_connections(folder / "some.yaml")


def raced(folder):
    """Another run makes the directory while this one is at it."""
    with staged(folder / "release"):
        (folder / "release").mkdir()


def parquet(size=None):
    """The bytes of a Parquet file, or the first of them."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"age": [1, 2]}), stream)
    return stream.getvalue()[:size]


def begun(name, content, **bounds):
    def run(folder):
        (folder / name).write_text(content)
        return starter(str(folder / name), bounds=bounds)

    return run


CASES = {
    "data beside linked tables": Case(
        "app/making.py",
        "Leave the data out: each table has its own.",
        lambda folder: medveil.anonymize(FRAME, written(folder)),
        (linked(),),
    ),
    "a copy for Excel": Case(
        "app/linked_making.py",
        "Use 'format: csv', 'parquet' or 'fhir'.",
        linked(set_output(format="excel")),
        tuple(linked(set_output(format=kind)) for kind in ("csv", "parquet")),
    ),
    "suppressed people as stars": Case(
        "app/linked_making.py",
        "Use 'suppressed: removed'.",
        linked(set_output(suppressed="stars")),
        (linked(set_output(suppressed="removed")),),
    ),
    "a method that cannot link": Case(
        "app/linking.py",
        "Choose 'optimal' or 'mondrian'.",
        linked(lambda policy: policy.update(method="iack")),
        tuple(linked(lambda policy, name=name: policy.update(method=name)) for name in ("optimal", "mondrian")),
    ),
    "more distinct records of linked tables than may travel": Case(
        "cells.py",
        "ALLOW_MORE",
        linked(lambda policy: policy.update(engine={"type": "duckdb", "cells_at_most": 1})),
        (linked(lambda policy: policy.update(engine={"type": "duckdb", "cells_at_most": 40})),),
    ),
    "two models of one set": Case(
        "app/sets.py",
        "Keep the stricter one.",
        linked(set_privacy(KM, {**KM, "k": 3})),
        (linked(set_privacy({**KM, "k": 3})),),
    ),
    "a model of another set": Case(
        "app/sets.py",
        "did_you_mean(name, plan.set_attributes)",
        linked(set_privacy({**KM, "attribute": "visits.cod"})),
        (linked(),),
    ),
    "dates of another table": Case(
        "app/linked_plan.py",
        "did_you_mean(change.table, self.policy.tables)",
        linked(derived("age", days_since="visit.seen")),
        (linked(derived("age", days_since="visits.seen")),),
    ),
    "a derived name that is taken": Case(
        "app/linked_plan.py",
        "Choose another 'name' under 'derive'.",
        linked(derived("person", days_since="visits.seen")),
        (linked(derived("days", days_since="visits.seen")),),
    ),
    "sets of one table": Case(
        "app/preparation.py",
        "Use it with linked tables ('tables:') on a column with 'set: true'.",
        changed(privacy=[{"model": "km-anonymity", "k": 2, "attribute": "ill"}]),
        (linked(),),
    ),
    "a linked release beside a policy": Case(
        "app/measure.py",
        "Leave the policy and the other release out; the original is given as the policy that names it.",
        released(lambda folder, policy: medveil.measure(folder, policy=policy)),
        (
            released(lambda folder, _: medveil.measure(folder, quick=True)),
            released(lambda folder, policy: medveil.measure(folder, policy, quick=True)),
        ),
    ),
    "one table beside a linked release": Case(
        "app/linked_measuring.py",
        "Give the policy as the original.",
        released(lambda folder, _: medveil.measure(folder, FRAME)),
        (released(lambda folder, policy: medveil.measure(folder, policy, quick=True)),),
    ),
    "a comparison of linked tables beside data": Case(
        "app/compare.py",
        "Leave the data out: each table has its own.",
        lambda folder: fitting_methods(
            medveil.Policy.model_validate(written(folder)), Workspace(), "a.csv", ["optimal"], Run()
        ),
        (
            lambda folder: fitting_methods(
                medveil.Policy.model_validate(written(folder)), Workspace(), None, ["optimal"], Run()
            ),
        ),
    ),
    "a line that is too short": Case(
        "engine/duckdb_changing.py",
        "remedy",
        linked(visits="person,seen,code\np1,2020-03-04,A10\np2\n"),
        (linked(),),
    ),
    "a date that stands for something else": Case(
        "engine/duckdb_changing.py",
        "List these texts under 'missing:', or fix them.",
        shifted(),
        (shifted(data={"path": "", "missing": ["9999-12-31"]}),),
    ),
    "a database that is not there": Case(
        "sources/database.py", "Check its address.", of_database("none.db"), (of_database("ward.db"),)
    ),
    "connections that are not there": Case(
        "connections.py",
        "Check that it exists.",
        lambda folder: read_connections(folder / "none.yaml"),
        (known_connections,),
    ),
    "half a Parquet file": Case(
        "sources/parquet.py", "Is it incomplete?", looked("a.parquet", parquet(60)), (looked("a.parquet", parquet()),)
    ),
    "a directory that another run makes": Case(
        "release/directory.py", "Name another directory.", raced, (changed(out="other"),)
    ),
    "a directory in a file": Case(
        "release/directory.py",
        "Check that the folder exists and is writable.",
        twice(lambda folder: (folder / "a").write_text(""), changed(out="a/release")),
        (changed(out="b/release"),),
    ),
    "more columns than a stranger may bring": Case(
        "app/starter.py",
        "Take out those that nobody needs, or use the command line.",
        begun("a.csv", "age,sex\n1,f\n", columns=1),
        (begun("a.csv", "age\n1\n", columns=1),),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
