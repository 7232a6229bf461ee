"""The proved mechanism: that it publishes what its proof speaks of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medveil.lattice.space import Space
from medveil.methods.dp.budget import SHARES, parts, proved_parts
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.ipa_score import UNIT
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.dp.stars import without_surplus
from medveil.methods.dp.trials import small_grid, table_on, two_leaves
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
    for divided in (parts(epsilon, shares), proved_parts(epsilon, shares)):
        total = sum(Fraction(part) for part in divided.values())
        assert total <= Fraction(epsilon)
        assert math.isclose(float(total), epsilon, rel_tol=1e-12)


def mechanism(epsilon=1.0, values=3, **options):
    return Mechanism(small_grid(values), proved_parts(epsilon, SHARES), **options)


def test_noise_is_scaled_to_what_a_person_can_change():
    one, three = mechanism(), mechanism(records=3)
    assert math.isclose(one.cell_noise.scale, 1 / 0.81)
    assert math.isclose(three.cell_noise.scale, 3 / 0.81)
    assert math.isclose(three.total_noise.scale, 3 / 0.1)
    assert math.isclose(three.marginal_noise.scale, 3 / 0.05)
    assert math.isclose(one.selection.scale, 2 * UNIT / 0.04)
    assert math.isclose(three.selection.scale, 6 * UNIT / 0.04)
    both = Mechanism(small_grid(6), proved_parts(1.0, SHARES), records=3, informative=(2, 3))
    assert math.isclose(both.total_noise.scale, 2 * 3 / 0.1), "each of two attributes has half of the totals' part"
    wide = Mechanism(Grid(Space.of([two_leaves()] * 4), 1), proved_parts(1.0, SHARES))
    assert math.isclose(wide.marginal_noise.scale, 4 / 0.05), "a record is counted in each of four dimensions"


def rows_by_cell(outcome):
    """Published rows by (level, class, value)."""
    return {
        (part.levels[0], int(group), int(value)): int(rows)
        for part in outcome.parts
        for group, value, rows in zip(part.classes, part.informative, part.counts, strict=True)
    }


def test_stars_are_what_the_totals_have_more_than_the_cells():
    made = mechanism(epsilon=400.0)
    table = table_on(made.grid, [(0, 0, 500), (1, 0, 40), (1, 1, 70)])
    outcome = made.draw(table)
    assert rows_by_cell(outcome) == {(0, 0, 0): 500, (0, 1, 0): 40, (0, 1, 1): 70}
    assert outcome.stars.tolist() == [0, 0, 0]
    assert [counts.tolist() for counts in outcome.marginals] == [[500, 110]]
    strict = mechanism(epsilon=400.0, false_cells=1e-300)
    assert 1 < strict.threshold(6, 509.0) < 40
    hidden = strict.draw(table_on(strict.grid, [(0, 0, 500), (1, 1, 1)]))
    assert rows_by_cell(hidden) == {(0, 0, 0): 500}
    assert hidden.stars.tolist() == [0, 1, 0]


def test_common_and_rare_values_have_nodes_of_their_own():
    made = mechanism(epsilon=1.0, values=60, false_cells=1.0)
    common = [(leaf, 0, 2_000) for leaf in (0, 1)]
    rare = [(leaf, value, 6) for value in range(1, 60) for leaf in (0, 1)]
    plans = {}
    for _ in range(10):
        outcome = made.draw(table_on(made.grid, [*common, *rare]))
        (of_common,) = (part for part in outcome.parts if 0 in part.values)
        assert of_common.levels == (0,)
        assert of_common.values.tolist() == [0]
        assert sorted(np.concatenate([part.values for part in outcome.parts]).tolist()) == list(range(60))
        plans[tuple(part.levels for part in outcome.parts)] = True
    assert any(len(set(levels)) > 1 for levels in plans)


def test_several_outcomes_in_one_walk_are_independent():
    made = mechanism(values=2)
    table = table_on(made.grid, [(0, 0, 300), (1, 1, 200)])
    totals = {int(outcome.marginals[0][0]) for outcome in made.draws(table, 12)}
    assert len(totals) > 4


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
    sizes = [sum(int(part.counts.sum()) for part in made.draw(table).parts) for _ in range(50)]
    assert max(sizes) < 200
    assert min(sizes) == 0
    for outcome in made.draws(table, 5):
        assert sorted(np.concatenate([part.values for part in outcome.parts]).tolist()) == [0, 1, 2]


def test_undeclared_values_come_out_only_where_many_have_them():
    made = mechanism(values=4, delta=1e-6)
    assert made.value_threshold > 100
    table = table_on(made.grid, [(0, 0, 5_000), (1, 1, 3), (0, 2, 1), (1, 3, 2_000)])
    for outcome in made.draws(table, 20):
        assert outcome.values.tolist() == [0, 3]
        assert len(outcome.stars) == 2
        assert set(np.concatenate([part.informative for part in outcome.parts]).tolist()) <= {0, 3}


def test_nothing_is_released_of_undeclared_values_that_nobody_shares():
    made = mechanism(values=4, delta=1e-6)
    outcome = made.draw(table_on(made.grid, [(0, value, 1) for value in range(4)]))
    assert len(outcome.values) == len(outcome.parts) == len(outcome.stars) == 0


def test_two_informative_attributes_keep_their_pairs():
    made = Mechanism(small_grid(6), proved_parts(100.0, SHARES), informative=(2, 3))
    table = table_on(made.grid, [(0, 0, 400), (1, 5, 300), (0, 4, 200)])
    outcome = made.draw(table)
    assert {(group, value): rows for (_, group, value), rows in rows_by_cell(outcome).items()} == {
        (0, 0): 400,
        (1, 5): 300,
        (0, 4): 200,
    }
    assert [total.tolist() for total in made.totals(table)] == [[400, 500], [400, 200, 300]]


def test_nodes_with_more_cells_than_can_be_walked_are_no_candidates():
    made = mechanism()
    assert made.candidates(MOST_PLACES // 2).tolist() == [1]
    assert made.candidates(3).tolist() == [0, 1]
