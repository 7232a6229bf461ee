"""Attacks on releases that publish means: a mean that happens to be somebody's value is still the mean of many."""

import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import CODE_BOOK, Comparison
from medveil.risk import risks
from medveil.risk.risk import assess_risks

AGES = [10, 12, 14, 20, 22, 24]
ILL = ["flu", "flu", "flu", "gout", "gout", "gout"]
MEANS = ["12"] * 3 + ["22"] * 3
"""Two intervals of three people; 12 and 22 are ages that people have."""


@pytest.fixture
def means():
    """A release of means, with or without a code book that tells their intervals."""
    with make_problem({"age": AGES, "ill": ILL}, quasi=["age"], sensitive=["ill"]) as problem:

        def make(low=(), high=()):
            book = pa.table(
                {
                    "attribute": ["age", "age"],
                    "published": ["12", "22"],
                    "stands_for": ["mean", "mean"],
                    "low": list(low) or pa.nulls(2, pa.string()),
                    "high": list(high) or pa.nulls(2, pa.string()),
                }
            )
            return Comparison(
                problem,
                pa.table({"age": MEANS, "ill": ILL}),
                forms={"age": "means"},
                companions={CODE_BOOK: book},
            )

        yield make


@pytest.mark.parametrize("intervals", [{}, {"low": ["10", "20"], "high": ["20", "30"]}])
def test_everybody_is_looked_for_behind_their_mean(means, intervals):
    found = assess_risks(means(**intervals), risks(), cheap_only=False)
    assert found["attribute-inference"].value == 1.0
    assert found["homogeneity"].value == 1.0
    assert found["record-linkage"].parts["median candidates"] == 3


def test_the_code_book_tells_more_than_which_mean_is_nearest(means):
    """With ends at 16 the nearest mean and the interval agree; with ends at 14 the one of 14 is in the other one."""
    assert assess_risks(means(["10", "14"], ["14", "30"]), risks(), cheap_only=False)["homogeneity"].value < 1.0


def test_values_beyond_the_outermost_intervals_are_in_them(means):
    found = assess_risks(means(["11", "20"], ["20", "21"]), risks(), cheap_only=False)
    assert found["homogeneity"].value == 1.0


def test_of_whom_no_record_may_be_the_attacker_says_what_a_guesser_would(people, release):
    stranger = Comparison(people, release(["[90-99]"] * 8, ["f"] * 8))
    found = assess_risks(stranger, {"attribute-inference": risks()["attribute-inference"]}, cheap_only=False)
    assert found["attribute-inference"].value == found["attribute-inference"].guesser > 0
