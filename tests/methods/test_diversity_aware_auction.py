"""The auction: near the optimum of the mixed-integer program, with a bound that never lies above it."""

import numpy as np
import pytest

from medveil.errors import CancelledError
from medveil.methods.diversity_aware import assigning, auction, worker
from medveil.methods.diversity_aware.assigning import Solvers, assign, assign_nearly
from medveil.methods.diversity_aware.caps import even_caps, halve, make_caps
from medveil.methods.diversity_aware.points import all_distances, cost, make_points, medians
from medveil.run import Run


def problem(seed, *, records=90, k=4, kinds=9, at_least=False, whole_numbers=True):
    """Points on a grid, so that many distances are the same, with values that go with their places."""
    chance = np.random.default_rng(seed)
    numbers = chance.normal(scale=2, size=(records, 2))
    points = make_points(np.round(numbers) if whole_numbers else numbers)
    values = np.clip(numbers[:, 0] + kinds / 2 + chance.normal(size=records), 0, kinds - 1).astype(np.int32)
    counts = np.bincount(values, minlength=kinds).tolist()
    caps = make_caps(counts, k, None, capped=[True] * kinds, at_least=at_least)
    start = halve(points, values, caps, Run())
    return points, values, medians(points, start, caps.clusters), caps, start


def optimum(points, values, centers, caps):
    sizes = np.array([caps.smallest, caps.largest])
    answer = worker.solve_milp(all_distances(points, centers), values, caps.lower, caps.upper, sizes)
    return cost(points, centers, answer["cluster"])


def nearly(given, enough=1e-3, **more):
    return assign_nearly(*given, Run(), enough=enough, doing="", **{"prices": None, **more})


def kept(cluster, values, caps):
    sizes = np.bincount(cluster, minlength=caps.clusters)
    pairs = np.zeros((len(caps.upper), caps.clusters), dtype=int)
    np.add.at(pairs, (values, cluster), 1)
    return caps.smallest <= sizes.min() <= sizes.max() <= caps.largest and bool((pairs <= caps.upper[:, None]).all())


@pytest.mark.parametrize("whole_numbers", [False, True])
def test_it_comes_as_near_to_the_optimum_as_is_asked_for(whole_numbers):
    for seed in range(5):
        given = problem(seed, records=88, whole_numbers=whole_numbers)
        points, values, centers, caps, _ = given
        found, least = nearly(given), optimum(points, values, centers, caps)
        assert kept(found.cluster, values, caps)
        assert found.cost == pytest.approx(cost(points, centers, found.cluster))
        assert found.bound <= least + 1e-9
        assert least - 1e-9 <= found.cost
        assert found.gap <= 1e-3 * found.cost


@pytest.mark.parametrize("at_least", [False, True])
def test_sizes_that_are_free_are_told_no_nearer_than_they_are(at_least):
    """What an auction leaves open there, the flow finds."""
    with Solvers() as solvers:
        for seed in range(5):
            given = problem(seed, records=91, at_least=at_least)
            points, values, centers, caps, start = given
            found, least = nearly(given), optimum(points, values, centers, caps)
            assert kept(found.cluster, values, caps)
            assert found.bound - 1e-9 <= least <= found.cost + 1e-9
            assert found.cost <= 1.05 * least
            ended = assign(points, values, centers, caps, start, solvers, Run(), enough=1e-3)
            assert kept(ended.cluster, values, caps)
            assert ended.bound - 1e-9 <= least
            assert ended.gap <= 1e-3 * ended.cost


def test_prices_of_nearby_centers_lead_there_too():
    points, values, centers, caps, start = problem(4, records=88)
    first = nearly((points, values, centers, caps, start))
    moved = medians(points, first.cluster, caps.clusters)
    again = nearly((points, values, moved, caps, first.cluster), prices=first.prices)
    assert kept(again.cluster, values, caps)
    assert again.bound <= optimum(points, values, moved, caps) + 1e-9
    assert again.gap <= 1e-3 * again.cost


def test_places_beyond_the_smallest_size_go_where_they_are_needed():
    """Two far groups of five and seven in clusters of four at least: the start has its larger clusters elsewhere."""
    points = make_points(np.array([0.0] * 8 + [100.0] * 11)[:, None])
    values, caps = np.zeros(19, dtype=np.int32), even_caps(19, 4, at_least=True)
    start = np.repeat(np.arange(4, dtype=np.int32), [7, 4, 4, 4])
    centers = make_points(np.array([0.0, 0.0, 100.0, 100.0])[:, None])
    found = nearly((points, values, centers, caps, start))
    assert found.cost == 0.0
    assert max(np.bincount(found.cluster)[2:]) > 4


def test_loops_stay_within_their_arrays_and_do_the_same_uncompiled(monkeypatch):
    """Python looks at every index that compiled loops do not look at."""
    given = problem(5, records=47, at_least=True)
    compiled = nearly(given)
    for name in ("_offer", "_take_out", "_bid", "_price_values"):
        monkeypatch.setattr(auction, name, getattr(auction, name).py_func)
    plain = nearly(given)
    assert np.array_equal(plain.cluster, compiled.cluster)
    assert plain.bound == pytest.approx(compiled.bound)


def test_a_flow_goes_on_where_too_many_bids_would_be_needed(monkeypatch):
    monkeypatch.setattr(assigning, "_BIDS", 1)
    points, values, centers, caps, start = problem(6)
    far = nearly((points, values, centers, caps, start))
    assert far.gap > 1e-3 * far.cost
    assert kept(far.cluster, values, caps)
    with Solvers() as solvers:
        found = assign(points, values, centers, caps, start, solvers, Run(), enough=1e-3)
    assert found.flows > 0
    assert found.gap <= 1e-3 * found.cost
    assert found.cost <= optimum(points, values, centers, caps) * (1 + 1e-3)


def test_it_can_be_stopped():
    points, values, centers, caps, start = problem(7)
    steps = []
    run = Run(listener=steps.append, cancelled=lambda: len(steps) > 3)
    with pytest.raises(CancelledError):
        assign_nearly(points, values, centers, caps, start, run, prices=None, enough=1e-9, doing="")
