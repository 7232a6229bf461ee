"""The core of diversity-aware clustering: caps, halving, flows, potentials, rounds."""

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.errors import CancelledError, MedveilError, UnreachableError
from medveil.methods.diversity_aware import assigning, rounds, worker
from medveil.methods.diversity_aware.assigning import Solvers, assign, assign_by_milp, unit_of
from medveil.methods.diversity_aware.caps import Caps, even_caps, halve, least_alpha, make_caps, merge_free
from medveil.methods.diversity_aware.points import Points, all_distances, cost, make_points, medians
from medveil.methods.diversity_aware.prices import Prices
from medveil.methods.diversity_aware.rounds import Effort, alternate, cluster_points
from medveil.run import Run


def keeps(cluster, values, caps):
    """Whether clusters keep their sizes and caps, counted one by one."""
    for i in range(caps.clusters):
        here = values[cluster == i]
        if not caps.smallest <= len(here) <= caps.largest:
            return False
        if any(not caps.lower[v] <= np.sum(here == v) <= caps.upper[v] for v in range(len(caps.upper))):
            return False
    return True


def instance(chance, *, records=None, k=None, values=None, same=False):
    """Points of numbers and categories, values that go with their places, and caps of some kind."""
    n = records or int(chance.integers(6, 40))
    numbers = np.zeros((n, 2)) if same else np.round(chance.normal(size=(n, int(chance.integers(0, 4)))), 2)
    categories = chance.integers(0, 3, (n, int(chance.integers(0, 3)))).astype(np.int32)
    if same:
        categories[:] = 0
    points = make_points(numbers, categories, chance.uniform(0.5, 2, categories.shape[1]))
    m = values or int(chance.integers(1, 5))
    drift = numbers[:, 0] if numbers.shape[1] else np.zeros(n)
    value = np.clip((drift + chance.normal(size=n) + m / 2).astype(int), 0, m - 1).astype(np.int32)
    counts = np.bincount(value, minlength=m).tolist()
    alpha = [None, Fraction(1), Fraction(3, 2), Fraction(11, 10)][chance.integers(4)]
    caps = make_caps(
        counts,
        k or int(chance.integers(1, max(2, n // 2))),
        alpha,
        capped=[bool(chance.integers(2)) for _ in range(m)],
        both=bool(chance.integers(2)),
        minimize_excess=True,
    )
    return points, value, caps


# Caps


@pytest.mark.parametrize(
    ("counts", "clusters", "least"),
    [
        ([141, 59], 20, Fraction(160, 141)),
        ([59], 20, Fraction(60, 59)),
        ([100], 10, Fraction(1)),
        ([7], 3, Fraction(9, 7)),
        ([100, 1], 20, Fraction(20)),
        ([], 20, None),
    ],
)
def test_the_least_alpha_is_exact(counts, clusters, least):
    assert least_alpha(counts, clusters) == least


def test_alphas_just_below_and_at_the_least():
    counts, least = [141, 59], Fraction(60, 59)
    assert make_caps(counts, 10, least, capped=[False, True]).upper[1] == 3
    with pytest.raises(UnreachableError, match="60/59"):
        make_caps(counts, 10, least - Fraction(1, 10**12), capped=[False, True])


@pytest.mark.parametrize("count", range(1, 60))
def test_an_alpha_that_is_named_is_accepted(count):
    """LeastCounts of floats would reject some of them."""
    with pytest.raises(UnreachableError) as refused:
        make_caps([60 - count, count], 7, Fraction(1, 2), capped=[False, True])
    named = refused.value.remedy.split("'alpha: ")[1].split("'")[0]
    caps = make_caps([60 - count, count], 7, Fraction(named), capped=[False, True])
    assert caps.upper[1] == -(-count // 8)


def test_an_excess_that_is_allowed_is_the_least_there_can_be():
    chance = np.random.default_rng(1)
    for _ in range(50):
        n, c = int(chance.integers(4, 30)), int(chance.integers(1, 5))
        count = int(chance.integers(1, n + 1))
        if n < c:
            continue
        caps = make_caps([n - count, count], n // c, Fraction(1, 2), capped=[False, True], minimize_excess=True)
        cap = int(Fraction(1, 2) * Fraction(count, caps.clusters))
        spreads = itertools.product(range(caps.largest + 1), repeat=caps.clusters) if caps.clusters <= 4 else ()
        excesses = [sum(max(0, s - cap) for s in spread) for spread in spreads if sum(spread) == count]
        if excesses:
            assert caps.excess == min(excesses)


def test_more_than_there_are_is_unreachable():
    with pytest.raises(UnreachableError, match="only 9"):
        even_caps(9, 10)


@pytest.mark.parametrize(("units", "k"), [(19, 10), (205, 10), (30, 10), (31, 30), (7, 1)])
def test_sizes_are_even_and_at_least_k(units, k):
    caps = even_caps(units, k)
    assert caps.clusters == units // k
    assert k <= caps.smallest <= caps.largest <= caps.smallest + 1
    assert caps.smallest * caps.clusters <= units <= caps.largest * caps.clusters


def test_values_that_no_cap_can_bind_become_one():
    values = np.array([0, 0, 1, 2, 3, 3, 3], dtype=np.int32)
    caps = Caps(3, 2, 3, np.array([0, 0, 0, 1]), np.array([2, 1, 1, 2]))
    codes, merged = merge_free(values, caps)
    assert codes.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert merged.upper.tolist() == [2, 3]


# Halving


def test_halves_keep_every_cap():
    chance = np.random.default_rng(2)
    for _ in range(200):
        points, values, caps = instance(chance)
        assert keeps(halve(points, values, caps, Run()), values, caps)


def test_halves_are_neighbours():
    points = make_points(np.arange(16.0)[::-1, None])
    cluster = halve(points, np.zeros(16, np.int32), even_caps(16, 4), Run())
    assert cluster.tolist() == [3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0]


# Centers


def test_medians_cost_least():
    """No other center of numbers, and no other category, is nearer to the records of a cluster."""
    chance = np.random.default_rng(3)
    for _ in range(50):
        points, _, caps = instance(chance)
        cluster = chance.integers(0, caps.clusters, len(points)).astype(np.int32)
        centers = medians(points, cluster, caps.clusters)
        best = cost(points, centers, cluster)
        for _ in range(20):
            moved = Points(
                centers.numbers + chance.normal(size=centers.numbers.shape) * 0.3,
                chance.integers(-1, 3, centers.categories.shape).astype(np.int32),
                points.scales,
            )
            assert best <= cost(points, moved, cluster) + 1e-9


def test_categories_are_one_hot_points():
    chance = np.random.default_rng(4)
    points, _, _ = instance(chance, records=30)
    while not points.categories.shape[1]:
        points, _, _ = instance(chance, records=30)
    centers = medians(points, np.arange(30, dtype=np.int32) // 6, 5)

    def one_hot(part):
        hot = (part.categories[:, :, None] == np.arange(3)).astype(float) * points.scales[None, :, None] / 2
        return np.hstack([part.numbers, hot.reshape(len(part.numbers), -1)])

    expected = np.abs(one_hot(points)[:, None] - one_hot(centers)[None]).sum(axis=2)
    assert np.allclose(all_distances(points, centers), expected)


# The optimum


def test_the_flow_finds_the_optimum_of_the_mixed_integer_program():
    """On hundreds of random instances, proved by its own dual bound, within what rounding can add."""
    chance, sizes = np.random.default_rng(5), set()
    with Solvers() as solvers:
        for _ in range(300):
            points, values, caps = instance(chance)
            start = halve(points, values, caps, Run())
            centers = medians(points, start, caps.clusters)
            found = assign(points, values, centers, caps, start, solvers, Run())
            answer = worker.solve_milp(
                all_distances(points, centers), values, caps.lower, caps.upper, np.array([caps.smallest, caps.largest])
            )
            allowed = unit_of(points) * len(points) + 1e-9
            assert found.cost == pytest.approx(cost(points, centers, answer["cluster"]), abs=allowed)
            assert keeps(found.cluster, values, caps)
            assert keeps(answer["cluster"], values, caps)
            assert found.bound <= found.cost + 1e-9
            assert found.gap <= 3 * allowed
            sizes.add(caps.clusters)
    assert len(sizes) > 10


def test_arcs_are_added_until_the_optimum_is_proved(monkeypatch):
    """With almost no arcs to begin with, and one more at a time."""
    monkeypatch.setattr(assigning, "_FIRST", 1)
    monkeypatch.setattr(assigning, "_MORE", 1)
    chance = np.random.default_rng(6)
    with Solvers() as solvers:
        for _ in range(20):
            points, values, caps = instance(chance, records=60, k=4)
            start = halve(points, values, caps, Run())
            centers = medians(points, start, caps.clusters)
            found = assign(points, values, centers, caps, start, solvers, Run())
            answer = worker.solve_milp(
                all_distances(points, centers), values, caps.lower, caps.upper, np.array([caps.smallest, caps.largest])
            )
            assert found.cost == pytest.approx(cost(points, centers, answer["cluster"]), abs=1e-6)
            assert found.gap < 1e-6


@given(st.integers(0, 10_000))
def test_no_prices_prove_more_than_the_optimum(seed):
    """Weak duality: whatever the prices are, the bound is one."""
    chance = np.random.default_rng(seed)
    points, values, caps = instance(chance)
    start = halve(points, values, caps, Run())
    centers = medians(points, start, caps.clusters)
    of_cluster = chance.normal(size=caps.clusters)
    prices = Prices(of_cluster + chance.normal(size=(len(caps.upper), caps.clusters)), of_cluster)
    paid = all_distances(points, centers) + prices.of_value[values]
    bound = paid.min(axis=1).sum() - prices.paid(caps, len(points))
    assert bound <= cost(points, centers, start) + 1e-9


def test_caps_never_lower_the_cost():
    chance = np.random.default_rng(14)
    with Solvers() as solvers:
        for _ in range(30):
            points, values, caps = instance(chance)
            start = halve(points, values, caps, Run())
            centers = medians(points, start, caps.clusters)
            free = even_caps(len(points), caps.smallest, len(caps.upper))
            capped = assign(points, values, centers, caps, start, solvers, Run())
            if free.clusters == caps.clusters:
                plain = assign(points, values, centers, free, start, solvers, Run())
                assert plain.cost <= capped.cost + 1e-6


def test_prices_of_another_place_still_lead_to_the_optimum():
    chance = np.random.default_rng(7)
    with Solvers() as solvers:
        points, values, caps = instance(chance, records=300, k=5)
        start = halve(points, values, caps, Run())
        centers = medians(points, start, caps.clusters)
        plain = assign(points, values, centers, caps, start, solvers, Run())
        strange = chance.normal(size=caps.clusters)
        prices = Prices(strange + chance.normal(size=(len(caps.upper), caps.clusters)), strange)
        priced = assign(points, values, centers, caps, start, solvers, Run(), prices=prices)
    assert priced.cost == pytest.approx(plain.cost, abs=1e-6)
    assert priced.gap < 1e-6


def test_many_values_need_few_flows():
    """A cap on a value that a cluster does not hold has no price, whoever asks for it."""
    chance = np.random.default_rng(15)
    points, values = make_points(chance.normal(size=(600, 3))), chance.integers(0, 200, 600).astype(np.int32)
    caps = make_caps(np.bincount(values, minlength=200).tolist(), 3, None, capped=[True] * 200)
    start = halve(points, values, caps, Run())
    with Solvers() as solvers:
        found = assign(points, values, medians(points, start, caps.clusters), caps, start, solvers, Run())
    assert found.gap < 1e-6
    assert found.flows <= 15


def test_it_ends_where_the_bound_is_near_enough():
    chance = np.random.default_rng(8)
    points, values, caps = instance(chance, records=400, k=4, values=2)
    start = halve(points, values, caps, Run())
    centers = medians(points, start, caps.clusters)
    with Solvers() as solvers:
        exact = assign(points, values, centers, caps, start, solvers, Run())
        rough = assign(points, values, centers, caps, start, solvers, Run(), enough=0.5)
    assert rough.flows <= exact.flows
    assert rough.gap <= 0.5 * rough.cost
    assert rough.bound <= exact.cost + 1e-6


# Rounds


@given(st.integers(0, 10_000))
def test_no_round_raises_the_cost(seed):
    points, values, caps = instance(np.random.default_rng(seed))
    start = halve(points, values, caps, Run())
    with Solvers() as solvers:
        found = alternate(points, values, caps, medians(points, start, caps.clusters), start, 20, solvers, Run())
    assert all(later <= earlier for earlier, later in itertools.pairwise(found.costs))
    assert keeps(found.cluster, values, caps)
    assert found.cost == pytest.approx(cost(points, found.centers, found.cluster))


def test_blocks_keep_the_caps_and_a_whole_assignment_ends_them():
    chance = np.random.default_rng(9)
    numbers = chance.normal(size=(3000, 3))
    values = (numbers[:, 0] + chance.normal(size=3000) > 0.5).astype(np.int32)
    points = make_points(numbers)
    caps = make_caps(np.bincount(values).tolist(), 5, None, capped=[True, True], both=True)
    with Solvers() as solvers:
        whole = cluster_points(points, values, caps, Effort(5, 1, 1000, 10_000), solvers, Run(chance))
        blocks = cluster_points(points, values, caps, Effort(5, 1, 1000, 2000), solvers, Run(chance))
    for found in (whole, blocks):
        assert keeps(found.cluster, values, caps)
        assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(found.costs))
    assert whole.gap is not None
    assert whole.gap <= 1e-4 * whole.cost
    assert blocks.gap is None
    assert blocks.measured_gap is not None
    assert 0 <= blocks.measured_gap < 0.5
    assert whole.cost < blocks.cost


def test_identical_records_are_spread_at_no_cost():
    points, values, caps = instance(np.random.default_rng(10), records=50, k=5, values=2, same=True)
    with Solvers() as solvers:
        found = cluster_points(points, values, caps, Effort(), solvers, Run())
    assert found.cost == 0.0
    assert keeps(found.cluster, values, caps)


# Solvers


def test_a_process_of_its_own_gives_the_same_answers(monkeypatch):
    monkeypatch.setattr(assigning, "_SMALL", 0)
    points, values, caps = instance(np.random.default_rng(11), records=200, k=5)
    start = halve(points, values, caps, Run())
    centers = medians(points, start, caps.clusters)
    with Solvers() as solvers:
        found = assign(points, values, centers, caps, start, solvers, Run())
        by_milp = assign_by_milp(points, values, centers, caps, solvers, Run(), "Assigning")
    assert found.cost == pytest.approx(by_milp.cost, abs=1e-6)


def test_a_run_can_be_stopped_while_a_solver_works(monkeypatch):
    """The solver holds on to nothing: its process is ended."""
    monkeypatch.setattr(assigning, "_SMALL", 0)
    begun = []

    def listener(event):
        begun.append(time.monotonic())

    chance = np.random.default_rng(12)
    n, c = 20_000, 100
    tail = np.repeat(np.arange(n), c).astype(np.int32)
    head = (n + np.tile(np.arange(c), n)).astype(np.int32)
    job = {
        "tail": tail,
        "head": head,
        "capacity": np.ones(n * c, dtype=np.int64),
        "cost": chance.integers(0, 2**40, n * c),
        "supply": np.concatenate([np.ones(n), np.full(c, -n // c)]).astype(np.int64),
    }
    run = Run(listener=listener, cancelled=lambda: bool(begun) and time.monotonic() > begun[0] + 0.1)
    with Solvers() as solvers, pytest.raises(CancelledError):
        solvers.flow(run, "Assigning", **job)
    assert time.monotonic() < begun[0] + 5
    assert solvers._process is None


def test_what_cannot_be_solved_is_told_from_what_failed(monkeypatch):
    monkeypatch.setattr(assigning, "_SMALL", 0)
    one = np.array([0], dtype=np.int32)
    impossible = {
        "tail": one,
        "head": one + 1,
        "capacity": np.array([1]),
        "cost": np.array([1]),
        "supply": np.array([2, -2]),
    }
    with Solvers() as solvers, pytest.raises(MedveilError, match="no solution"):
        solvers.flow(Run(), "Assigning", **impossible)
    with Solvers() as solvers, pytest.raises(MedveilError, match="ended before"):
        solvers.flow(Run(), "Assigning", **(impossible | {"unknown": one}))


def test_missing_solvers_are_named(monkeypatch):
    def absent():
        raise ImportError

    monkeypatch.setattr(assigning, "_load_ortools", absent)
    with Solvers() as solvers, pytest.raises(MedveilError, match=r"medveil\[optimization\]"):
        solvers.flow(Run(), "Assigning", tail=np.zeros(1, np.int32))


def test_blocks_are_made_elsewhere_each_time():
    chance = np.random.default_rng(13)
    points = make_points(chance.normal(size=(400, 3)))
    cluster = np.arange(400, dtype=np.int32) // 4
    centers = medians(points, cluster, 100)
    first, second = (list(rounds._neighbourhoods(centers, cluster, 30, Run(chance))) for _ in range(2))
    for blocks in (first, second):
        assert sorted(np.concatenate([block.clusters for block in blocks])) == list(range(100))
        for block in blocks:
            assert np.array_equal(block.clusters[block.cluster], cluster[block.records])
    assert [set(b.clusters) for b in first] != [set(b.clusters) for b in second]
