"""Outliers go to the nearest class, and are counted as untruthful."""

from collections import Counter

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import medveil
from medveil.errors import PolicyError, UnreachableError
from medveil.methods.relocation import Relocation
from medveil.privacy.k_anonymity import KAnonymity
from medveil.run import Run

HALVES = {"p": [{"a": "ab", "b": "ab", "c": "cd", "d": "cd"}]}


def test_an_outlier_goes_where_its_group_is(make_problem):
    """`a` is nearer to `b`, with which it shares a group, than to the larger class of `c`."""
    table = {"p": ["a", "b", "b", "c", "c", "c", "d", "d"], "s": list("01234567")}
    with make_problem(table, quasi=("p",), sensitive=("s",), models=[KAnonymity(k=2)], hierarchies=HALVES) as problem:
        draft = Relocation(relocation=0.2).anonymize(problem, Run())
        rows = sorted(zip(*draft.published.to_arrow().to_pydict().values(), strict=True), key=lambda row: row[1])
        assert [p for p, _ in rows] == ["b", "b", "b", "c", "c", "c", "d", "d"]
        assert draft.method["untruthful"] == 1
        assert draft.rows == {"input": 8, "suppressed": 0}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy")), min_size=4, max_size=30), st.integers(2, 4))
@settings(max_examples=20)
def test_every_class_has_k_and_no_sensitive_value_changes(make_problem, rows, k):
    table = {"p": [p for p, _ in rows], "s": [s for _, s in rows]}
    with make_problem(table, quasi=("p",), sensitive=("s",), models=[KAnonymity(k=k)], hierarchies=HALVES) as problem:
        draft = Relocation(relocation=0.3).anonymize(problem, Run())
        published = draft.published.to_arrow().to_pydict()
    assert sorted(published["s"]) == sorted(table["s"])
    assert min(Counter(published["p"]).values()) >= k
    assert draft.method["untruthful"] <= 0.3 * len(rows)


def test_people_are_counted_where_a_subject_is_declared():
    table = pa.table({"who": ["1", "1", "2", "3", "4", "4"], "p": ["a", "a", "b", "b", "c", "c"], "s": list("xyxyxy")})
    policy = {
        "attributes": {"who": {"role": "subject"}, "p": {"role": "quasi"}, "s": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "relocation", "relocation": 0.7},
    }
    release = medveil.anonymize(table, policy)
    assert release.to_arrow()["p"].to_pylist() == ["b"] * 6
    assert release.manifest.method["untruthful"] == 4


def test_a_model_that_moved_records_break_is_refused():
    table = pa.table({"p": ["a"] * 4 + ["b"] * 4 + ["c"], "s": ["x", "x", "y", "y"] * 2 + ["x"]})
    policy = {
        "attributes": {
            "p": {"role": "quasi", "max_level": 0},
            "s": {"role": "sensitive"},
        },
        "privacy": [{"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2}],
        "method": {"name": "relocation", "relocation": 0.2},
    }
    with pytest.raises(UnreachableError, match="does not hold"):
        medveil.anonymize(table, policy)


def test_presence_in_a_population_is_refused(tmp_path):
    """Moved records count where their people are not: what the search checked would not be what is published."""
    pd.DataFrame({"p": list("aabbccdd") * 3}).to_csv(tmp_path / "population.csv", index=False)
    policy = {
        "attributes": {"p": {"role": "quasi"}},
        "privacy": [
            {
                "model": "delta-presence",
                "delta_min": 0.0,
                "delta_max": 0.9,
                "population": str(tmp_path / "population.csv"),
            }
        ],
        "method": {"name": "relocation"},
    }
    with pytest.raises(PolicyError, match="presence in a population cannot be kept"):
        medveil.anonymize(pd.DataFrame({"p": list("aabbccdd")}), policy)
