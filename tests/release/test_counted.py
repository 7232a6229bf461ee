"""A release is read back as its distinct rows: the same rows as often, in the order of the file."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.engine.spark import patients, policy

import medveil
from medveil.app.evaluating import PublishedTable, evaluate
from medveil.app.preparation import prepare
from medveil.policy import load_policy
from medveil.release import counted
from medveil.release.counted import read_counted
from medveil.release.reading import read_release
from medveil.risk.leaking import leakage_of_comparison
from medveil.run import Run
from medveil.sources.opening import open_source
from medveil.table.formulas import formula_cells
from medveil.workspace import Workspace


def table():
    """Missing values, numbers, texts of several lines, and one that looks like a formula."""
    made = patients(600)
    stays = pa.array([None if i % 7 == 0 else i % 5 for i in range(600)])
    words = pa.array(["=1+1" if i % 50 == 0 else None if i % 11 == 0 else "a\nb" for i in range(600)])
    return made.append_column("stays", stays).append_column("words", words)


def asked(file_format="csv", **more):
    made = policy(
        stays={"role": "plain", "type": "number", "insist": True},
        words={"role": "plain", "insist": True},
        ward={"role": "plain", "insist": True},
    )
    return {**made, "output": {"report": False, "format": file_format}, **more}


def rows_of(table):
    return list(zip(*(column.cast(pa.string()).to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("block", [2000, 1 << 24])
@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_distinct_rows_as_often_as_they_are_there(tmp_path, monkeypatch, file_format, block):
    monkeypatch.setattr(counted, "_BLOCK", block)
    monkeypatch.setattr(counted, "_ROWS", max(block // 100, 1))
    release = medveil.anonymize(table(), asked(file_format), out=tmp_path / "out")
    whole = read_release(tmp_path / "out", release.manifest)
    distinct, times = read_counted(tmp_path / "out", release.manifest)
    assert distinct.schema.names == whole.schema.names
    assert distinct["stays"].type == whole["stays"].type
    rows = rows_of(whole)
    assert rows_of(distinct) == list(dict.fromkeys(rows)), "in the order in which they appear"
    assert times.tolist() == [rows.count(row) for row in rows_of(distinct)]
    assert formula_cells(distinct, times) == formula_cells(whole) == 12


def test_one_column_of_missing_values(tmp_path):
    people = pa.table({"sex": pa.array(["f", None, "f", None, None, "f"])})
    wanted = {"attributes": {"sex": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    release = medveil.anonymize(people, {**wanted, "output": {"report": False}}, out=tmp_path / "out")
    distinct, times = read_counted(tmp_path / "out", release.manifest)
    assert dict(zip(distinct["sex"].to_pylist(), times.tolist(), strict=True)) == {"f": 3, None: 3}


@pytest.mark.parametrize("suppressed", ["removed", "stars"])
def test_every_figure_is_that_of_rows(tmp_path, suppressed):
    """Cheap measures and risks, leakage, and trained models and attacks, which go through the rows."""
    wanted = asked(privacy=[{"model": "k-anonymity", "k": 20}], method={"name": "optimal", "suppression": 0.3})
    wanted["output"] = {"report": False, "suppressed": suppressed}
    wanted["evaluation"] = {
        "advice": False,
        "target": "ill",
        "queries": ["SELECT sex, avg(age) FROM data GROUP BY sex"],
    }
    aged = table().set_column(0, "age", pa.array([110 if i % 90 == 0 else 20 + i * 7 % 60 for i in range(600)]))
    release = medveil.anonymize(aged, wanted, out=tmp_path / "out")
    settled, _ = load_policy(wanted)
    figures = []
    with prepare(settled, open_source(aged), Workspace(), Run()) as problem:
        for how in (False, True):
            published = PublishedTable.release(tmp_path / "out", release.manifest, {}, counted=how)
            comparison = replace(published.beside(problem, settled.evaluation, Run()), links=None)
            found = evaluate(comparison, models=True, attacks=True, run=Run())
            figures.append({**found.measures, **found.risks, "leakage of all": leakage_of_comparison(comparison)})
            assert (comparison.times is not None) is how
            assert comparison.classes.records.sum() == release.manifest.rows["published"] - (
                release.manifest.rows["suppressed"] if suppressed == "stars" else 0
            )
    assert figures[0].keys() == figures[1].keys()
    for name in figures[0]:
        assert _rounded(figures[1][name]) == _rounded(figures[0][name]), name


def _rounded(found):
    """Sums are taken in another order: the last digits may differ."""
    told = found if isinstance(found, dict) else vars(found)
    return json.loads(
        json.dumps(told, default=lambda value: float(value) if isinstance(value, np.generic) else dict(value)),
        parse_float=lambda text: round(float(text), 9),
    )
