"""Exact sampling: bits that are proved, ties that are broken, and distributions that are not nearly right but right.

The statistical tests compare with exact probabilities at a significance of 1e-9, and each of them also shows that it
would reject a scale that is a few per cent off.
"""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medveil.privacy.exact_sampling import (
    MOST_PLACES,
    Geometric,
    Hits,
    Probability,
    SystemRandomness,
    bernoulli,
    exponential,
    tail,
)

SIGNIFICANCE = 1e-9


class Scripted:
    """Randomness that is told what to say."""

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        said, self.left = self.left[:count], self.left[count:]
        assert len(said) == count
        return np.array(said, dtype=np.uint64)


def fits(observed, expected):
    """Whether counts are those of a distribution, bins of fewer than five expected ones merged into the last."""
    large = expected >= 5
    observed = np.append(observed[large], observed[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1]
    return stats.chisquare(observed * expected.sum() / observed.sum(), expected).pvalue > SIGNIFICANCE


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6),
    st.integers(1, 60),
    st.sampled_from([1, 8, 64, 200]),
)
def test_bits_are_those_of_the_formula(rate, threshold, bits):
    """Against the decimal module at far more digits than are asked for."""
    with localcontext() as context:
        context.prec = 400
        a = (Decimal(-rate.numerator) / Decimal(rate.denominator)).exp()
        assert exponential(rate).bits(bits) == int(a * 2**bits)
        assert exponential(rate).complement().bits(bits) == int((1 - a) * 2**bits)
        assert exponential(rate).odds().bits(bits) == int(a / (1 + a) * 2**bits)
        assert tail(rate, threshold).bits(bits) == int(a**threshold / (1 + a) * 2**bits)
        for power, found in enumerate(exponential(rate).powers(5)):
            assert found.bits(bits) == int(a ** (2**power) * 2**bits)


def test_enclosures_hold_the_number_and_narrow():
    with localcontext() as context:
        context.prec = 200
        exact = Decimal(-1).exp() ** 3 / (1 + Decimal(-1).exp())
        widths = []
        for digits in (10, 20, 40, 80):
            low, high = tail(Fraction(1), 3).enclose(digits)
            assert low < exact < high
            widths.append(high - low)
        assert all(b < a / 10**8 for a, b in itertools.pairwise(widths))


def test_a_probability_whose_bits_end_is_not_taken_for_one_that_goes_on():
    with pytest.raises(ArithmeticError):
        Probability(lambda digits: (Context(prec=digits).next_minus(Decimal("0.5")), Decimal("0.5"))).bits(64)


def test_equal_words_are_decided_by_further_bits():
    p = exponential(Fraction(1))
    first, second, third = (p.bits(64 * k) % 2**64 for k in (1, 2, 3))
    assert bernoulli(p, 2, Scripted(first - 1, first + 1)).tolist() == [True, False]
    assert bernoulli(p, 1, Scripted(first, second - 1)).tolist() == [True]
    assert bernoulli(p, 1, Scripted(first, second + 1)).tolist() == [False]
    assert bernoulli(p, 1, Scripted(first, second, third + 1)).tolist() == [False]
    assert bernoulli(p, 2, Scripted(first, 0, second, third - 1)).tolist() == [True, True]


def test_system_randomness_is_fresh_and_uniform():
    words = SystemRandomness().words(40_000)
    assert words.dtype == np.uint64
    assert len(np.unique(words)) == 40_000
    assert fits(np.bincount((words >> np.uint64(58)).astype(np.int64), minlength=64), np.full(64, 40_000 / 64))


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(7, 10), Fraction(5)])
def test_geometric(rate):
    a, runs = math.exp(-rate), 400_000
    values = Geometric.unlimited(exponential(rate)).draw(runs)
    g = np.arange(values.max() + 2)
    expected = runs * (1 - a) * a**g
    observed = np.bincount(values, minlength=len(g))
    assert fits(observed, expected)
    wrong = math.exp(-rate * 1.06)
    assert not fits(observed, runs * (1 - wrong) * wrong**g)


def test_geometric_beyond_its_bits_begins_anew():
    """With two bits the ladder ends at 4, which half of these draws pass."""
    base, runs = exponential(Fraction(1, 5)), 50_000
    values = Geometric(base, 2).draw(runs)
    a = math.exp(-0.2)
    g = np.arange(values.max() + 1)
    assert values.max() > 20
    assert fits(np.bincount(values), runs * (1 - a) * a**g)


def test_hits_are_independent_of_one_another_and_of_the_place():
    places, runs = 12, 30_000
    p = tail(Fraction(1, 2), 1)
    probability = p.bits(64) / 2**64
    hits = Hits(p, places)
    seen = np.zeros((runs, places), dtype=np.int64)
    for row in seen:
        row[hits.draw()] = 1
    number = seen.sum(axis=1)
    expected = runs * stats.binom.pmf(np.arange(places + 1), places, probability)
    assert fits(np.bincount(number, minlength=places + 1), expected)
    low = stats.binom.pmf(np.arange(places + 1), places, probability * 0.95)
    assert not fits(np.bincount(number, minlength=places + 1), runs * low)
    each = stats.binomtest(int(seen.sum()), runs * places, probability)
    assert each.pvalue > SIGNIFICANCE
    for place in range(places):
        assert stats.binomtest(int(seen[:, place].sum()), runs, probability).pvalue > SIGNIFICANCE
    pairs = np.bincount(seen[:, :-1].ravel() * 2 + seen[:, 1:].ravel(), minlength=4)
    q = 1 - probability
    assert fits(pairs, pairs.sum() * np.array([q * q, q * probability, probability * q, probability**2]))


def test_hits_in_a_domain_of_a_billion_cost_what_survives():
    places = 10**9 + 7
    p = tail(Fraction(4, 5), 14)
    found = Hits(p, places).draw()
    mean = places * p.bits(64) / 2**64
    assert stats.poisson.cdf(len(found), mean) > SIGNIFICANCE
    assert stats.poisson.sf(len(found), mean) > SIGNIFICANCE
    assert np.all(np.diff(found) > 0)
    assert found[0] >= 0
    assert found[-1] < places
    assert stats.kstest(found / places, "uniform").pvalue > SIGNIFICANCE


@pytest.mark.parametrize("places", [0, 1, 2, 3, MOST_PLACES - 1])
def test_hits_stay_within_the_places(places):
    rare = tail(Fraction(1), 60)
    for p in (tail(Fraction(1, 3), 1), rare) if places < 10 else (rare,):
        for _ in range(20):
            found = Hits(p, places).draw()
            assert np.all((found >= 0) & (found < places))
            assert len(np.unique(found)) == len(found)


def test_too_many_places_are_refused():
    with pytest.raises(ValueError, match="2\\^61"):
        Hits(tail(Fraction(1), 1), MOST_PLACES)
