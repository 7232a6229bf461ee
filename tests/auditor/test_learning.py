"""The attacker who learns from the release, against every assignment written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.auditor.learning import SWEEPS, _sampled_assignments, assignments


def written_out(weights, people, counts):
    """The share of each value for a person of each class, over all ways to deal the values out."""
    values = np.repeat(np.arange(len(counts)), counts)
    of_person = np.repeat(np.arange(len(people)), people)
    found, total = np.zeros(weights.shape), 0.0
    for dealt in itertools.permutations(values.tolist()):
        weight = np.prod([weights[i, v] for i, v in zip(of_person, dealt, strict=True)])
        total += weight
        for i, v in zip(of_person, dealt, strict=True):
            found[i, v] += weight / people[i]
    return found / total


@st.composite
def groups(draw):
    people = draw(st.lists(st.integers(1, 2), min_size=2, max_size=3))
    number = sum(people)
    first = draw(st.integers(1, number - 1))
    counts = [first, number - first]
    weights = draw(
        st.lists(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=2), min_size=len(people), max_size=len(people))
    )
    return np.array(weights), np.array(people), np.array(counts)


@given(groups())
def test_beliefs_are_shares_of_all_assignments(group):
    assert assignments(*group) == pytest.approx(written_out(*group))


def test_without_anything_learned_everybody_has_each_value_by_its_share():
    found = assignments(np.ones((3, 3)), np.array([1, 2, 3]), np.array([3, 2, 1]))
    assert found == pytest.approx(np.tile([1 / 2, 1 / 3, 1 / 6], (3, 1)))


def test_exchanges_come_near_the_exact_beliefs():
    weights = np.array([[1.0, 0.2, 0.5], [0.3, 1.0, 0.4]])
    people, counts = np.array([2, 3]), np.array([2, 2, 1])
    of_person = np.repeat(np.arange(2), people)
    sampled = _sampled_assignments(weights, of_person, people, counts, 10 * SWEEPS)
    # Twenty thousand sweeps: a standard error below 0.005, with some room for their dependence.
    assert sampled == pytest.approx(assignments(weights, people, counts), abs=0.03)
    assert np.array_equal(sampled, _sampled_assignments(weights, of_person, people, counts, 10 * SWEEPS))
