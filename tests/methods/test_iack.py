"""IACk: bits about the target decide what is generalized, and values of few records are suppressed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import medveil
from medveil.datasets import patients
from medveil.errors import PolicyError, UnreachableError
from medveil.methods.iack import mutual_information

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 50]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "surgery": {"role": "plain", "insist": True},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "iack", "target": "surgery"},
}


@pytest.fixture(scope="module")
def frame():
    return patients(2000, seed=9).to_pandas().astype(str)


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=5))
def test_mutual_information_against_entropies(rows):
    table = np.array(rows, dtype=float)
    if table.sum() == 0:
        return

    def entropy(shares):
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum())

    joint = table / table.sum()
    expected = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())
    assert mutual_information(table) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("privacy", [[], [{"model": "l-diversity", "l": 3}], [{"model": "t-closeness", "t": 0.7}]])
def test_classes_hold_and_stars_are_few(frame, privacy):
    policy = {**POLICY, "privacy": [*POLICY["privacy"], *privacy]}
    release = medveil.anonymize(frame, policy)
    shown = release.to_pandas().astype(str)
    assert shown.groupby(["age", "sex", "region"]).size().min() >= 5
    levels = release.manifest.method["levels"]
    starred = (shown[["age", "sex", "region"]] == "*").any(axis=1)
    if not any(release.manifest.method["levels"][name] for name in ("sex", "region")):
        assert starred.mean() <= 0.05 or levels["age"] == 4
    assert release.manifest.rows["published"] >= 1900


def test_the_column_that_tells_nothing_is_generalized_first():
    """`noise` is independent of the target, `sign` is the target: the noise goes."""
    frame = pd.DataFrame(list(itertools.product("abcdefgh", "01")) * 2, columns=["noise", "sign"])
    frame["target"] = frame["sign"]
    policy = {
        "attributes": {
            "noise": {"role": "quasi"},
            "sign": {"role": "quasi"},
            "target": {"role": "plain", "insist": True},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "iack", "target": "target"},
    }
    release = medveil.anonymize(frame, policy)
    assert release.manifest.method["levels"] == {"noise": 1, "sign": 0}
    assert set(release.to_pandas()["noise"]) == {"*"}


def test_values_of_few_records_are_suppressed_and_the_records_stay():
    frame = pd.DataFrame({"a": ["x"] * 50 + ["y"] * 46 + ["p", "q", "r", "s"], "t": ["0", "1"] * 50})
    policy = {
        "attributes": {"a": {"role": "quasi"}, "t": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "iack"},
    }
    release = medveil.anonymize(frame, policy)
    assert release.to_pandas()["a"].astype(str).value_counts().to_dict() == {"x": 50, "y": 46, "*": 4}
    assert release.manifest.rows["suppressed"] == 0


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"method": {"name": "iack", "target": "surgary"}}, PolicyError, "Did you mean 'surgery'"),
        ({"privacy": [{"model": "k-anonymity", "k": 3000}]}, UnreachableError, "most general"),
        ({"attributes": {"age": {"role": "quasi"}}, "method": "iack"}, PolicyError, "needs a target"),
    ],
)
def test_what_cannot_be_meant_is_said_clearly(frame, changes, error, words):
    with pytest.raises(error, match=words):
        medveil.anonymize(frame, {**POLICY, **changes})
