"""The grid and its losses: one walk against brute force, and the sensitivity that the proof rests on."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy.hierarchy import build
from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid
from medveil.methods.dp.ipa_score import UNIT, Scoring, even_penalties, node_losses, penalties, unit_penalties

AGE = build([str(n) for n in range(6)], [["[0-2]"] * 3 + ["[3-5]"] * 3], None, 6.0, "age")
SEX = build(["f", "m"], [], None, 2.0, "sex")
TOWN = build(list("abcd"), [["ab", "ab", "cd", "cd"]], None, 4.0, "town")
HIERARCHIES = (AGE, SEX, TOWN)
GRID = Grid(Space.of(HIERARCHIES), 3)
THRESHOLD, NOISE = 4, 2


def table(rows):
    """A table from rows of (age, sex, town, value)."""
    array = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return GRID.base(array[:, :3].T.astype(np.int32), array[:, 3].astype(np.int32), np.ones(len(array), dtype=np.int64))


def brute_force(rows, levels, weights=(1, 1, 1)):
    """The loss of a node by a dictionary and exact fractions, rounded as the units are."""
    cells = {}
    for row in rows:
        groups = tuple(
            int(h.levels[level].groups[leaf]) for h, level, leaf in zip(HIERARCHIES, levels, row, strict=False)
        )
        cells[groups, row[3]] = cells.get((groups, row[3]), 0) + 1
    total = 0
    for (groups, _), count in cells.items():
        general = sum(
            int(Fraction(weight, sum(weights)) * Fraction(float(penalties(h, level)[group])) * UNIT)
            for h, level, group, weight in zip(HIERARCHIES, levels, groups, weights, strict=True)
        )
        published = max(count * general + NOISE * UNIT, (2 * THRESHOLD - count) * UNIT)
        total += min(count * UNIT, published)
    return total


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3), st.integers(0, 2)), max_size=60)
FEW = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.just(0), st.integers(0, 1)), max_size=60)


def losses(rows, weights=(1, 1, 1)):
    return node_losses(GRID, table(rows), [scoring(weights)])[0][:, 0]


def scoring(weights=(1, 1, 1), stratum_of=(0, 0, 0)):
    strata = max(stratum_of) + 1
    thresholds = np.full(strata, THRESHOLD, dtype=np.int64)
    units = unit_penalties([even_penalties(h) for h in HIERARCHIES], weights)
    return Scoring(np.array(stratum_of, dtype=np.int32), strata, units, lambda _: thresholds, NOISE)


@given(ROWS, st.sampled_from([(1, 1, 1), (3, 1, 2)]))
def test_one_walk_gives_what_counting_each_node_gives(rows, weights):
    found = losses(rows, weights)
    assert len(found) == GRID.space.size == 3 * 2 * 3
    for number, levels in enumerate(itertools.product(range(3), range(2), range(3))):
        assert GRID.space.node(number) == levels
        assert found[number] == brute_force(rows, levels, weights)


@given(st.one_of(ROWS, FEW), st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3), st.integers(0, 2)))
def test_a_record_changes_every_loss_by_at_most_one_unit(rows, record):
    assert np.max(np.abs(losses([*rows, record]) - losses(rows))) <= UNIT


@given(ROWS)
def test_strata_divide_the_loss_of_a_node(rows):
    whole = losses(rows)
    both = node_losses(GRID, table(rows), [scoring(stratum_of=(0, 1, 0)), scoring(stratum_of=(-1, 0, -1))])
    assert both[0].sum(axis=1).tolist() == whole.tolist()
    assert both[1][:, 0].tolist() == both[0][:, 1].tolist(), "values that were not released take no part"


@given(ROWS, st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3), st.integers(0, 2)))
def test_a_record_changes_the_losses_of_its_own_stratum_alone(rows, record):
    divided = scoring(stratum_of=(0, 1, 2))
    before, after = (node_losses(GRID, table(given), [divided])[0] for given in (rows, [*rows, record]))
    change = np.abs(after - before)
    assert change[:, record[3]].max() <= UNIT
    assert np.delete(change, record[3], axis=1).max() == 0


@given(st.integers(0, 200), st.integers(0, UNIT), st.integers(1, 40), st.integers(0, 40))
def test_the_loss_of_a_cell_is_lipschitz_in_its_count(count, general, threshold, noise):
    def h(c):
        return min(c * UNIT, max(c * general + noise * UNIT, (2 * threshold - c) * UNIT))

    assert abs(h(count + 1) - h(count)) <= UNIT
    assert h(0) == 0
    assert h(count) >= 0
    if count < threshold:
        assert h(count) == count * UNIT


def test_both_slopes_are_reached():
    """The sensitivity is not only bounded but tight: one node gets better by a unit while another gets worse by one."""
    rows = [(0, 0, 0, 0)] * THRESHOLD
    change = losses([*rows, (0, 0, 0, 0)]) - losses(rows)
    assert change.min() == -UNIT
    assert change.max() == UNIT or change[-1] == UNIT - 1


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3))
def test_penalties_of_a_record_add_up_to_at_most_a_unit(weights):
    units = unit_penalties([even_penalties(h) for h in HIERARCHIES], weights)
    tops = [lookup[-1].max() for lookup in units]
    assert sum(tops) <= UNIT
    assert sum(tops) >= UNIT - 3
    assert all(lookup[0].max() == 0 for lookup in units)


def test_penalties_are_those_of_the_paper():
    assert penalties(AGE, 0).tolist() == [0.0] * 6
    assert penalties(AGE, 1).tolist() == [0.5, 0.5]
    assert penalties(AGE, 2).tolist() == [1.0]


@given(ROWS)
def test_keys_number_the_cells_of_the_domain(rows):
    for here in GRID.every_table(table(rows)):
        keys = GRID.keys(here)
        assert len(np.unique(keys)) == len(keys)
        assert np.all((keys >= 0) & (keys < GRID.cells(here.levels)))
        codes, values = GRID.decoded(here.levels, keys)
        assert codes.tolist() == here.codes.tolist()
        assert values.tolist() == here.values.tolist()
        assert here.counts.sum() == len(rows)
        assert np.all(here.counts > 0)


def test_a_domain_too_large_for_numbers_still_merges_exactly():
    """Twelve dimensions of 10,000 leaves have 10^48 cells; only the nodes that are small enough are numbered."""
    wide = build([str(n) for n in range(10_000)], [], None, 10_000.0, "wide")
    grid = Grid(Space.of([wide] * 12, highest=[1] * 12), 5)
    chance = np.random.default_rng(1)
    codes = chance.integers(0, 10_000, (12, 50)).astype(np.int32)
    twice = np.concatenate([codes, codes], axis=1)
    found = grid.base(twice, np.zeros(100, dtype=np.int32), np.ones(100, dtype=np.int64))
    assert found.counts.tolist() == [2] * 50
    assert grid.at(found, (1,) * 12).counts.tolist() == [100]


@pytest.mark.parametrize("levels", [(0, 0, 0), (1, 0, 1), (2, 1, 2), (0, 1, 2)])
def test_a_node_reached_directly_or_by_the_walk_is_the_same(levels):
    chance = np.random.default_rng(2)
    rows = np.stack([chance.integers(0, n, 300) for n in (6, 2, 4, 3)], axis=1)
    base = table(rows)
    (walked,) = [here for here in GRID.every_table(base) if here.levels == levels]
    direct = GRID.at(base, levels)

    def content(here):
        return sorted(zip(GRID.keys(here).tolist(), here.counts.tolist(), strict=True))

    assert content(walked) == content(direct)
