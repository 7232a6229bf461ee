"""Noise and selection: OpenDP's own account of what is spent, the distribution, and thresholds."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from medveil.privacy.integer_noise import GeometricNoise, Selection

SIGNIFICANCE = 1e-9


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 0.8), (3, 0.1), (7, 1 / 3), (1, 12.5)])
def test_scales_spend_no_more_than_epsilon(sensitivity, epsilon):
    noise = GeometricNoise(sensitivity, epsilon)
    assert noise.rate * sensitivity <= Fraction(epsilon)
    assert math.isclose(noise.scale, sensitivity / epsilon, rel_tol=1e-12)
    choice = Selection(sensitivity, epsilon)
    assert 2 * sensitivity / Fraction(choice.scale) <= Fraction(epsilon)
    assert math.isclose(choice.scale, 2 * sensitivity / epsilon, rel_tol=1e-12)


def two_sided(rate, values):
    a = math.exp(-rate)
    return (1 - a) / (1 + a) * a ** np.abs(values)


def test_noise_is_two_sided_geometric_and_not_a_little_else():
    runs = 80_000
    noise = GeometricNoise(1, 0.7)
    values = noise.add(np.full(runs, 5)) - 5
    support = np.arange(-40, 41)
    observed = np.array([(values == x).sum() for x in support])

    def pvalue(rate):
        expected = runs * two_sided(rate, support)
        large = expected >= 5
        expected = np.append(expected[large], runs - expected[large].sum())
        seen = np.append(observed[large], runs - observed[large].sum())
        return stats.chisquare(seen, expected).pvalue

    assert pvalue(0.7) > SIGNIFICANCE
    assert pvalue(0.7 * 1.06) < SIGNIFICANCE
    assert pvalue(0.7 / 1.06) < SIGNIFICANCE


def test_every_count_has_noise_of_its_own():
    noise = GeometricNoise(1, 0.5)
    first, second = noise.add(np.zeros((20_000), dtype=np.int64)).reshape(2, -1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.07
    assert len(noise.add(np.zeros(0, dtype=np.int64))) == 0


@pytest.mark.parametrize(("places", "expected"), [(1, 1.0), (4, 1.0), (10**6, 1.0), (2 * 10**9, 100.0), (10**18, 0.01)])
def test_the_threshold_is_the_least_that_fits(places, expected):
    noise = GeometricNoise(1, 0.8)
    a = math.exp(-0.8)
    t = noise.threshold(places, expected)
    assert places * a**t / (1 + a) <= expected
    assert t == 1 or places * a ** (t - 1) / (1 + a) > expected


@pytest.mark.parametrize("records", [1, 2, 5])
def test_the_stable_threshold_bounds_what_a_person_alone_can_show(records):
    noise = GeometricNoise(records, 0.5)
    a = math.exp(-0.5 / records)
    t = noise.stable_threshold(records, 1e-5)
    assert records * a ** (t - records) / (1 + a) <= 1e-5
    # One record in each of several values, or all in one: whatever a person brings, it seldom passes.
    for each in range(1, records + 1):
        assert (records // each) * a ** (t - each) / (1 + a) <= 1e-5
    assert records * a ** (t - 1 - records) / (1 + a) > 1e-5


def test_selection_is_permute_and_flip():
    """For two candidates the worse one is chosen with probability exp(-gap / scale) / 2."""
    choice, runs = Selection(1, 1.0), 8_000
    for gap in (0, 1, 3):
        worse = sum(choice.index(np.array([10, 10 - gap])) for _ in range(runs))
        assert stats.binomtest(worse, runs, math.exp(-gap / 2) / 2).pvalue > SIGNIFICANCE


def test_without_opendp_the_error_says_what_to_install():
    """In a fresh process, in which importing OpenDP fails."""
    code = (
        "import sys; sys.modules['opendp'] = None; sys.modules['opendp.prelude'] = None\n"
        "from medveil.privacy.integer_noise import GeometricNoise\n"
        "from medveil.errors import InputError\n"
        "try:\n    GeometricNoise(1, 1.0)\nexcept InputError as error:\n    print(error.remedy)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "medveil[dp]" in said.stdout
