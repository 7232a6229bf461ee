"""Measures against figures computed by hand on six people."""

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.table.domain import domain_of
from medveil.table.schema import Kind
from medveil.utility import measures
from medveil.utility.association import association, original_column
from medveil.utility.class_sizes import AverageClassSize, Discernibility
from medveil.utility.compute import compute_measures
from medveil.utility.correlations import CorrelationDistance
from medveil.utility.emd import EarthMoversDistance
from medveil.utility.loss_metric import LossMetric
from medveil.utility.marginals import MarginalDistance
from medveil.utility.ncp import NormalizedCertaintyPenalty
from medveil.utility.non_uniform_entropy import NonUniformEntropy
from medveil.utility.query_error import QueryError
from medveil.utility.rate import Rate
from medveil.utility.truthfulness import Truthfulness

LOSSES = [
    LossMetric,
    NormalizedCertaintyPenalty,
    NonUniformEntropy,
    MarginalDistance,
    EarthMoversDistance,
    Rate,
    CorrelationDistance,
    QueryError,
]


def test_losses_of_detail(generalized):
    """Six leaves of age, two of sex; four records in groups of two, and two that are gone."""
    lm = LossMetric().compute(generalized)
    assert lm.parts == pytest.approx({"age": (4 * 1 / 5 + 2) / 6, "sex": 1.0})
    assert lm.value == pytest.approx((lm.parts["age"] + 1) / 2)
    ncp = NormalizedCertaintyPenalty().compute(generalized)
    assert ncp.parts == pytest.approx({"age": (4 * 2 / 6 + 2) / 6, "sex": 1.0})


def test_weights_count(people, compared):
    table = compared(["*"] * 6, ["f", "m"] * 3, ["flu"] * 6).published
    heavy = Comparison(dataclasses.replace(people, weights={"age": 3.0}), table)
    assert LossMetric().compute(heavy).value == pytest.approx(0.75)


def test_non_uniform_entropy(generalized):
    """Every age is there once: log2(2/1) for four records, log2(6/1) for two, out of log2(6) each. Sex is all gone."""
    found = NonUniformEntropy().compute(generalized)
    age = (4 * 1 + 2 * math.log2(6)) / (6 * math.log2(6))
    assert found.parts == pytest.approx({"age": age, "sex": 1.0})
    assert found.value == pytest.approx((age + 1) / 2)


def test_rare_values_cost_more_when_they_drown():
    """1 x, 3 y: hiding both in `*` costs log2(4/1) once and log2(4/3) three times; all there is to lose."""
    table = {"a": ["x", "y", "y", "y"], "b": ["u", "u", "v", "v"]}
    hierarchies = {"b": [{"u": "w", "v": "w"}]}
    with make_problem(table, quasi=["a", "b"], hierarchies=hierarchies) as problem:
        published = pa.table({"a": ["x", "*", "*", "*"], "b": ["u", "u", "v", "v"]})
        found = NonUniformEntropy().compute(Comparison(problem, published))
    lost = 3 * math.log2(4) - 3 * math.log2(3)
    assert found.parts == pytest.approx({"a": lost / (math.log2(4) + 3 * math.log2(4 / 3)), "b": 0.0})


def test_class_sizes(generalized):
    assert Discernibility().compute(generalized).value == pytest.approx((2 * 2**2 + 2 * 6) / 36)
    assert AverageClassSize().compute(generalized).value == pytest.approx(2.0)


def test_marginals(generalized):
    """Ages 20, 25, 31, 38 have 1/4 each instead of 1/6, the others nothing instead of 1/6; of flu, cold and gout 3/4,
    1/4 and 0 instead of 1/2, 1/3 and 1/6; sex is spread as it was.
    """
    found = MarginalDistance().compute(generalized)
    assert found.parts == pytest.approx({"age": 1 / 3, "sex": 0.0, "ill": 1 / 4})


def test_means_are_far_from_every_value(compared):
    found = MarginalDistance().compute(compared(["30.5"] * 6, ["f", "m"] * 3, ["flu"] * 6))
    assert found.parts["age"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("age", "sex", "ill", "share"),
    [
        (["[20-29]", "[20-29]", "44"], ["*"] * 3, ["flu", "flu", "cold"], 1.0),
        # Only two people are in their twenties.
        (["[20-29]"] * 3, ["*"] * 3, ["flu"] * 3, 2 / 3),
        # Nobody of 31 has gout.
        (["[30-39]"], ["f"], ["gout"], 0.0),
        # A mean is nobody's age.
        (["29.5", "20"], ["*"] * 2, ["flu"] * 2, 1 / 2),
        # Overlapping labels: the first must leave 25 to the second, and 20 to the third.
        (["[20-38]", "[25-31]", "20"], ["*"] * 3, ["flu"] * 3, 1.0),
    ],
)
def test_truthfulness(compared, age, sex, ill, share):
    assert Truthfulness().compute(compared(age, sex, ill)).value == pytest.approx(share)


def test_the_identity_release_loses_nothing(identity):
    for measure in LOSSES:
        assert measure().compute(identity).value == pytest.approx(0.0, abs=1e-9), measure.name
    assert Truthfulness().compute(identity).value == 1.0


def test_full_suppression_loses_everything(starred):
    for measure in (LossMetric, NormalizedCertaintyPenalty, NonUniformEntropy, Discernibility):
        assert measure().compute(starred).value == pytest.approx(1.0), measure.name
    for measure in (Truthfulness, Rate, MarginalDistance, EarthMoversDistance, CorrelationDistance, AverageClassSize):
        assert isinstance(measure().compute(starred), Skipped), measure.name
    assert QueryError().compute(starred).value > 0.5


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=4, max_size=30))
def test_measures_stay_in_their_range_and_do_not_see_the_order_of_rows(rows):
    names = ("lm", "ncp", "non-uniform-entropy", "marginal-distance", "discernibility", "truthfulness")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(("age", "sex", "ill"))}
    decades = {str(n): f"[{n // 5 * 5}-{n // 5 * 5 + 4}]" for n in range(10)}
    ages = {str(n): decades[str(n)] for n in sorted(set(columns["age"]))}
    with make_problem(columns, quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": [ages]}) as problem:
        table = pa.table(
            {"age": [decades[str(n)] for n in columns["age"]], "sex": columns["sex"], "ill": columns["ill"]}
        )
        turned = table.take(pa.array(np.arange(len(rows))[::-1]))
        first, second = (
            compute_measures(Comparison(problem, one), {name: measures()[name] for name in names}, cheap_only=True)
            for one in (table, turned)
        )
    assert first["truthfulness"].value == 1.0
    for name in names:
        if isinstance(first[name], Score):
            assert 0 <= first[name].value <= 1, name
            assert first[name].value == pytest.approx(second[name].value), name


class TestAssociations:
    """Against figures computed by hand."""

    def numbers(self, *values):
        domain = domain_of([str(v) for v in values], Kind.NUMBER)
        return original_column(domain, np.searchsorted(domain.numbers, values))

    def letters(self, text):
        domain = domain_of(list(text), Kind.CATEGORY)
        return original_column(domain, np.array([domain.values.index(letter) for letter in text]))

    def test_numbers(self):
        ones = np.ones(4)
        assert association(self.numbers(1, 2, 3, 4), self.numbers(2, 4, 6, 8), ones) == pytest.approx(1.0)
        assert association(self.numbers(1, 2, 3, 4), self.numbers(1, 0, 0, 1), ones) == pytest.approx(0.0)
        assert association(self.numbers(1, 1, 1, 1), self.numbers(1, 0, 0, 1), ones) is None

    def test_weights_are_repetitions(self):
        weighted = association(self.numbers(1, 2, 5), self.numbers(3, 1, 1), np.array([2.0, 1.0, 1.0]))
        assert weighted == pytest.approx(association(self.numbers(1, 1, 2, 5), self.numbers(3, 3, 1, 1), np.ones(4)))

    def test_a_number_and_a_category(self):
        """Means 1 and 4 around 2.5: between 4 * 1.5^2 = 9 of 10 in all, on either side of the arguments."""
        found = association(self.letters("aabb"), self.numbers(1, 1, 3.5, 4.5), np.ones(4))
        assert found == pytest.approx((9 / 9.5) ** 0.5)
        assert association(self.numbers(1, 1, 3.5, 4.5), self.letters("aabb"), np.ones(4)) == pytest.approx(found)

    def test_two_categories(self):
        """A full dependence of two by two stays 1 after the correction; an independent table is cut to 0."""
        assert association(self.letters("aabb" * 5), self.letters("xxyy" * 5), np.ones(20)) == pytest.approx(1.0)
        assert association(self.letters("abab" * 5), self.letters("xxyy" * 5), np.ones(20)) == 0.0


def test_earth_movers_distance(generalized, compared):
    """Shares of the ages 1/4 1/4 1/4 1/4 0 0 instead of 1/6 each: running differences 1/12, 2/12, 3/12, 4/12, 2/12 over
    five steps. Illnesses as for the total variation.
    """
    found = EarthMoversDistance().compute(generalized)
    assert found.parts == pytest.approx({"age": (1 + 2 + 3 + 4 + 2) / 12 / 5, "sex": 0.0, "ill": 1 / 4})
    # All mass at the first value instead of the last: the whole way. 20.4 is nearest to 20.
    ends = compared(["20.4"] * 6, ["f"] * 6, ["flu"] * 6)
    expected = sum(1 - i / 6 for i in range(1, 6)) / 5
    assert EarthMoversDistance().compute(ends).parts["age"] == pytest.approx(expected)


def test_rate_of_counterfeits(generalized, compared):
    """Two people are in their twenties and have flu; one of three in the first class is nobody, none in the second."""
    assert Rate().compute(generalized).value == 0.0
    padded = compared(["[20-29]"] * 3 + ["31"], ["*"] * 3 + ["f"], ["flu"] * 3 + ["cold"])
    assert Rate().compute(padded).value == pytest.approx((1 / 3 + 0) / 2)
