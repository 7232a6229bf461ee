"""The audit catches what is broken and leaves alone what is not.

Broken forms exist here only: no policy, option or switch of the program can ask for them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from medveil.errors import PolicyError
from medveil.methods.dp.budget import SHARES, proved_parts
from medveil.methods.dp.histogram import DPHistogram
from medveil.methods.dp.ipa import InformativePreserving
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.proved_trials import proved_trials
from medveil.methods.dp.sampling import DPSampling
from medveil.methods.dp.trials import small_grid
from medveil.methods.optimal import Optimal
from medveil.methods.privacy_trial import PrivacyTrial
from medveil.privacy.integer_noise import GeometricNoise, Selection
from medveil.privacy.model import Spending
from medveil.risk.dp_audit import binomial_bounds, lower_bound, refuse_unauditable, run_audit, try_out

RUNS = 400
EPSILON = 1.0


class HalvedNode(Mechanism):
    @property
    def selection(self):
        return Selection(self.records * 1024, 2 * self.epsilon["node"])


class HalvedCells(Mechanism):
    @property
    def cell_noise(self):
        return _noise(self.records, 2 * self.epsilon["cells"])


class HalvedTotals(Mechanism):
    @property
    def total_noise(self):
        return _noise(self.records, 2 * self.epsilon["totals"])


class ThresholdOnTrueCounts(Mechanism):
    def publish_cells(self, size, threshold, keys, counts):  # noqa: ARG002
        large = counts >= threshold
        return keys[large], np.maximum(self.cell_noise.add(counts[large]), 1)


class DomainOfTheData(Mechanism):
    def publish_cells(self, size, threshold, keys, counts):  # noqa: ARG002
        noisy = self.cell_noise.add(counts)
        order = np.argsort(keys[noisy >= threshold])
        return keys[noisy >= threshold][order], noisy[noisy >= threshold][order]


class StrataByExactTotals(Mechanism):
    def plan(self, table):
        plan = super().plan(table)
        return replace(plan, strata=self.cut(self.estimated_totals(self.totals(table))[plan.values]))


class CellsForOneRecord(Mechanism):
    @property
    def cell_noise(self):
        return _noise(1, self.epsilon["cells"])


class SelectionForOneRecord(Mechanism):
    @property
    def selection(self):
        return Selection(1024, self.epsilon["node"])


class TotalsForOneRecord(Mechanism):
    @property
    def total_noise(self):
        return _noise(1, self.epsilon["totals"])


class MarginalsForOneDimension(Mechanism):
    @property
    def marginal_noise(self):
        return _noise(self.records, self.epsilon["marginals"])


class EmptyStratumSkipped(Mechanism):
    def drawn(self, table, plan, nodes):
        return [
            self.publish(plan, stratum, self.grid.at(plan.within(table, stratum), levels))
            for stratum, levels in enumerate(nodes)
            if len(plan.within(table, stratum))
        ]


class ThresholdByExactPeople(Mechanism):
    """`false_cells` from the exact number of people in a stratum."""

    def plan(self, table):
        plan = super().plan(table)
        exact = np.bincount(table.values, table.counts, minlength=self.grid.values)[plan.values]
        return replace(plan, totals=exact.astype(np.float64))


NOISES: dict[tuple[int, float], GeometricNoise] = {}


def _noise(records, epsilon):
    return NOISES.setdefault((records, epsilon), GeometricNoise(records, epsilon))


def audited(kind, records=1, part=None, scenario=None, runs=RUNS):
    """The audit of a mechanism; of some trials alone where they are told, at the confidence of the whole audit."""
    mechanism = kind(small_grid(2), proved_parts(EPSILON, SHARES), records)
    trials = proved_trials(mechanism, EPSILON, runs)
    tried = [trial for trial in trials if part in {None, trial.part} and scenario in {None, trial.scenario}]
    return run_audit(tried, EPSILON, 0.0, confidence=1 - 0.001 * len(tried) / len(trials))


@pytest.mark.parametrize(
    ("broken", "part"),
    [
        (HalvedNode, "node"),
        (HalvedCells, "cells"),
        (HalvedTotals, "totals"),
        (ThresholdOnTrueCounts, "cells"),
        (DomainOfTheData, "cells"),
        (StrataByExactTotals, "totals"),
        (MarginalsForOneDimension, "marginals"),
        (EmptyStratumSkipped, "cells"),
        (ThresholdByExactPeople, "totals"),
    ],
)
def test_each_broken_form_is_caught(broken, part):
    assert audited(broken, part=part).caught


@pytest.mark.parametrize(
    ("broken", "part"), [(CellsForOneRecord, "cells"), (SelectionForOneRecord, "node"), (TotalsForOneRecord, "totals")]
)
def test_what_is_scaled_for_one_record_is_caught_where_a_person_has_three(broken, part):
    assert audited(broken, records=3, part=part).caught
    assert not audited(broken, records=1, part=part).caught


@pytest.mark.parametrize(
    ("broken", "scenario"),
    [(ThresholdOnTrueCounts, "a cell at the threshold"), (DomainOfTheData, "a planted rare record")],
)
def test_leaks_without_bound_show_in_the_whole_too(broken, scenario):
    assert audited(broken, part="whole", scenario=scenario, runs=1_000).caught


@pytest.mark.parametrize("records", [1, 3])
def test_the_proved_form_stays_below(records):
    found = audited(Mechanism, records)
    assert not found.caught
    assert math.isclose(found.confidence, 0.999)
    assert found.lower_bound < EPSILON
    # The trials are where the ratio is largest, so that the bounds are near the claims.
    every = {*SHARES, "marginals"}
    best = {part: max(t.lower_bound / t.claimed for t in found.trials if t.part == part) for part in every}
    assert min(best.values()) > 0.4, best


@pytest.mark.parametrize("epsilon", [0.1, EPSILON, 6.0])
def test_the_published_form_is_caught_within_a_minute(epsilon):
    spending = Spending(epsilon=epsilon)
    method = InformativePreserving(guarantee="published")
    found = run_audit(method.privacy_trials(spending, RUNS, declared=True), epsilon, 0.0, guarantee=method.guaranteed)
    assert found.caught
    assert found.lower_bound > max(1.5, epsilon)
    assert not found.guarantee
    assert found.seconds < 60


@pytest.mark.parametrize(
    ("method", "delta"), [(DPHistogram(), 0.0), (DPSampling(), 1e-5), (InformativePreserving(), 1e-4)]
)
def test_other_proved_methods_stay_below(method, delta):
    spending = Spending(epsilon=EPSILON, delta=delta)
    found = run_audit(method.privacy_trials(spending, RUNS // 2, declared=not delta), EPSILON, delta)
    assert not found.caught
    assert found.trials


def test_sampling_without_a_least_size_is_caught():
    """Publishing every sampled cell, whatever its size, shows who was drawn."""
    spending = Spending(epsilon=EPSILON, delta=1e-5)
    sampling = replace(DPSampling().sampling(spending), k=1)
    trial = PrivacyTrial(
        "sampling",
        "one record",
        EPSILON,
        1e-5,
        ("rows",),
        lambda runs: sampling.sampled(np.zeros(runs, dtype=np.int64))[:, None],
        lambda runs: sampling.sampled(np.ones(runs, dtype=np.int64))[:, None],
        RUNS,
    )
    assert try_out(trial, 0.001).caught


@pytest.mark.parametrize("epsilon", [1e-9, 100.0])
def test_an_epsilon_that_no_number_of_runs_can_show_is_a_clear_error(epsilon):
    with pytest.raises(PolicyError, match="cannot be audited"):
        refuse_unauditable(epsilon)


def test_methods_without_a_claim_have_nothing_to_audit():
    with pytest.raises(PolicyError, match="claims no differential privacy"):
        Optimal().privacy_trials(Spending(epsilon=1), RUNS, declared=True)


@pytest.mark.parametrize(("events", "runs"), [(0, 50), (50, 50), (1, 50), (25, 50), (3_000, 10_000)])
def test_bounds_are_those_of_clopper_and_pearson(events, runs):
    low, high = binomial_bounds(events, runs, 0.0005)
    known = stats.binomtest(events, runs).proportion_ci(0.999, method="exact")
    assert math.isclose(low, known.low, rel_tol=1e-6, abs_tol=1e-9)
    assert math.isclose(high, known.high, rel_tol=1e-6)


def test_a_lower_bound_is_seldom_wrong():
    """Many audits of a mechanism with epsilon 1 exactly: at an error of 5 %, few bounds lie above it, but some do
    where less caution is taken.
    """
    chance, runs, audits = np.random.default_rng(5), 100, 400
    likely, unlikely = chance.binomial(runs, 0.6, audits), chance.binomial(runs, 0.6 / math.e, audits)
    pairs = list(zip(likely.tolist(), unlikely.tolist(), strict=True))
    assert np.mean([lower_bound(a, b, runs, 0.0, 0.05) > 1.0 for a, b in pairs]) < 0.05
    assert np.mean([lower_bound(a, b, runs, 0.0, 0.9) > 1.0 for a, b in pairs]) > 0.05


def test_delta_and_groups_are_allowed_for():
    trial = PrivacyTrial(
        "whole", "", 0.5, 0.01, ("x",), lambda n: np.zeros((n, 1)), lambda n: np.zeros((n, 1)), 10, group=3
    )
    assert math.isclose(trial.group_delta, 0.01 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert lower_bound(5, 0, 1000, 0.05, 0.01) == 0.0
    assert lower_bound(900, 10, 1000, 0.05, 0.01) < lower_bound(900, 10, 1000, 0.0, 0.01)


def test_runs_that_tell_nothing_apart_give_no_bound():
    same = np.random.default_rng(1)
    trial = PrivacyTrial(
        "whole",
        "the same table twice",
        1.0,
        0.0,
        ("x",),
        lambda runs: same.integers(0, 5, (runs, 1)),
        lambda runs: same.integers(0, 5, (runs, 1)),
        2_000,
    )
    assert try_out(trial, 0.001).lower_bound < 0.2
