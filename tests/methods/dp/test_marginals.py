"""Marginals: counted as they should be, and what they say of groups, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy.hierarchy import build
from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_score import even_penalties
from medveil.methods.dp.marginals import counted, dispersions, group_penalties, leaf_weights, marginal_levels

DAYS = build([str(n) for n in range(8)], [["a"] * 3 + ["b"] * 5, ["a"] * 3 + ["b"] * 5], None, 8.0, "days")
SEX = build(["f", "m"], [], None, 2.0, "sex")
WEIGHTS = st.lists(st.integers(0, 1000), min_size=8, max_size=8).map(lambda w: np.array(w, dtype=np.float64))
LINE = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])


def apart(leaves, weights, numbers):
    """E[d(x, y)] by listing all pairs."""
    total = weights[leaves].sum()
    shares = weights[leaves] / total if total > 0 else np.full(len(leaves), 1 / len(leaves))
    pairs = [
        p * q * (abs(numbers[x] - numbers[y]) if numbers is not None else float(x != y))
        for x, p in zip(leaves, shares, strict=True)
        for y, q in zip(leaves, shares, strict=True)
    ]
    return float(np.sum(pairs))


@given(WEIGHTS, st.booleans())
def test_dispersions_are_those_of_all_pairs(weights, ordered):
    numbers = LINE if ordered else None
    found = dispersions(DAYS, weights, numbers)
    whole = apart(np.arange(8), weights, numbers)
    for level, groups in zip(DAYS.levels, found, strict=True):
        for group, value in enumerate(groups.tolist()):
            leaves = np.flatnonzero(level.groups == group)
            if whole > 0:
                assert value == pytest.approx(min(apart(leaves, weights, numbers) / whole, 1.0), abs=1e-9)
            else:
                assert value == float(len(leaves) > 1)


@given(WEIGHTS)
def test_penalties_are_shares_and_never_more_than_even_ones(weights):
    even = even_penalties(DAYS)
    for first, second in zip(group_penalties(DAYS, even, weights, LINE), even, strict=True):
        assert np.all((first >= 0) & (first <= second))
    assert group_penalties(DAYS, even, weights, LINE)[0].max() == 0


def test_each_record_is_counted_once_in_each_dimension():
    grid = Grid(Space.of([DAYS, SEX], lowest=[1, 0]), 2)
    codes = np.array([[0, 1, 7, 7], [0, 0, 1, 0]], dtype=np.int32)
    table = grid.base(codes, np.array([0, 1, 1, 0], dtype=np.int32), np.array([5, 1, 2, 3]))
    assert marginal_levels(grid) == (1, 0)
    assert [one.tolist() for one in counted(grid, table)] == [[6, 5], [9, 2]]
    assert leaf_weights(DAYS, 1, np.array([6, 5])).tolist() == [2.0] * 3 + [1.0] * 5


def test_a_dimension_of_very_many_leaves_is_counted_at_a_higher_level():
    many = build([str(n) for n in range(150_000)], [[str(n // 1000) for n in range(150_000)]], None, 150_000.0, "many")
    assert marginal_levels(Grid(Space.of([many, SEX]), 2)) == (1, 0)
