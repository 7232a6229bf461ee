from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import build
from medveil.lattice.space import Space, at_most, join, meet


def hierarchy(height):
    """A chain of levels over few leaves: what is above does not matter here."""
    leaves = ["a", "b"]
    return build(leaves, [leaves] * (height - 1), None, 2.0, "x")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=4))
def test_ids_are_the_lexicographic_order(bounds):
    space = Space.of([hierarchy(5)] * len(bounds), [low for low, _ in bounds], [low + up for low, up in bounds])
    nodes = list(itertools.product(*(range(low, low + up + 1) for low, up in bounds)))
    assert space.size == len(nodes)
    assert [space.node(number) for number in range(space.size)] == nodes
    assert [space.id_of(node) for node in nodes] == list(range(space.size))
    assert space.every_node().T.tolist() == [list(node) for node in nodes]
    assert space.nodes(np.arange(space.size)).T.tolist() == [list(node) for node in nodes]
    assert space.ids(space.every_node()).tolist() == list(range(space.size))


def test_neighbours_stay_within_the_space():
    space = Space.of([hierarchy(3), hierarchy(2)], [1, 0], [2, None])
    assert space.above((2, 1)) == [(2, 2)]
    assert space.below((1, 1)) == [(1, 0)]
    assert space.contains((1, 0))
    assert not space.contains((0, 0))


def test_order_between_nodes():
    nodes = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.int8)
    assert at_most(nodes, (1, 1)).tolist() == [False, True, False]
    assert meet(nodes) == (0, 0)
    assert join(nodes) == (2, 2)


def test_a_space_of_any_size_has_exact_ids():
    space = Space.of([hierarchy(9)] * 30)
    assert space.size == 10**30
    number = 123456789012345678901234567890
    assert space.id_of(space.node(number)) == number


@pytest.mark.parametrize(("low", "high"), [(2, 1), (0, 4), (-1, 2)])
def test_levels_that_are_not_there_are_refused(low, high):
    with pytest.raises(PolicyError, match="'age' has levels 0 to 3"):
        Space.of([hierarchy(3)], [low], [high], ["age"])


def test_no_quasi_identifier_is_refused():
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        Space.of([])
