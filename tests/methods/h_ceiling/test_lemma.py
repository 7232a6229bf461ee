"""Groups of classes hide every counterfeit, overlap nowhere, and cost no more records than they must."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.methods.h_ceiling.lemma import group

small = st.integers(0, 3)


def flat(table):
    owner, value = np.nonzero(table)
    return owner.astype(np.int64), value.astype(np.int32), np.asarray(table)[owner, value].astype(np.int64)


def groups_of(rows):
    return [
        (int(rows.tuples[i]), int(rows.counts[i]), rows.classes[rows.offsets[i] : rows.offsets[i + 1]].tolist())
        for i in range(len(rows))
    ]


def is_safe(members, real, forged):
    """Lemma 1: for every class, the others' real records are at least its counterfeits."""
    total = sum(real[c] for c in members)
    return all(total - real[c] >= forged[c] for c in members)


def lost(members, real, forged):
    count = sum(forged[c] for c in members)
    return sum(min(count, real[c] + forged[c]) for c in members) - count


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(small, min_size=2, max_size=2), min_size=n, max_size=n),
            st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=n, max_size=n),
        )
    )
)
def test_every_group_is_safe_and_a_class_is_in_one_group_a_value(tables):
    real, forged = np.array(tables[0]), np.array(tables[1])
    if not forged.any():
        return
    grouped = group(*flat(forged), *flat(real))
    seen = set()
    covered = np.zeros_like(forged)
    for value, count, members in groups_of(grouped.rows):
        assert len(set(members)) == len(members)
        assert not any((value, c) in seen for c in members)
        seen |= {(value, c) for c in members}
        assert is_safe(members, real[:, value], forged[:, value])
        assert count == forged[members, value].sum()
        covered[members, value] = forged[members, value]
    owner, value, _ = flat(forged)
    for c, v, exposed in zip(owner, value, grouped.exposed, strict=True):
        assert (covered[c, v] == 0) == exposed
    assert np.array_equal(
        covered[owner[~grouped.exposed], value[~grouped.exposed]], forged[owner, value][~grouped.exposed]
    )


def partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for tail in partitions(left):
                yield [(first, *others), *tail]


def fewest_lost(real, forged):
    """Over all partitions in which every group that holds counterfeits is safe and no more false than real."""
    best = None
    for parts in partitions(list(range(len(real)))):
        hiding = [p for p in parts if any(forged[c] for c in p)]
        fair = all(sum(real[c] for c in p) >= sum(forged[c] for c in p) for p in hiding)
        if fair and all(is_safe(p, real, forged) for p in hiding):
            total = sum(lost(p, real, forged) for p in hiding)
            best = total if best is None else min(best, total)
    return best


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 4), min_size=n, max_size=n), st.lists(st.integers(0, 2), min_size=n, max_size=n)
        )
    )
)
def test_no_grouping_loses_fewer_records_where_covers_suffice(numbers):
    """With a cover for each class that holds counterfeits, as many records are lost as are counterfeit: the optimum."""
    real, forged = np.array(numbers[0]), np.array(numbers[1])
    if not forged.any():
        return
    demands = sorted((int(c) for c in forged if c), reverse=True)
    covers = sorted((int(r) for r, c in zip(real, forged, strict=True) if r and not c), reverse=True)
    enough = len(covers) >= len(demands) and all(r >= c for r, c in zip(covers, demands, strict=False))
    best = fewest_lost(real, forged)
    if best is not None:
        assert best >= forged.sum()
    if enough:
        grouped = group(*flat(forged[:, None]), *flat(real[:, None]))
        ours = sum(lost(members, real, forged) for _, _, members in groups_of(grouped.rows))
        assert ours == best == forged.sum()


def test_what_nothing_hides_is_exposed():
    grouped = group(*flat([[1, 0], [0, 1]]), *flat([[3, 0], [0, 0]]))
    assert grouped.exposed.tolist() == [True, True]
    assert len(grouped.rows) == 0


@pytest.mark.parametrize("values", [100, 2])
def test_five_thousand_classes_are_grouped_within_a_second(values):
    random = np.random.default_rng(3)
    real = random.multinomial(20, np.full(values, 1 / values), size=5000)
    forged = np.zeros_like(real)
    forged[np.arange(2500)[:, None], random.integers(0, values, (2500, 3))] = 1
    arguments = (*flat(forged), *flat(real))
    started = time.process_time()
    grouped = group(*arguments)
    assert time.process_time() - started < 1.0
    assert not grouped.exposed.any()
