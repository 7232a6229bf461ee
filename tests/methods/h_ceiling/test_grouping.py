"""Groups of thin classes: k people in each, near ones together, at a price near the least."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy.hierarchy import build
from medveil.methods.h_ceiling.grouping import TOO_SMALL, _cut, group_classes
from medveil.methods.h_ceiling.objective import fewest
from medveil.methods.h_ceiling.partition import at_node
from medveil.methods.h_ceiling.people import PopulatedPlaces

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=40)


def partition_of(sizes, sides=2):
    """Classes of so many people in two columns: a number, and one of some sides."""
    values = tuple(f"{i:04d}" for i in range(len(sizes)))
    side = tuple(f"s{i}" for i in range(sides))
    numbers = build(values, [["*"] * len(values)], None, float(len(values)), "number")
    flat = build(side, [["*"] * sides], None, float(sides), "side")
    codes = np.array([np.arange(len(sizes)), np.arange(len(sizes)) % sides], dtype=np.int32)
    return at_node(PopulatedPlaces(("number", "side"), (numbers, flat), codes, np.array(sizes, dtype=np.int64)), (0, 0))


@given(SIZES, st.integers(2, 7))
def test_every_group_has_k_people_and_every_large_class_is_its_own(sizes, k):
    partition = partition_of(sizes)
    found = group_classes(partition, k, [0, 1], [])
    people = np.array(sizes)
    if people.sum() < k:
        assert (found.group_of_class == TOO_SMALL).all()
        return
    assert (found.group_of_class >= 0).all()
    assert found.people.min() >= k
    assert np.bincount(found.group_of_class, people).tolist() == found.people.tolist()
    assert found.counterfeits == sum(
        (n - 1) * r for n, r in zip(np.bincount(found.group_of_class), found.people, strict=True)
    )
    assert found.counterfeits >= fewest(people, k) or found.classes.max() == 1
    if people[people < k].sum() >= k:
        assert (found.classes[found.group_of_class[people >= k]] == 1).all()


@given(SIZES, st.integers(2, 7))
def test_columns_that_must_not_be_mixed_are_not(sizes, k):
    partition = partition_of(sizes)
    found = group_classes(partition, k, [0], [1])
    for number in range(len(found.people)):
        assert len({c % 2 for c in np.flatnonzero(found.group_of_class == number)}) == 1
    for side in (0, 1):
        of_side = np.arange(len(sizes)) % 2 == side
        if np.array(sizes)[of_side].sum() >= k:
            assert (found.group_of_class[of_side] >= 0).all(), "nobody is left out who could be grouped"


@given(st.lists(st.integers(1, 4), min_size=2, max_size=12), st.integers(2, 5))
def test_runs_take_the_fewest_counterfeits(sizes, k):
    """Against every way to cut the order into runs of k people."""
    sizes = np.minimum(np.array(sizes), k - 1)
    if sizes.sum() < k:
        return
    runs = _cut(sizes.astype(np.int64), np.zeros(len(sizes), dtype=np.int64), k)
    price = sum((np.count_nonzero(runs == r) - 1) * sizes[runs == r].sum() for r in set(runs.tolist()))
    best = [0.0] + [np.inf] * len(sizes)
    for end in range(1, len(sizes) + 1):
        for start in range(end):
            total = sizes[start:end].sum()
            if total >= k:
                best[end] = min(best[end], best[start] + (end - start - 1) * total)
    assert price == best[-1]
    assert all(np.diff(np.flatnonzero(runs == r)).max(initial=1) == 1 for r in set(runs.tolist()))


@pytest.mark.parametrize("k", [3, 5, 10])
def test_the_price_of_many_classes_is_within_a_third_of_the_least(k):
    random = np.random.default_rng(4)
    sizes = np.minimum(random.geometric(0.4, size=3000), 40).tolist()
    partition = partition_of(sizes, sides=3)
    found = group_classes(partition, k, [1, 0], [])
    assert found.counterfeits <= 1.3 * fewest(np.array(sizes), k)


def test_near_people_are_grouped():
    """Ones in a row: five neighbours a group."""
    found = group_classes(partition_of([1] * 20), 5, [0], [])
    assert [sorted(np.flatnonzero(found.group_of_class == g).tolist()) for g in range(4)] in (
        [list(range(15, 20)), list(range(10, 15)), list(range(5, 10)), list(range(5))],
        [list(range(5)), list(range(5, 10)), list(range(10, 15)), list(range(15, 20))],
    )


def test_too_few_join_the_smallest_class_of_their_region():
    found = group_classes(partition_of([9, 1, 6, 8]), 5, [0], [])
    assert found.group_of_class.tolist().count(found.group_of_class[1]) == 2
    assert found.group_of_class[1] == found.group_of_class[2]
    assert found.counterfeits == 7
