"""Strata and thresholds: functions of noisy numbers, near what is best by brute force; what follows from outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.methods.dp.budget import learning_shares, proved_parts
from medveil.methods.dp.outcome import Part, large_classes
from medveil.methods.dp.stars import paired, shrunk
from medveil.methods.dp.strata import CLASS_THRESHOLDS, FALSE_ROW, cut, expected_threshold
from medveil.privacy.integer_noise import GeometricNoise
from medveil.privacy.model import Spending

NOISE = GeometricNoise(1, 0.8)


@given(st.lists(st.floats(-200, 1e7), max_size=60), st.floats(0.5, 500))
def test_strata_divide_the_values_by_their_totals(totals, scale):
    noisy = np.array(totals)
    strata = cut(noisy, scale)
    assert sorted(np.concatenate([np.zeros(0, dtype=np.int64), *strata]).tolist()) == list(range(len(totals)))
    for lower, upper in itertools.pairwise(strata):
        assert noisy[lower].max() <= noisy[upper].min()
    for stratum in strata[1:]:
        assert noisy[stratum].max() <= 2 * noisy[stratum].min() * (1 + 1e-9)


def expected_loss(threshold, cells, records):
    a, scale = math.exp(-1 / NOISE.scale), NOISE.scale
    false = cells * a**threshold / (1 + a) * (threshold + scale)
    return records * math.log(threshold) / math.log(records) + math.sqrt(records) / FALSE_ROW * false


@pytest.mark.parametrize("cells", [1_000, 10**5, 10**9])
@pytest.mark.parametrize("records", [100, 5_000, 10**6])
def test_the_threshold_is_where_the_expected_loss_is_least(cells, records):
    found = expected_threshold(NOISE, cells, records)
    every = [expected_loss(threshold, cells, records) for threshold in range(1, 200)]
    beyond = range(math.ceil(2 * NOISE.scale), 200)
    best = min(beyond, key=lambda threshold: every[threshold - 1])
    assert found == 1 or abs(found - best) <= 1


def test_more_cells_need_a_higher_threshold_and_more_records_a_lower_one():
    assert expected_threshold(NOISE, 10**6, 10**4) < expected_threshold(NOISE, 10**9, 10**4)
    assert expected_threshold(NOISE, 10**6, 10**6) < expected_threshold(NOISE, 10**6, 10**3)
    assert expected_threshold(NOISE, 4, -50.0) >= 1


def test_classes_of_few_rows_become_stars_whichever_strata_they_are_of():
    values = np.array([0, 1], dtype=np.int32)

    def part(levels, keys, counts):
        return Part(levels, 3, values, np.array(keys), np.array(counts))

    least = CLASS_THRESHOLDS * 3
    first, second = part((0,), [0, 2, 3], [least - 4, 5, 4]), part((0,), [1], [4])
    other = part((1,), [0], [least - 1])
    kept = large_classes([first, other, second])
    assert [one.keys.tolist() for one in kept] == [[0], [], [1]], "class 0 has enough rows in two strata together"
    assert [one.levels for one in kept] == [(0,), (1,), (0,)]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30), st.floats(0, 1e4))
def test_shrinking_keeps_the_mean(differences, variance):
    given_ = np.array(differences)
    found = shrunk(given_, variance)
    assert abs(found.mean() - given_.mean()) <= 0.5
    assert np.ptp(found) <= np.ptp(given_) + 1


def test_paired_rows_have_the_values_of_both():
    first, second = np.array([3, 2]), np.array([1, 0, 4])
    rows = paired([first, second], (2, 3)).reshape(2, 3)
    assert rows.sum(axis=1).tolist() == first.tolist()
    assert rows.sum(axis=0).tolist() == second.tolist()
    drawn = {tuple(paired([first, second], (2, 3)).tolist()) for _ in range(50)}
    assert len(drawn) > 1


def test_the_share_of_the_totals_follows_from_declared_numbers():
    spending = Spending(1.0, 1e-6, 1)
    assert learning_shares(spending, None)["totals"] == 0.48
    shares = [learning_shares(spending, expected)["totals"] for expected in (20, 60, 120, 1_000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 0.75
    assert shares[-1] == 0.15
    spent = proved_parts(1.0, learning_shares(spending, 120))
    released = math.log(1 / 2e-6) / spent["totals"]
    assert 50 < released <= 61, "values of half of what is expected are released"
