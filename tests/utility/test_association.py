"""Labels that are spread evenly over what they cover, against every value written out, and against draws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.evaluation.runs import Runs
from medveil.utility.association import Categories, Numbers, association

LEAVES = 5
SETS = [set(chosen) for size in (1, 2, 3, 5) for chosen in itertools.combinations(range(LEAVES), size)]
ENDS = st.integers(-6, 12)


def categories(labels):
    """Each item has a set of leaves for a label."""
    runs = Runs.of([[(leaf, leaf + 1) for leaf in label] for label in SETS])
    return Categories(np.array([SETS.index(label) for label in labels]), runs, LEAVES)


def numbers(labels):
    """Each item has a range of whole numbers for a label, given by its first and last one."""
    runs = Runs.of([[(low, high + 1)] for low, high in labels])
    mean, variance = runs.moments(whole=True)
    return Numbers(np.arange(len(labels)), np.ones(len(labels)), mean, variance)


ranges = st.tuples(ENDS, ENDS).map(lambda pair: (min(pair), max(pair)))
items = st.lists(
    st.tuples(st.sampled_from(SETS), st.sampled_from(SETS), ranges, ranges, st.integers(1, 5)), min_size=2, max_size=12
)


def spelled_out(first, second, weights):
    """Every pair of values that an item may have, with its share of the item's weight."""
    return zip(
        *(
            (a, b, weight / len(one) / len(other))
            for one, other, weight in zip(first, second, weights, strict=True)
            for a, b in itertools.product(one, other)
        ),
        strict=True,
    )


def whole(labels):
    return [range(low, high + 1) for low, high in labels]


@given(items)
def test_numbers_are_as_if_every_value_were_written_out(found):
    _, _, first, second, weights = zip(*found, strict=True)
    a, b, shares = map(np.array, spelled_out(whole(first), whole(second), weights))
    da, db = a - np.average(a, weights=shares), b - np.average(b, weights=shares)
    spread = (shares @ da**2) * (shares @ db**2)
    told = association(numbers(first), numbers(second), np.array(weights, dtype=float))
    if spread < 1e-9:
        assert told is None or abs(told) <= 1 + 1e-9
    else:
        assert told == pytest.approx((shares @ (da * db)) / spread**0.5, abs=1e-9)


@given(items)
def test_a_number_and_a_category_are_as_if_every_value_were_written_out(found):
    first, _, second, _, weights = zip(*found, strict=True)
    a, b, shares = map(np.array, spelled_out(first, whole(second), weights))
    centred = b - np.average(b, weights=shares)
    total = shares @ centred**2
    size, sums = np.bincount(a, shares), np.bincount(a, shares * centred)
    told = association(categories(first), numbers(second), np.array(weights, dtype=float))
    if total < 1e-9 or np.count_nonzero(size) < 2:
        assert told is None or total < 1e-9
    else:
        between = (sums[size > 0] ** 2 / size[size > 0]).sum()
        assert told == pytest.approx((between / total) ** 0.5, abs=1e-6)


@given(items)
def test_two_categories_are_as_if_every_value_were_written_out(found):
    first, second, _, _, weights = zip(*found, strict=True)
    a, b, shares = map(np.array, spelled_out(first, second, weights))
    table = np.bincount(a * LEAVES + b, shares, minlength=LEAVES**2).reshape(LEAVES, LEAVES)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    told = association(categories(first), categories(second), np.array(weights, dtype=float))
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2:
        assert told is None
        return
    expected = np.outer(table.sum(1), table.sum(0)) / n
    phi = max(((table - expected) ** 2 / expected).sum() / n - (r - 1) * (c - 1) / (n - 1), 0)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    if least > 1e-9:
        assert told == pytest.approx(min((phi / least) ** 0.5, 1.0), abs=1e-6)


@pytest.mark.parametrize("whole", [True, False])
def test_moments_are_those_of_many_draws(whole):
    """Ranges, points, several runs, ends between whole numbers, and far from zero."""
    runs = Runs.of(
        [
            [(0, 5)],
            [(3.5, 3.5)],
            [(-2, 1), (4, 9)],
            [(0.25, 2.75)],
            [(-3.5, 7.25)],
            [],
            [(1e9, 1e9 + 10)],
            [(7, 7), (9, 9)],
        ]
    )
    mean, variance = runs.moments(whole=whole)
    largest = 1e9 + 10
    assert np.isnan(mean).tolist() == [False] * 5 + [True] + [False] * 2
    draws = 200_000
    for label in (0, 1, 2, 3, 4, 6, 7):
        drawn = runs.draw(np.full(draws, label), np.random.default_rng(7))
        if whole and runs.totals[label] > 0:
            drawn = np.floor(drawn)
        deviation = (variance[label] ** 0.5) * largest
        assert mean[label] * largest == pytest.approx(drawn.mean(), abs=5 * deviation / draws**0.5 + 1e-6)
        assert deviation == pytest.approx(drawn.std(), rel=0.02, abs=1e-6)


def test_labels_that_cover_nothing_take_no_part():
    runs = Runs.of([[(0, 1)], [(1, 2)], []])
    with_nobody = Categories(np.array([0, 1, 2, 0]), runs, 2)
    without = Categories(np.array([0, 1, 0]), runs, 2)
    far = numbers([(1, 1), (4, 4), (1000, 1000), (2, 2)])
    near = numbers([(1, 1), (4, 4), (2, 2)])
    assert association(with_nobody, far, np.ones(4)) == pytest.approx(association(without, near, np.ones(3)))
    assert association(Categories(np.array([2, 2]), runs, 2), numbers([(1, 1), (2, 2)]), np.ones(2)) is None
