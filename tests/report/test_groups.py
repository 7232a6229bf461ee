"""No group of fewer than so many people is shown, and nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.cells import Cells, Subjects
from medveil.report.groups import Groups, shown
from medveil.report.sizes import exposure, exposure_rows, size_groups
from medveil.table.domain import Domain
from medveil.table.schema import Kind

counts = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=40)


@given(counts, st.integers(1, 12), st.integers(2, 14), st.booleans())
def test_groups_are_large_enough_and_add_up(held, least, most, ordered):
    before, after, people = (np.array(column, dtype=float) for column in zip(*held, strict=True))
    people = np.minimum(people, before)
    groups = Groups(tuple(f"g{i}" for i in range(len(held))), before, after, people, ordered)
    found = shown(groups, least, most)
    assert found.before.sum() == before.sum()
    assert found.after.sum() == after.sum()
    if len(found.names) > 1:
        for j in range(len(found.names)):
            assert found.before[j] == 0 or found.after[j] > 0 or found.people[j] >= least
            assert max(found.people[j], found.after[j]) >= least
            if found.people[j] and found.after[j] and not found.gathered:
                assert found.people[j] >= least
    if not ordered:
        assert len(found.names) <= most + 1


def test_neighbours_are_joined_and_named_by_their_ends():
    groups = Groups(
        ("0 to 9", "10 to 19", "20 to 29", "(missing)"),
        np.array([2.0, 9.0, 1.0, 3.0]),
        np.array([2.0, 9.0, 1.0, 3.0]),
        np.array([2.0, 9.0, 1.0, 3.0]),
        ordered=True,
        ends=(("0", "9"), ("10", "19"), ("20", "29"), ("(missing)", "(missing)")),
        tail=1,
    )
    found = shown(groups, 3)
    assert found.names == ("0 to 29", "(missing)")
    assert shown(groups, 4).names == ("0 to 29",)


def cells_of(codes, counts, subjects=None):
    codes = np.array(codes, dtype=np.int32)
    names = tuple(f"q{j}" for j in range(len(codes)))
    domains = {name: Domain(Kind.CATEGORY, tuple("abcdef")) for name in names}
    return Cells(names, codes, np.array(counts, dtype=np.int64), {}, domains, subjects)


def test_sizes_of_the_original_count_people():
    codes = [[0, 0, 1], [2, 2, 3]]
    assert sorted(cells_of(codes, [4, 2, 1]).class_sizes()) == [1, 6]
    people = Subjects(np.array([0, 2, 4, 5]), np.array([0, 1, 1, 2, 2], dtype=np.int32), 3)
    assert sorted(cells_of(codes, [4, 2, 1], people).class_sizes()) == [1, 3]


def test_exposure_of_a_small_table():
    """Classes of 1, 1, 2 and 6 people: the worst risk is 1, four classes hold ten people, four are above one fifth."""
    found = exposure(np.array([1, 1, 2, 6]), 0.2)
    assert (found.people, found.classes, found.highest, found.average) == (10, 4, 1.0, 0.4)
    assert (found.unique, found.at_risk) == (2, 4)
    rows = dict(exposure_rows([found], 0.2, 3))
    assert rows["Highest risk of being found"] == "1 in 1"
    assert rows["People who are alone in their group"] == "fewer than 3 people"
    assert rows["People whose risk is above 20.0 %"] == "40.0 %"
    assert exposure(np.array([], dtype=np.int64), 0.2) is None


@pytest.mark.parametrize("least", [1, 5, 50])
def test_sizes_in_bins_hide_small_groups(least):
    before, after = np.array([1] * 40 + [3] * 9 + [7]), np.array([5] * 10 + [24])
    found = size_groups(before, after, 5, least)
    assert found.before.sum() == before.sum()
    assert found.after.sum() == after.sum()
    assert all(count >= least for count in np.maximum(found.before, found.after))
    if least == 1:
        assert found.names == ("1", "2 to 4", "5 to 9", "10 or more")


def test_sizes_begin_where_the_smallest_group_is():
    sizes = np.array([6, 8, 12])
    assert size_groups(None, sizes, 5, 1).names == ("5 to 9", "10 or more")
    assert size_groups(None, sizes, 5, 20).names == ("5 or more",)
    assert size_groups(np.array([1, 5]), sizes, 5, 1).names[0] == "1"
    assert size_groups(None, np.array([], dtype=np.int64), 5, 1).names == ("1 or more",)
