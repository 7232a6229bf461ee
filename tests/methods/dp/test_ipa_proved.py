"""The proved mechanism: that it publishes what its proof speaks of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_proved import SHARES, Mechanism, parts, without_surplus
from medveil.methods.dp.ipa_score import UNIT
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.dp.trials import small_grid, table_on
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.integer_noise import GeometricNoise

SIGNIFICANCE = 1e-9


def probability(count, published, threshold, rate):
    """P[a cell of `count` records is published as `published` rows], 0 meaning that it is not published."""
    a = math.exp(-rate)

    def point(x):
        return (1 - a) / (1 + a) * a ** abs(x)

    if published:
        return point(published - count) if published >= threshold else 0.0
    return 1 - sum(point(x - count) for x in range(threshold, threshold + count + 400))


def pvalue(rows, count, threshold, rate):
    top = int(rows.max()) + 1
    expected = np.array([probability(count, x, threshold, rate) for x in range(top)]) * len(rows)
    observed = np.bincount(rows, minlength=top)
    assert observed[expected == 0].sum() == 0
    large = expected >= 5
    expected = np.append(expected[large], len(rows) - expected[large].sum())
    observed = np.append(observed[large], len(rows) - observed[large].sum())
    keep = expected > 1e-9
    return stats.chisquare(observed[keep], expected[keep]).pvalue


@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_cells_with_and_without_records_are_published_by_one_law(count):
    """Cells without records come from exact skips, those with records from OpenDP: the law is the same formula."""
    noise, threshold, cells = GeometricNoise(1, 0.6), 3, 120_000
    keys = np.arange(cells if count else 0)
    found, rows = NoisyCells(noise, cells, threshold).publish(keys, np.full(len(keys), count))
    seen = np.zeros(cells, dtype=np.int64)
    seen[found] = rows
    assert pvalue(seen, count, threshold, 0.6) > SIGNIFICANCE
    assert pvalue(seen, count, threshold, 0.6 * 1.08) < SIGNIFICANCE
    assert np.all(np.diff(found) > 0), "sorted, so that order does not tell which cells have records"


def test_hits_on_cells_that_have_records_are_dropped():
    noise = GeometricNoise(1, 0.5)
    keys = np.arange(0, 200, 2)
    empty, surplus = NoisyCells(noise, 200, 1).empty(keys)
    assert np.all(empty % 2 == 1)
    assert np.all(surplus >= 0)
    assert len(empty) > 5


@given(
    st.floats(1e-3, 50),
    st.lists(st.floats(0.01, 5), min_size=3, max_size=3).map(lambda s: dict(zip(SHARES, s, strict=True))),
)
def test_parts_never_add_up_to_more_than_epsilon(epsilon, shares):
    divided = parts(epsilon, shares)
    total = sum(Fraction(part) for part in divided.values())
    assert total <= Fraction(epsilon)
    assert math.isclose(float(total), epsilon, rel_tol=1e-12)


def mechanism(epsilon=1.0, values=3, **options):
    return Mechanism(small_grid(values), parts(epsilon, SHARES), **options)


def test_noise_is_scaled_to_what_a_person_can_change():
    one, three = mechanism(), mechanism(records=3)
    assert math.isclose(one.cell_noise.scale, 1 / 0.8)
    assert math.isclose(three.cell_noise.scale, 3 / 0.8)
    assert math.isclose(three.total_noise.scale, 3 / 0.1)
    assert math.isclose(one.selection.scale, 2 * UNIT / 0.1)
    assert math.isclose(three.selection.scale, 6 * UNIT / 0.1)
    assert three.threshold(three.grid, (0,)) > one.threshold(one.grid, (0,))


def test_stars_are_what_the_totals_have_more_than_the_cells():
    made = mechanism(epsilon=200.0)
    table = table_on(made.grid, [(0, 0, 500), (1, 0, 40), (1, 1, 70)])
    outcome = made.draw(made.prepare(table))
    assert outcome.levels == (0,)
    assert outcome.keys.tolist() == [0, 3, 4]
    assert outcome.counts.tolist() == [500, 40, 70]
    assert outcome.stars.tolist() == [0, 0, 0]
    strict = mechanism(epsilon=200.0, false_cells=1e-300)
    assert 4 < strict.threshold(strict.grid, (0,)) < 40
    few = table_on(strict.grid, [(0, 0, 500), (1, 0, 3), (1, 1, 2), (0, 1, 4)])
    hidden = strict.draw(strict.prepare(few))
    rows = int(hidden.counts.sum() + hidden.stars.sum())
    assert rows == 509
    assert hidden.stars.sum() in {5, 9}


@given(st.lists(st.integers(-60, 60), max_size=40))
def test_rows_of_stars_have_no_surplus(given):
    differences = np.array(given, dtype=np.int64)
    rows = without_surplus(differences)
    assert rows.sum() == max(differences.sum(), 0)
    assert np.all(rows >= 0)
    assert np.all(rows <= np.maximum(differences, 0))
    # The same amount, but for rounding, is taken from all that are left.
    taken = (differences - rows)[rows > 0]
    assert len(taken) == 0 or taken.max() - taken.min() <= 1
    if np.all(differences >= 0):
        assert rows.tolist() == differences.tolist()


def test_an_empty_table_is_published_as_such():
    made = mechanism()
    table = table_on(made.grid, [])
    prepared = made.prepare(table)
    assert np.all(prepared.losses == 0)
    sizes = [int(made.draw(prepared).counts.sum()) for _ in range(50)]
    assert max(sizes) < 200
    assert min(sizes) == 0


def test_undeclared_values_come_out_only_where_many_have_them():
    made = mechanism(values=4, delta=1e-6)
    assert made.value_threshold > 100
    table = table_on(made.grid, [(0, 0, 5_000), (1, 1, 3), (0, 2, 1), (1, 3, 2_000)])
    for _ in range(20):
        outcome = made.draw(made.prepare(table))
        assert outcome.values.tolist() == [0, 3]
        assert len(outcome.stars) == 2
        assert np.all(outcome.keys < 2 * 2)
    grid, truth = made.released(table, outcome)
    assert grid.values == 2
    assert truth.counts.sum() == 7_000


def test_nothing_is_released_of_undeclared_values_that_nobody_shares():
    made = mechanism(values=4, delta=1e-6)
    outcome = made.draw(made.prepare(table_on(made.grid, [(0, value, 1) for value in range(4)])))
    assert len(outcome.values) == len(outcome.keys) == len(outcome.stars) == 0


def test_nodes_with_more_cells_than_can_be_walked_are_no_candidates():
    made = mechanism()
    large = Grid(made.grid.space, MOST_PLACES // 2)
    assert made.candidates(large).tolist() == [1]
    assert made.candidates(made.grid).tolist() == [0, 1]
