"""Sets under k^m-anonymity: every set of m labels counted by brute force, and no code more general than it must be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.errors import UnreachableError
from medveil.hierarchy.hierarchy import build
from medveil.methods.sets.recoding import SetRecoder

NAMES = ["A1", "A2", "A3", "B1", "B2", "C1"]
TREE = build(NAMES, [[name[0] for name in NAMES]], None, len(NAMES), "codes")


def recoder(sets, k, m):
    pairs = [(person, leaf) for person, codes in enumerate(sets) for leaf in sorted(codes)]
    people = np.array([person for person, _ in pairs], dtype=np.int64)
    leaves = np.array([leaf for _, leaf in pairs], dtype=np.int64)
    return SetRecoder(people, leaves, TREE, k=k, m=m)


def labels_at(sets, levels):
    label = [TREE.levels[level].labels[TREE.levels[level].groups[leaf]] for leaf, level in enumerate(levels)]
    return [{label[leaf] for leaf in codes} for codes in sets]


def least_support(published, m):
    """The fewest people who have a set of at most m labels that somebody has, counted one by one."""
    known = {
        frozenset(c) for labels in published for size in range(1, m + 1) for c in combinations(sorted(labels), size)
    }
    return min((sum(one <= labels for labels in published) for one in known), default=None)


SETS = st.lists(st.sets(st.integers(0, len(NAMES) - 1), max_size=4), min_size=1, max_size=14)


@settings(max_examples=150, deadline=None)
@given(sets=SETS, k=st.integers(1, 4), m=st.integers(1, 3))
def test_every_set_of_m_labels_has_k_people_and_no_code_can_be_lowered_alone(sets, k, m):
    with_any = sum(bool(codes) for codes in sets)
    if 0 < with_any < k:
        with pytest.raises(UnreachableError):
            recoder(sets, k, m).solve()
        return
    found = recoder(sets, k, m).solve()
    published = labels_at(sets, found.levels)
    least = least_support(published, m)
    assert least is None or least >= k
    held = set().union(*sets)
    for leaf in held:
        for level in range(found.levels[leaf]):
            lower = found.levels.copy()
            lower[leaf] = level
            changed = labels_at(sets, lower)
            assert changed == published or (least_support(changed, m) or k) < k


def test_codes_that_are_frequent_together_stay_as_they_are():
    found = recoder([{0, 3}] * 5 + [{1}] * 5, 5, 2).solve()
    assert found.levels.tolist() == [0] * 6
    assert found.loss == 0


def test_a_rare_code_joins_its_group_and_common_ones_beside_it_keep_their_own():
    # A1 is common; A2 and A3 are rare alone, and together they are not.
    found = recoder([{0}] * 5 + [{1}] * 2 + [{2}] * 3, 5, 2).solve()
    assert found.levels[[0, 1, 2]].tolist() == [0, 1, 1]


def test_a_rare_pair_of_common_codes_is_hidden():
    sets = [{0}] * 6 + [{3}] * 6 + [{0, 3}]
    assert least_support(labels_at(sets, recoder(sets, 3, 1).solve().levels), 2) == 1
    assert least_support(labels_at(sets, recoder(sets, 3, 2).solve().levels), 2) >= 3


def test_people_beyond_one_word_of_bits_are_counted():
    sets = [{0}] * 130 + [{0, 5}] * 70
    assert recoder(sets, 70, 2).solve().levels[[0, 5]].tolist() == [0, 0]
    found = recoder(sets, 71, 2).solve()
    assert least_support(labels_at(sets, found.levels), 2) >= 71
