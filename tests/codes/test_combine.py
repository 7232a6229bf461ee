"""Combinations of codes are numbered as sorting the tuples would, however large the key space is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.codes.combine import combine, count_people
from medveil.codes.rank import fold, rank, rank_combinations

HUGE = 1 << 40
SIZES = st.sampled_from([1, 2, 3, 1 << 20, HUGE])


@st.composite
def tables(draw):
    sizes = draw(st.lists(SIZES, max_size=5))
    rows = draw(st.integers(0, 30))
    few = st.integers(0, 3)
    columns = [
        np.array([min(draw(few), size - 1) * (size // 4 or 1) % size for _ in range(rows)], np.int64) for size in sizes
    ]
    return columns, sizes, rows


@given(tables())
def test_numbers_are_in_lexical_order(table):
    columns, sizes, rows = table
    first, numbers = combine(columns, sizes, rows)
    tuples = [tuple(int(column[i]) for column in columns) for i in range(rows)]
    distinct = sorted(set(tuples))
    assert numbers.tolist() == [distinct.index(one) for one in tuples]
    assert first.tolist() == [tuples.index(one) for one in distinct]


@given(tables())
def test_ranks_are_by_first_appearance(table):
    columns, _, rows = table
    small = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int32) for column in columns]
    ranks, first = rank_combinations(small, None, rows)
    tuples = [tuple(int(column[i]) for column in columns) for i in range(rows)]
    distinct = list(dict.fromkeys(tuples))
    assert ranks.tolist() == [distinct.index(one) for one in tuples]
    assert first.tolist() == [tuples.index(one) for one in distinct]


def test_keys_are_ranked_before_they_overflow():
    column = np.array([0, 1, 2, 1], dtype=np.int32)
    same = np.arange(3, dtype=np.int32)
    keys, space = fold([column] * 4, [same] * 4, [HUGE] * 4, 4)
    assert space < 1 << 62
    assert rank(keys, space)[0].tolist() == [0, 1, 2, 1]


def test_people_are_counted_once_in_each_group():
    groups = np.array([0, 0, 1, -1, 1])
    assert count_people(groups, 2, None).tolist() == [2, 2]
    assert count_people(groups, 2, np.array([7, 7, 7, 7, 3])).tolist() == [1, 2]
