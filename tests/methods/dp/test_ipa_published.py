"""The published form follows the paper, and is not differentially private."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from medveil.loss.earth_movers import earth_movers_distance
from medveil.loss.information_loss import counterfeit_rate, information_loss
from medveil.methods.dp.budget import parts
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_published import PUBLISHED_SHARES, ClassTable, Draws, perturb, publish
from medveil.methods.dp.trials import small_grid, table_on

EPSILON = parts(1.0, PUBLISHED_SHARES)


def classes_of(grid: Grid, cells) -> ClassTable:
    return ClassTable.of(grid, table_on(grid, cells))


def test_values_are_drawn_with_the_paper_s_probabilities():
    """Equation 4, against its direct evaluation: a class of 9 with three of ten values."""
    grid, epsilon = small_grid(10), {"value": 8.0}
    classes = classes_of(grid, [(0, 1, 5), (0, 4, 3), (0, 7, 1), (1, 2, 2)])
    known = np.arange(10, dtype=np.int32)
    score = np.full(10, 1 / (10 * 7))
    score[[1, 4, 7]] = np.array([5, 3, 1]) / 10
    expected = np.exp(epsilon["value"] / 2 * score)
    expected /= expected.sum()
    drawn = Draws(np.random.default_rng(3), epsilon).values(classes, np.zeros(50_000, dtype=np.int64), known)
    assert stats.chisquare(np.bincount(drawn, minlength=10), 50_000 * expected).pvalue > 1e-6
    second = Draws(np.random.default_rng(3), epsilon).values(classes, np.ones(50_000, dtype=np.int64), known)
    alone = np.exp(4.0 * np.where(np.arange(10) == 2, 2 / 3, 1 / (3 * 9)))
    assert stats.chisquare(np.bincount(second, minlength=10), 50_000 * alone / alone.sum()).pvalue > 1e-6


def test_values_are_drawn_where_a_class_has_all_of_them():
    grid = small_grid(2)
    classes = classes_of(grid, [(0, 0, 3), (0, 1, 3)])
    drawn = Draws(np.random.default_rng(1), EPSILON).values(
        classes, np.zeros(1000, dtype=np.int64), np.arange(2, dtype=np.int32)
    )
    assert 400 < drawn.sum() < 600


def test_noise_has_the_paper_s_scales():
    draws = Draws(np.random.default_rng(2), EPSILON)
    assert stats.kstest(draws.thresholds(2, 20_000), "laplace", args=(2, 1 / 0.1)).pvalue > 1e-6
    assert stats.kstest(draws.thresholds(5, 20_000), "laplace", args=(5, 4 / 0.1)).pvalue > 1e-6
    extra = draws.insertions(50_000)
    assert extra.min() == 0
    # Rounded to the nearest record: more than x - 1/2.
    for x in (1, 3, 8):
        assert stats.binomtest(int((extra >= x).sum()), 50_000, np.exp(-0.3 * (x - 0.5)) / 2).pvalue > 1e-6


def test_real_records_are_never_removed_from_kept_classes():
    grid = small_grid(20)
    chance = np.random.default_rng(8)
    cells = [(leaf, value, int(chance.integers(1, 9))) for leaf in (0, 1) for value in range(0, 20, 3)]
    table = table_on(grid, cells)
    for _ in range(30):
        made = publish(grid, table, EPSILON, 2, chance)
        there = dict(zip(made.keys.tolist(), made.counts.tolist(), strict=True))
        truth = grid.at(table, made.levels)
        for key, value, count in zip(grid.keys(truth), truth.values, truth.counts, strict=True):
            assert there.get(int(key), 0) >= count or made.stars[value] >= count
        assert len(made.losses) == 2
        assert all(0 <= part <= 1 for loss in made.losses for part in (loss.ncp, loss.emd, loss.rate))


def test_nodes_of_less_loss_are_chosen_more_often():
    """Equation 12 with much epsilon is a choice of the best."""
    grid = small_grid(3)
    table = table_on(grid, [(0, 0, 4000), (1, 1, 4000)])
    epsilon = {**EPSILON, "node": 500.0}
    assert {publish(grid, table, epsilon, 2, np.random.default_rng(n)).levels for n in range(10)} == {(0,)}


def test_a_value_that_one_person_alone_has_tells_of_that_person():
    """The measurement of docs/methods/ipa.md: one class of 40 against 39, 100 values, epsilon 1."""
    grid = small_grid(100)
    common = [(0, value, 1) for value in range(39)]
    known = np.arange(100, dtype=np.int32)
    draws = Draws(np.random.default_rng(9), EPSILON)

    def appears(cells):
        classes = classes_of(grid, cells)
        hits = 0
        for _ in range(1000):
            made = perturb((0,), classes, 2, known, draws)
            stays = made.kept[classes.owner] & (classes.values == 99)
            hits += bool(stays.any() or (made.values == 99).any())
        return hits / 1000

    assert appears([*common, (0, 99, 1)]) > 0.97
    assert appears(common) < 0.05


def test_losses():
    assert earth_movers_distance(np.array([1.0, 1.0]), np.array([2.0, 2.0])) == 0
    assert earth_movers_distance(np.array([4.0, 0.0]), np.array([0.0, 1.0])) == 1
    assert earth_movers_distance(np.array([3.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(0.25)
    assert earth_movers_distance(np.array([3.0]), np.array([0.0])) == 1
    assert earth_movers_distance(np.zeros(1), np.zeros(1)) == 0
    assert counterfeit_rate(np.array([4, 0, 2]), np.array([1, 0, 2])) == pytest.approx((0.25 + 1) / 2)
    assert counterfeit_rate(np.array([0]), np.array([0])) == 0
    nothing = information_loss(
        penalty=np.zeros(1),
        rows=np.zeros(1, dtype=np.int64),
        counterfeit=np.zeros(1, dtype=np.int64),
        stars=0,
        original=np.array([5.0]),
        published=np.array([0.0]),
    )
    assert (nothing.ncp, nothing.emd, nothing.rate) == (1.0, 1.0, 0.0)
