"""The node that is found costs least of all that keep ceiling and cap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.lattice.space import Space
from medveil.loss.reconstruction import reconstruction_error
from medveil.methods.h_ceiling.grouping import group_classes
from medveil.methods.h_ceiling.objective import Objective, bounds, lacking
from medveil.methods.h_ceiling.partition import at_node
from medveil.methods.h_ceiling.search import Degrees, Filled, NodeSearch

rows = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=3, max_size=40)


def objective_of(name="lm", price=1.0, ordered=(False, True)):
    return Objective(name, price, [1.0, 1.0], ordered, 1)


def search_of(crowd, k, objective):
    def fill(partition, allowed):
        grouping = group_classes(partition, k, [0, 1], [])
        if grouping.counterfeits > allowed:
            return None
        left_out = (grouping.group_of_class < 0).astype(float)
        cost = objective.of(partition, grouping.real(partition), grouping.counterfeits, left_out)
        return Filled(partition, grouping, cost, grouping.counterfeits)

    space = Space.of(crowd.hierarchies)
    return NodeSearch(crowd, space, objective, lambda partition: lacking(partition.people, k), fill)


@pytest.mark.parametrize("ceiling", ["record", "mean"])
@given(rows, st.sampled_from([0.2, 0.34, 0.5, 1.0]))
def test_the_degree_of_a_node_is_that_of_its_people(make_residents, ceiling, records, h):
    crowd = make_residents(records).crowd
    space = Space.of(crowd.hierarchies)
    degrees = Degrees(space, crowd)
    nodes = space.every_node()
    found = []
    for node in nodes.T:
        losses = [hierarchy.losses[level] for hierarchy, level in zip(crowd.hierarchies, node, strict=True)]
        of_places = [np.mean([loss[c] for loss, c in zip(losses, place, strict=True)]) for place in crowd.codes.T]
        found.append(max(of_places) if ceiling == "record" else np.average(of_places, weights=crowd.people))
        assert degrees.of(tuple(int(level) for level in node), ceiling) == pytest.approx(found[-1])
    assert degrees.within(nodes, h, ceiling).tolist() == [degree <= h + 1e-9 for degree in found]


@given(
    rows,
    st.integers(2, 5),
    st.sampled_from([0.2, 0.4, 0.6, 1.0]),
    st.integers(0, 30),
    st.sampled_from(["lm", "rce", "mix"]),
    st.sampled_from([0.0, 0.3, 2.0]),
)
def test_no_node_under_the_ceiling_is_better(make_residents, records, k, h, allowed, name, price):
    crowd = make_residents(records).crowd
    search = search_of(crowd, k, objective_of(name, price))
    found = search.best(h, "record", allowed, lambda _share: None)
    every = [
        filled.key
        for levels in (tuple(int(level) for level in node) for node in search.space.every_node().T)
        if search.degrees.worst(levels) <= h + 1e-9
        and (filled := search.fill(at_node(crowd, levels), allowed)) is not None
    ]
    if found is None:
        assert not every
    else:
        assert found.filled.key[0] == pytest.approx(min(every)[0])
        equal = [counterfeits for cost, counterfeits in every if cost <= min(every)[0] + 1e-12]
        assert found.filled.counterfeits == min(equal), "the fewest counterfeits at equal cost"


@given(rows, st.integers(2, 5), st.sampled_from([0.4, 0.6, 1.0]))
def test_a_price_above_all_losses_takes_the_fewest_counterfeits_of_any_node(make_residents, records, k, h):
    crowd = make_residents(records).crowd
    search = search_of(crowd, k, objective_of(price=2.0 * len(records)))
    found = search.best(h, "record", 10**6, lambda _share: None)
    fewest = search.fewest_counterfeits(h, "record", 10**6, lambda _share: None)
    assert (None if found is None else found.filled.counterfeits) == fewest


@given(rows, st.sampled_from(["lm", "rce", "mix"]))
def test_the_bound_is_the_cost_without_counterfeits(make_residents, records, name):
    crowd = make_residents(records).crowd
    objective = objective_of(name)
    by_level = objective.by_level(crowd)
    for levels in ((0, 0), (1, 0), (2, 1), (2, 2)):
        partition = at_node(crowd, levels)
        direct = objective.of(partition, np.ones(len(partition)), 0, np.zeros(len(partition)))
        assert bounds(by_level, np.array(levels)[:, None])[0] == pytest.approx(direct)


def test_the_error_of_a_category_is_the_papers_and_of_an_ordered_column_grows_with_distance(make_residents):
    crowd = make_residents([("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]).crowd
    partition = at_node(crowd, (2, 0))
    _, plain = objective_of("rce", ordered=(False, False)).by_class(partition, np.full(4, 0.75))
    expected = (reconstruction_error(4, 0.75) + 2 * reconstruction_error(1, 0.75)) / 3
    assert plain == pytest.approx(np.full(4, float(expected)))
    _, halves = objective_of("rce", ordered=(True, True)).by_class(at_node(crowd, (1, 0)), np.ones(4))
    assert halves == pytest.approx([(2 - 1 / 2) / (4 - 1 / 4) / 3] * len(halves))


def test_how_close_one_can_get(make_residents):
    """Sixteen people, each alone: pairs of them need a degree of a sixth, sixteen counterfeits none at all."""
    crowd = make_residents([(p, q) for p in "abcd" for q in "abcd"]).crowd
    search = search_of(crowd, 2, objective_of())
    silent = lambda _share: None  # noqa: E731
    assert search.best(0.0, "record", 0, silent) is None
    assert search.least_degree("record", 0, silent) == pytest.approx(1 / 6)
    assert search.fewest_counterfeits(0.0, "record", 1000, silent) == 16
