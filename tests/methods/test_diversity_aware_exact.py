"""What diversity-aware clustering calls exact, against all there is: every partition, every spread, the program."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from medveil.methods.diversity_aware import worker
from medveil.methods.diversity_aware.assigning import Solvers, assign
from medveil.methods.diversity_aware.caps import even_caps, halve, least_alpha, make_caps
from medveil.methods.diversity_aware.points import all_distances, cost, make_points, medians
from medveil.methods.diversity_aware.rounds import Effort, cluster_points
from medveil.run import Run


def least_cost(numbers, values, caps):
    """The cheapest of all partitions that keep the caps, to the medians of their parts."""

    @functools.cache
    def spread(part):
        held = np.bincount(values[list(part)], minlength=len(caps.upper))
        if np.any(held < caps.lower) or np.any(held > caps.upper):
            return np.inf
        return float(np.abs(numbers[list(part)] - np.median(numbers[list(part)], axis=0)).sum())

    @functools.cache
    def least(rest, clusters):
        if not clusters:
            return np.inf if rest else 0.0
        if not caps.smallest * clusters <= len(rest) <= caps.largest * clusters:
            return np.inf
        best = np.inf
        for size in {caps.smallest, caps.largest}:
            for others in itertools.combinations(rest[1:], size - 1):
                here = spread((rest[0], *others))
                if here < best:
                    best = min(best, here + least(tuple(j for j in rest[1:] if j not in others), clusters - 1))
        return best

    return least(tuple(range(len(numbers))), caps.clusters)


@pytest.mark.parametrize(("seed", "n", "k"), [(1, 10, 3), (2, 11, 3), (3, 12, 4), (4, 12, 3), (5, 9, 2)])
@pytest.mark.parametrize("capped", [False, True])
def test_few_records_get_the_best_of_all_partitions(seed, n, k, capped):
    """By default, from whatever random numbers; ten starts find it in nine of ten such tables."""
    chance = np.random.default_rng(seed)
    numbers, values = np.round(chance.normal(size=(n, 3)), 1), chance.integers(0, 2, n).astype(np.int32)
    caps = make_caps(np.bincount(values, minlength=2).tolist(), k, None, capped=[capped] * 2)
    with Solvers() as solvers:
        found = cluster_points(make_points(numbers), values, caps, Effort(), solvers, Run())
    assert found.cost == pytest.approx(least_cost(numbers, values, caps), abs=1e-9)
    assert found.gap < 1e-8


@pytest.mark.parametrize(
    ("given", "records", "starts"),
    [(None, 10, 200), (None, 200, 50), (None, 9_000, 1), (3, 10, 3), (3, 9_000, 3)],
)
def test_starts_are_many_where_records_are_few_and_as_many_as_are_asked_for(given, records, starts):
    assert Effort(starts=given).starts_of(records) == starts


def spreads(counts, caps):
    """All ways to spread the values over the clusters, sizes kept: the largest of c x / N over pairs, for each way."""
    c = caps.clusters

    def parts(total, places):
        if places == 1:
            yield (total,)
            return
        for first in range(total + 1):
            for rest in parts(total - first, places - 1):
                yield (first, *rest)

    for ways in itertools.product(*(list(parts(count, c)) for count in counts)):
        if all(caps.smallest <= sum(way[i] for way in ways) <= caps.largest for i in range(c)):
            yield ways


@pytest.mark.parametrize(
    ("counts", "k"),
    [([4, 3], 2), ([5, 2], 3), ([1, 6], 2), ([3, 3, 2], 3), ([1, 1, 5], 3), ([2, 2, 2], 2), ([5, 4], 3)],
)
def test_the_least_alpha_is_that_of_the_best_of_all_spreads(counts, k):
    caps = even_caps(sum(counts), k, len(counts))
    needed = min(
        max(Fraction(caps.clusters * x, counts[v]) for v, way in enumerate(ways) for x in way)
        for ways in spreads(counts, caps)
    )
    assert least_alpha(counts, caps.clusters) == needed


@pytest.mark.parametrize("alpha", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1), Fraction(5, 4)])
@pytest.mark.parametrize(("counts", "k"), [([4, 3], 2), ([1, 6], 2), ([3, 3, 2], 3), ([2, 2, 3], 2)])
@pytest.mark.parametrize("both", [False, True])
def test_the_excess_of_several_values_together_is_the_least_there_can_be(counts, k, alpha, both):
    capped = [True] * len(counts)
    caps = make_caps(counts, k, alpha, capped=capped, both=both, minimize_excess=True)
    asked = [int(alpha * Fraction(count, caps.clusters)) for count in counts]
    over = {
        ways: sum(max(0, x - asked[v]) for v, way in enumerate(ways) for x in way) for ways in spreads(counts, caps)
    }
    assert caps.excess == min(over.values())
    kept = [
        ways for ways in over if all(caps.lower[v] <= x <= caps.upper[v] for v, way in enumerate(ways) for x in way)
    ]
    assert kept
    assert all(over[ways] == caps.excess for ways in kept)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("extra", [0, 3])
def test_the_flow_finds_the_optimum_of_the_program_with_many_values(both, extra):
    """Sizes k, and k and k + 1; a dozen values of very different frequency; centers taken at random."""
    chance = np.random.default_rng(20 + extra)
    with Solvers() as solvers:
        for _ in range(40):
            k, c = int(chance.integers(extra + 1, 8)), int(chance.integers(4, 9))
            n = k * c + extra
            numbers, values = chance.normal(size=(n, 3)), np.minimum(chance.geometric(0.25, n), 12).astype(np.int32) - 1
            points = make_points(numbers)
            counts = np.bincount(values, minlength=12)
            caps = make_caps(counts.tolist(), k, None, capped=[True] * 12, both=both)
            assert (caps.smallest, caps.largest) == (k, k + (extra > 0))
            start = halve(points, values, caps, Run())
            centers = points.take(chance.choice(n, caps.clusters, replace=False))
            found = assign(points, values, centers, caps, start, solvers, Run())
            sizes = np.array([caps.smallest, caps.largest])
            answer = worker.solve_milp(all_distances(points, centers), values, caps.lower, caps.upper, sizes)
            assert found.cost == pytest.approx(cost(points, centers, answer["cluster"]), abs=1e-8)
            assert found.cost - 1e-7 <= found.bound <= found.cost + 1e-9
            held = np.array([np.bincount(values[found.cluster == i], minlength=12) for i in range(caps.clusters)])
            assert np.all(held <= caps.upper)
            assert np.all(held >= caps.lower)
            assert cost(points, medians(points, found.cluster, caps.clusters), found.cluster) <= found.cost + 1e-9


@pytest.mark.parametrize("both", [False, True])
def test_the_flow_finds_the_optimum_of_the_program_with_free_sizes(both):
    """Clusters of k to 2k - 1, as many as there can be or fewer."""
    chance = np.random.default_rng(31)
    larger = 0
    with Solvers() as solvers:
        for _ in range(40):
            k, n = int(chance.integers(2, 7)), int(chance.integers(14, 40))
            most, least = n // k, -(-n // (2 * k - 1))
            clusters = int(chance.integers(least, most + 1))
            points, values = make_points(chance.normal(size=(n, 3))), chance.integers(0, 3, n).astype(np.int32)
            counts = np.bincount(values, minlength=3).tolist()
            caps = make_caps(counts, k, None, capped=[False, True, both], both=both, clusters=clusters, at_least=True)
            start = halve(points, values, caps, Run())
            centers = points.take(chance.choice(n, clusters, replace=False))
            found = assign(points, values, centers, caps, start, solvers, Run())
            sizes = np.array([caps.smallest, caps.largest])
            answer = worker.solve_milp(all_distances(points, centers), values, caps.lower, caps.upper, sizes)
            assert found.cost == pytest.approx(cost(points, centers, answer["cluster"]), abs=1e-8)
            assert found.cost - 1e-7 <= found.bound <= found.cost + 1e-9
            held = np.bincount(found.cluster, minlength=clusters)
            assert k <= held.min() <= held.max() <= max(2 * k - 1, -(-n // clusters))
            larger += held.max() > -(-n // clusters)
    assert larger > 10
