"""Sampling with k: the least k that delta allows, by exact probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from medveil.methods.dp.sampling import Sampling
from medveil.privacy.binomial import binomial_tail


def excess(sampling, records):
    """max over S of P[n records, output in S] - e^epsilon P[n - 1 records, output in S], exactly by outcome."""
    share, factor = float(sampling.share), math.exp(sampling.epsilon)

    def law(n):
        drawn = stats.binom.pmf(np.arange(records + 1), n, share)
        drawn[0] = drawn[: sampling.k].sum()
        drawn[1 : sampling.k] = 0
        return drawn

    more, fewer = law(records), law(records - 1)
    return max(np.maximum(more - factor * fewer, 0).sum(), np.maximum(fewer - factor * more, 0).sum())


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.5, 1e-4), (2.0, 1e-5), (0.1, 1e-3)])
def test_every_pair_of_neighbours_keeps_epsilon_and_delta(epsilon, delta):
    sampling = Sampling.least(epsilon, delta)
    assert max(excess(sampling, records) for records in range(1, 6 * sampling.k)) <= delta
    assert float(sampling.share) <= 1 - math.exp(-epsilon)
    assert math.isclose(float(sampling.share), 1 - math.exp(-epsilon), rel_tol=1e-6)


def test_k_is_not_larger_than_its_bound_needs():
    sampling = Sampling.least(1.0, 1e-5)
    smaller = Sampling(sampling.epsilon, sampling.share, sampling.k - 1)
    assert sampling.keeps(1e-5)
    assert not smaller.keeps(1e-5)


def test_too_small_a_k_breaks_the_claim():
    sampling = Sampling.least(1.0, 1e-4)
    weak = Sampling(sampling.epsilon, sampling.share, 5)
    assert max(excess(weak, records) for records in range(1, 60)) > 1e-4


def test_a_smaller_share_needs_a_smaller_k():
    assert Sampling.least(1.0, 1e-6, Fraction(1, 4)).k < Sampling.least(1.0, 1e-6).k
    assert Sampling.least(1.0, 1e-6, Fraction(99, 100)).share == Sampling.least(1.0, 1e-6).share


def test_records_are_drawn_with_the_share_and_small_cells_vanish():
    sampling = Sampling(1.0, Fraction(1, 4), 3)
    found = sampling.sampled(np.full(20_000, 8))
    expected = stats.binom.pmf(np.arange(9), 8, 0.25)
    expected = np.concatenate([[expected[:3].sum()], [0, 0], expected[3:]])
    seen = np.bincount(found, minlength=9)
    assert seen[1] == seen[2] == 0
    there = expected > 0
    assert stats.chisquare(seen[there], 20_000 * expected[there]).pvalue > 1e-9
    assert sampling.sampled(np.array([0, 2, 10_000])).tolist()[:2] == [0, 0]


@pytest.mark.parametrize(
    ("events", "runs", "p"), [(0, 3, 0.2), (3, 3, 0.2), (5, 40, 0.1), (900, 1000, 0.85), (4, 3, 0.5)]
)
def test_binomial_tails(events, runs, p):
    assert binomial_tail(events, runs, p) == pytest.approx(stats.binom.sf(events - 1, runs, p), rel=1e-9)
