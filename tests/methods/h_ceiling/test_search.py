"""The node that is found has the least reconstruction error of all that keep ceiling and cap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.lattice.space import Space
from medveil.loss.reconstruction import reconstruction_error
from medveil.methods.h_ceiling.degree import Degrees
from medveil.methods.h_ceiling.holdings import sensitive_tuples
from medveil.methods.h_ceiling.plan import NOTHING, mean_error
from medveil.methods.h_ceiling.planner import Planner
from medveil.methods.h_ceiling.search import NodeSearch
from medveil.privacy.count import reference_of
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.model import Requirement

HALVES = [{"a": "ab", "b": "ab", "c": "cd", "d": "cd"}]
rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=3, max_size=40
)


class Free(Planner):
    """Fills whatever lacks no more people than allowed, at no cost: the search alone decides."""

    def plan(self, holdings, allowed, random):  # noqa: ARG002
        return NOTHING if self.missing(holdings.people) <= allowed else None


def search_of(make_tiny, records, k, planner=Planner, *, concealed=True, most=3):
    cells, hierarchies = make_tiny(records, HALVES)
    requirement = Requirement(KAnonymity(k=k), (0, 1))
    made = planner(k, [requirement], reference_of(cells), concealed, uniform=False, most=most)
    return NodeSearch(cells, sensitive_tuples(cells), Space.of(hierarchies), made)


@given(rows, st.sampled_from([0.2, 0.34, 0.5, 1.0]))
def test_the_degree_of_a_node_is_that_of_its_worst_record(make_tiny, records, h):
    cells, hierarchies = make_tiny(records, HALVES)
    space = Space.of(hierarchies)
    degrees = Degrees(space, cells.codes)
    nodes = space.every_node()
    found = []
    for node in nodes.T:
        losses = [hierarchy.losses[level] for hierarchy, level in zip(hierarchies, node, strict=True)]
        of_cells = [[loss[code] for loss, code in zip(losses, cell, strict=True)] for cell in cells.codes.T]
        found.append(max(np.mean(of_cell) for of_cell in of_cells))
        assert degrees.of(tuple(int(level) for level in node)) == pytest.approx(found[-1])
    assert degrees.within(nodes, h).tolist() == [degree <= h + 1e-9 for degree in found]


@given(rows, st.integers(2, 5), st.sampled_from([0.2, 0.4, 0.6, 1.0]), st.integers(0, 9))
def test_no_node_under_the_ceiling_is_better(make_tiny, records, k, h, allowed):
    search = search_of(make_tiny, records, k, Free)
    found = search.best(h, allowed, np.random.default_rng(1), lambda _share: None)
    nodes = search.space.every_node()
    errors = [
        mean_error(search.holdings(levels), NOTHING)
        for levels in (tuple(int(level) for level in node) for node in nodes.T)
        if search.degrees.of(levels) <= h + 1e-9 and search.missing(levels) <= allowed
    ]
    if found is None:
        assert not errors
    else:
        assert found.error == pytest.approx(min(errors))
        assert found.degree == pytest.approx(search.degrees.of(found.levels))


@given(rows, st.integers(2, 4), st.integers(0, 9), st.booleans())
def test_what_is_found_has_k_people_a_class_and_the_error_it_states(make_tiny, records, k, allowed, concealed):
    search = search_of(make_tiny, records, k, concealed=concealed)
    found = search.best(1.0, allowed, np.random.default_rng(1), lambda _share: None)
    if found is None:
        assert len(records) < k
        return
    assert found.plan.counterfeits <= allowed
    assert found.error == pytest.approx(mean_error(found.holdings, found.plan))
    filled = found.holdings.people.copy()
    np.add.at(filled, found.plan.classes, found.plan.counts)
    assert filled.min() >= k


@given(rows)
def test_the_bound_is_the_error_without_counterfeits(make_tiny, records):
    search = search_of(make_tiny, records, 2)
    for levels in ((0, 0), (1, 0), search.space.top):
        each = [
            reconstruction_error(h.levels[level].covered[h.levels[level].groups[codes]])
            for h, level, codes in zip(search.space.hierarchies, levels, search.cells.codes, strict=True)
        ]
        direct = np.average(sum(each) / 3, weights=search.cells.counts)
        assert search.bounds(np.array(levels)[:, None])[0] == pytest.approx(direct)
        assert mean_error(search.holdings(levels), NOTHING) == pytest.approx(direct)


def test_how_close_one_can_get(make_tiny):
    """Sixteen people, each alone: pairs of them need a degree of a sixth, sixteen counterfeits none at all."""
    records = [(p, q, "x") for p in "abcd" for q in "abcd"]
    search = search_of(make_tiny, records, 2, concealed=False)
    silent = (np.random.default_rng(1), lambda _share: None)
    assert search.best(0.0, 0, *silent) is None
    assert search.least_degree(0, *silent) == pytest.approx(1 / 6)
    assert search.fewest_counterfeits(0.0, *silent) == 16
