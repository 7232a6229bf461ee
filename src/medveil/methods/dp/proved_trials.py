"""What an audit tries of IPA as proved: the whole on small tables, and each step where its ratio is largest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_proved import Mechanism, StrataPlan
from medveil.methods.dp.ipa_score import node_losses
from medveil.methods.dp.trials import CROWD, cell_trials, group_for, small_grid, table_on, two_leaves
from medveil.methods.privacy_trial import Draw, Integers, PrivacyTrial

DIMENSIONS = 12
"""Of two leaves each, which makes 4,096 classes: so many that thresholds move with the number of records."""
MOST_PEOPLE = 1 << 20


def proved_trials(mechanism: Mechanism, epsilon: float, runs: int) -> list[PrivacyTrial]:
    """The whole on small tables, and each part of the budget where its ratio is largest."""
    records, cells = mechanism.records, mechanism.epsilon["cells"]
    threshold = mechanism.threshold(4, 0.0)
    return [
        *whole_trials(mechanism, epsilon, runs),
        *strata_trials(mechanism, runs),
        node_trial(mechanism, 10 * runs),
        *cell_trials("cells", cells, mechanism.publish_cells, threshold, records, 20 * runs),
        empty_stratum_trial(mechanism, 2 * runs),
        total_trial(mechanism, 20 * runs),
        marginal_trial(mechanism, 20 * runs),
    ]


def whole_trials(mechanism: Mechanism, epsilon: float, runs: int) -> list[PrivacyTrial]:
    """Everything that is published, on tables that differ in one person."""
    grid, records = mechanism.grid, mechanism.records
    threshold = mechanism.threshold(grid.cells(grid.space.bottom), 0.0)
    edge = math.ceil(2 * mechanism.total_noise.scale)
    crowd = (0, 0, CROWD)
    scenarios = {
        "a planted rare record": ([crowd], [crowd, (0, 1, records)]),
        "a cell at the threshold": (
            [crowd, (0, 1, max(threshold - records, 0))],
            [crowd, (0, 1, max(threshold, records))],
        ),
        "a small domain without records": ([], [(0, 0, records)]),
        "the totals of *": ([crowd, (1, 1, 1)], [crowd, (1, 1, 1 + records)]),
        "a total between two strata": (
            [crowd, (0, 1, max(edge - records, 0))],
            [crowd, (0, 1, max(edge, records))],
        ),
    }
    return [
        PrivacyTrial(
            "whole",
            scenario,
            epsilon,
            mechanism.delta,
            outcome_features(grid),
            outcomes(mechanism, table_on(grid, without)),
            outcomes(mechanism, table_on(grid, with_)),
            runs,
        )
        for scenario, (without, with_) in scenarios.items()
    ]


def outcome_features(grid: Grid) -> tuple[str, ...]:
    each = [
        f"{what} of value {value}"
        for value in range(grid.values)
        for what in (
            "rows of *",
            "the level",
            "the threshold",
            "the stratum's values",
            "rows of a",
            "rows of b",
            "rows",
        )
    ]
    return ("all rows", "strata", "the marginal of a", "the marginal of b", *each)


def outcomes(mechanism: Mechanism, table: Table) -> Draw:
    """Runs of the whole mechanism on one table: one feature is -1 where its value was not released."""
    values = mechanism.grid.values

    def draw(runs: int) -> Integers:
        found = np.full((runs, 4 + 7 * values), -1, dtype=np.int64)
        for run in found:
            outcome = mechanism.draw(table)
            run[0] = sum(int(part.counts.sum()) for part in outcome.parts) + outcome.stars.sum()
            run[1] = len(outcome.parts)
            run[2:4] = outcome.marginals[0]
            features = run[4:].reshape(values, 7)
            features[outcome.values, 0] = outcome.stars
            for part in outcome.parts:
                (level,) = part.levels
                features[part.values, 1:] = level, part.threshold, len(part.values), 0, 0, 0
                place = 6 if level else 4
                for value, group, rows in zip(part.informative, part.classes, part.counts, strict=True):
                    features[value, place + (0 if level else group)] = rows
        return found

    return draw


def strata_trials(mechanism: Mechanism, runs: int) -> list[PrivacyTrial]:
    """What steps A and B decide: the strata where a total lies between two of them, and thresholds where the number of
    records is one at which they change. They spend the totals' part alone.
    """
    epsilon = mechanism.epsilon["totals"]
    group = group_for(epsilon)
    more = group * mechanism.records

    def features(tried: Mechanism, table: Table) -> Draw:
        def draw(runs: int) -> Integers:
            found = np.zeros((runs, 3), dtype=np.int64)
            for run in found:
                plan = tried.plan(table)
                run[0], run[1] = len(plan.strata), plan.stratum_of[0]
                thresholds = tried.thresholds(plan, tried.grid.space.bottom)
                run[2] = thresholds[plan.stratum_of[0]] if plan.stratum_of[0] >= 0 else -1
            return found

        return draw

    def trial(scenario: str, tried: Mechanism, count: int) -> PrivacyTrial:
        without, with_ = (_one_cell(tried.grid, records) for records in (count, count + more))
        names = ("strata", "the stratum of a value", "its threshold")
        draws = features(tried, without), features(tried, with_)
        return PrivacyTrial("totals", scenario, epsilon, mechanism.delta, names, *draws, runs, group)

    edge = math.ceil(2 * mechanism.total_noise.scale)
    trials = [trial("a total between two strata", mechanism, max(edge - more, 0))]
    wide = replace(
        mechanism, grid=Grid(Space.of([two_leaves()] * DIMENSIONS), 1), weights=(), numbers=(), informative=()
    )
    people = _where_the_threshold_changes(wide, more)
    if people is not None:
        trials.append(trial("as many records as change a threshold", wide, people))
    return trials


def _one_cell(grid: Grid, records: int) -> Table:
    """So many records, all the same, of the first informative value."""
    cells = min(records, 1)
    codes = np.zeros((len(grid.space), cells), dtype=np.int32)
    return grid.base(codes, np.zeros(cells, dtype=np.int32), np.full(cells, records, dtype=np.int64))


def _where_the_threshold_changes(mechanism: Mechanism, more: int) -> int | None:
    """A number of records n for which n and n + more have different thresholds; None where there is none."""
    cells = mechanism.grid.cells(mechanism.grid.space.bottom)
    people = max(mechanism.value_threshold if mechanism.delta else 0, CROWD)
    while people < MOST_PEOPLE:
        following = people + more
        if mechanism.threshold(cells, people) != mechanism.threshold(cells, following):
            return people
        people = following if people < 64 * more else 2 * people
        # Between powers of two the change is found by halving.
        if mechanism.threshold(cells, people) != mechanism.threshold(cells, following):
            low, high = following, people
            while high - low > more:
                middle = (low + high) // 2
                same = mechanism.threshold(cells, middle) == mechanism.threshold(cells, low)
                low, high = (middle, high) if same else (low, middle)
            return low
    return None


def planned(mechanism: Mechanism, totals: Sequence[int]) -> StrataPlan:
    """A plan as if steps A and B had found these totals, in one stratum."""
    values = np.arange(len(totals), dtype=np.int32)
    noisy = np.array(totals, dtype=np.int64)
    groups = len(mechanism.grid.hierarchies[0].levels[0].labels)
    marginals = (np.ones(groups, dtype=np.int64),)
    return StrataPlan(values, noisy.astype(np.float64), (noisy,), marginals, (np.arange(len(totals)),), len(totals))


def node_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """The choice of a node where one record makes one node better and the other worse.

    A cell at its threshold T loses T records at both levels; every further record there makes the lower level better
    by one and the upper one worse by one, as long as it stays below 2T - b.
    """
    epsilon = mechanism.epsilon["node"]
    group = group_for(epsilon)
    more = group * mechanism.records
    small = replace(mechanism, grid=small_grid(2), informative=())
    plan = planned(small, [CROWD, 0])
    scoring = small.scoring(plan)
    threshold = more + scoring.noise + 1
    scoring = replace(scoring, thresholds=lambda _: np.array([threshold], dtype=np.int64))
    tables = [table_on(small.grid, [(0, 0, threshold + extra)]) for extra in (0, more)]

    def draw(table: Table) -> Draw:
        losses = node_losses(small.grid, table, [scoring])[0]
        return lambda runs: np.array([small.choose(plan, losses)[0] for _ in range(runs)], dtype=np.int64)

    scenario = "records that move two nodes apart"
    without, with_ = (draw(table) for table in tables)
    return PrivacyTrial("node", scenario, epsilon, 0.0, ("the level",), without, with_, runs, group)


def empty_stratum_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """A stratum that nobody is in, against one that somebody is in: both are published by the same rule."""
    epsilon = mechanism.epsilon["cells"]
    group = group_for(epsilon)
    small = replace(mechanism, grid=small_grid(1), informative=())
    plan = planned(small, [0])

    def draw(records: int) -> Draw:
        table = table_on(small.grid, [(0, 0, records)])

        def many(runs: int) -> Integers:
            parts = (small.drawn(table, plan, [small.grid.space.bottom]) for _ in range(runs))
            return np.array([[sum(int(part.counts.sum()) for part in drawn)] for drawn in parts], dtype=np.int64)

        return many

    more = group * mechanism.records
    scenario = "a stratum without records"
    return PrivacyTrial("cells", scenario, epsilon, 0.0, ("rows of the stratum",), draw(0), draw(more), runs, group)


def total_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """The noisy totals: as many informative values as runs, each with so many records or `records` more.

    With several informative attributes a record is in a total of each: the least of them is looked at.
    """
    epsilon = mechanism.epsilon["totals"]
    group = group_for(epsilon)
    more = group * mechanism.records
    least = mechanism.value_threshold if mechanism.delta else CROWD + more

    def noisy(counts: list[Integers]) -> list[Integers]:
        found = mechanism.noisy_totals(counts)
        if mechanism.delta:
            found = [np.where(np.isin(np.arange(len(one)), mechanism.released(one)), one, -1) for one in found]
        return found

    return _least_of_several(
        "totals", "the total of an informative value", epsilon, mechanism.delta, noisy, len(mechanism.sizes),
        (least - more, least), runs, group,
    )  # fmt: skip


def marginal_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """The noisy marginals of two dimensions, in both of which a record is counted."""
    epsilon = mechanism.epsilon["marginals"]
    group = group_for(epsilon)
    more = group * mechanism.records
    space = small_grid(1).space
    two = replace(mechanism, grid=Grid(Space.of([*space.hierarchies, *space.hierarchies]), 1), weights=(), numbers=())
    scenario = "the marginals of two dimensions"
    counts = (CROWD, CROWD + more)
    return _least_of_several("marginals", scenario, epsilon, 0.0, two.noisy_marginals, 2, counts, runs, group)


def _least_of_several(
    part: str,
    scenario: str,
    epsilon: float,
    delta: float,
    noisy: Callable[[list[Integers]], Sequence[Integers]],
    vectors: int,
    counts: tuple[int, int],
    runs: int,
    group: int,
) -> PrivacyTrial:
    """Several vectors of noisy counts, all of which a record changes: that all are large shows it best."""

    def draw(count: int) -> Draw:
        def many(runs: int) -> Integers:
            found = noisy([np.full(runs, count, dtype=np.int64) for _ in range(vectors)])
            least: Integers = np.min(np.stack(list(found)), axis=0)
            return least[:, None]

        return many

    names = ("the least noisy count",)
    return PrivacyTrial(part, scenario, epsilon, delta, names, draw(counts[0]), draw(counts[1]), runs, group)
