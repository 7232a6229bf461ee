"""Which classes cover a tuple, and how many records can stand for different people: against brute force."""

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from medveil.codes.combine import combine, count_people
from medveil.evaluation.coverage import cover
from medveil.evaluation.flow import most_matched
from medveil.evaluation.matching import match
from medveil.table.domain import domain_of
from medveil.table.schema import Kind

NUMBERS = domain_of([str(n) for n in range(8)], Kind.NUMBER)
LETTERS = domain_of(list("abcd"), Kind.CATEGORY)


@st.composite
def labelled(draw):
    """Rows of labels over a number and two letters, some columns with labels that overlap, some without."""
    rows = draw(st.integers(1, 12))
    spans = st.tuples(st.integers(0, 7), st.integers(0, 7)).map(lambda t: f"[{min(t)}-{max(t)}]")
    blocks = st.sampled_from(["[0-3]", "[4-6]"])
    sets = st.sampled_from(["a", "b", "{a, b}", "*", "{c, d}"])
    columns = [
        draw(st.lists(draw(st.sampled_from([spans, blocks])), min_size=rows, max_size=rows)),
        draw(st.lists(sets, min_size=rows, max_size=rows)),
        draw(st.lists(st.sampled_from(["a", "c"]), min_size=rows, max_size=rows)),
    ]
    return [
        cover(pa.chunked_array([pa.array(column)]), domain)
        for column, domain in zip(columns, (NUMBERS, LETTERS, LETTERS), strict=True)
    ]


@given(labelled())
def test_matches_are_those_found_one_by_one(coverage):
    first, _ = combine([one.codes for one in coverage], [len(one.labels) for one in coverage])
    labels = np.array([one.codes[first] for one in coverage])
    tuples = np.array(list(itertools.product(range(8), range(4), range(4))), dtype=np.int32).T.copy()
    offsets, groups = match(tuples, labels, coverage)
    for i in range(tuples.shape[1]):
        expected = [
            g
            for g in range(labels.shape[1])
            if all(one.leaves[labels[j, g], tuples[j, i]] for j, one in enumerate(coverage))
        ]
        assert groups[offsets[i] : offsets[i + 1]].tolist() == expected


def test_without_columns_everything_matches():
    offsets, groups = match(np.zeros((0, 2), dtype=np.int32), np.zeros((0, 1), dtype=np.int32), [])
    assert (offsets.tolist(), groups.tolist()) == ([0, 1, 2], [0, 0])


def brute(supply, demand, edges):
    """The largest matching of units, by augmenting paths over single units."""
    left = [i for i, n in enumerate(supply) for _ in range(n)]
    right = [j for j, n in enumerate(demand) for _ in range(n)]
    taken = {}

    def place(u, seen):
        for v, j in enumerate(right):
            if (left[u], j) in edges and v not in seen:
                seen.add(v)
                if v not in taken or place(taken[v], seen):
                    taken[v] = u
                    return True
        return False

    return sum(place(u, set()) for u in range(len(left)))


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20),
)
def test_the_matching_is_the_largest(supply, demand, pairs):
    edges = sorted((i, j) for i, j in pairs if i < len(supply) and j < len(demand))
    offsets = np.searchsorted([i for i, _ in edges], np.arange(len(supply) + 1))
    placed = most_matched(np.array(supply), np.array(demand), offsets, np.array([j for _, j in edges], dtype=np.int64))
    assert placed.sum() == brute(supply, demand, set(edges))
    assert (placed <= supply).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 9)), max_size=40))
def test_combinations_are_numbered_in_order(rows):
    columns = [np.array([row[j] for row in rows], dtype=np.int64) for j in range(3)]
    first, numbers = combine(columns, [6, 4, 10])
    distinct = sorted(set(rows))
    assert [rows[i] for i in first] == distinct
    assert [distinct[n] for n in numbers] == rows


def test_large_key_spaces_do_not_overflow():
    random = np.random.default_rng(1)
    columns = [random.integers(0, 2**20, 300) for _ in range(6)]
    columns = [np.concatenate([column, column[:50]]) for column in columns]
    first, numbers = combine(columns, [2**20] * 6)
    assert len(first) == 300
    assert (numbers[:50] == numbers[300:]).all()


def test_people_are_counted_once_in_each_group():
    groups = np.array([0, 0, 1, 1, -1, 0])
    people = np.array([7, 7, 7, 8, 9, 3])
    assert count_people(groups, 3, people).tolist() == [2, 2, 0]
    assert count_people(groups, 3, None).tolist() == [3, 2, 0]
