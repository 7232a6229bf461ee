"""Cleaning before fixed intervals: what rules, ranges and missing values do to the records."""

import datetime as dt

import pandas as pd
import pytest
from tests.fixed_intervals import internal, members, read_book

import medveil
from medveil.errors import PolicyError


def test_cleaning_by_hand(tmp_path):
    frame = pd.DataFrame(
        {
            "age": ["20", "30", "-100", "40", "50", None, "60", "70"],
            "sex": ["F", "F", "F", "M", "M", "F", None, "F"],
            "pregnant": ["yes", "no", "no", "yes", "no", "no", "no", "no"],
            "zip": ["412-791", "412-792", "412-793", "412-794", "412-795", "412-796", "412-797", "412-798"],
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "quasi"},
            "sex": {"role": "quasi", "hierarchy": {"type": "flat", "domain": ["F", "M"]}},
            "zip": {"role": "quasi"},
            "pregnant": {"role": "plain", "insist": True},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {
            "name": "fixed-interval",
            "intervals": 1,
            "ranges": {"age": [0, 120]},
            "rules": [{"when": {"sex": "M", "pregnant": "yes"}}],
            "missing": {"age": "drop", "sex": "impute"},
            "codes_as_numbers": ["zip"],
        },
    }
    release = medveil.anonymize(frame, policy, out=tmp_path / "out")
    assert internal(tmp_path / "out")["records left out"] == {
        "impossible combination": 1,
        "missing value": 2,
        "outlier": 0,
    }
    shown = release.to_pandas().astype(object)
    assert set(shown["age"]) == {"46"}
    assert set(shown["zip"]) == {str(round((412791 + 412792 + 412795 + 412797 + 412798) / 5))}
    assert set().union(*(members(label) for label in shown["sex"])) <= {"s0", "s1"}
    assert len(shown) == 5


@pytest.mark.parametrize(
    ("when", "dropped"),
    [
        ({"seen": "2020-01-02"}, 2),
        ({"seen": dt.date(2020, 1, 2), "dose": 1}, 1),
        ({"dose": "1.00"}, 3),
        ({"dose": 2.5}, 1),
        ({"seen": "soon"}, "2020-01-31"),
        ({"seen": "02.01.2020"}, "2020-01-31"),
        ({"dose": "much"}, "a number"),
    ],
)
def test_rules_name_values_as_columns_hold_them(tmp_path, when, dropped):
    """The days are written otherwise in the data, and a dose of one is a whole number or not."""
    frame = pd.DataFrame(
        {
            "age": ["20", "21", "22", "50", "51", "52"],
            "seen": ["02.01.2020", "02.01.2020", "03.01.2020", "04.01.2020", "05.01.2020", "06.01.2020"],
            "dose": ["1.0", "2.5", "1.0", "1.0", None, "3.0"],
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "quasi"},
            "seen": {"role": "plain", "insist": True},
            "dose": {"role": "plain", "insist": True},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "rules": [{"when": when}]},
    }
    if isinstance(dropped, str):
        with pytest.raises(PolicyError, match=dropped):
            medveil.anonymize(frame, policy)
        return
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    assert internal(tmp_path / "out")["records left out"]["impossible combination"] == dropped


def test_missing_values_that_are_kept_are_shown_as_such():
    frame = pd.DataFrame({"age": ["20", None, "40", "50", None, None], "sex": ["f", None, "f", None, "f", "f"]})
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "number"}, "sex": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "fixed-interval", "intervals": 1},
    }
    shown = medveil.anonymize(frame, policy).to_pandas().astype(object)
    assert set(shown["age"]) <= {"37", "{37, ?}"}
    assert "?" in "".join(shown["age"]) + "".join(shown["sex"])
    assert shown.groupby(["age", "sex"], dropna=False).size().min() >= 3


def test_a_column_without_any_number_is_published_as_missing():
    frame = pd.DataFrame({"age": ["20", "30", "40", "50"], "weight": [None] * 4})
    policy = {
        "attributes": {"age": {"role": "quasi"}, "weight": {"role": "quasi", "type": "number"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "intervals": 2},
    }
    release = medveil.anonymize(frame, policy)
    assert release.to_pandas()["weight"].isna().all()
    assert {line["attribute"] for line in read_book(release.folder)} == {"age"}
