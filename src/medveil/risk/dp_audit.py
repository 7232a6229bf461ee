"""An audit of differential privacy: many runs on two neighbouring tables, and an event that tells them apart.

If a mechanism A is (epsilon, delta)-differentially private then for all neighbouring tables D, D' and all events S

    epsilon >= ln((P[A(D) in S] - delta) / P[A(D') in S]).

Half of the runs serve to find the event S, the other half to bound both probabilities (Clopper and Pearson 1934), so
that the lower bound for epsilon holds with the stated confidence whatever was searched. A bound above the claim
refutes the claim; one below it proves nothing, but a search that finds planted faults and finds nothing else is worth
something (Jagielski, Ullman and Oprea 2020, Auditing differentially private machine learning).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from medveil.errors import PolicyError
from medveil.methods.privacy_trial import Integers, PrivacyTrial
from medveil.privacy.binomial import binomial_tail

LEAST_EPSILON, MOST_EPSILON = 1e-4, 20.0
Event = tuple[int, str, int]
"""A feature, one of `=`, `<=` and `>=`, and a value."""

SEARCH_CAUTION = 3.3
"""How many standard errors events are marked down by while one is searched for: about what its bound will lose."""


@dataclass(frozen=True)
class TrialResult:
    """What one trial showed: a lower bound for epsilon at the confidence of the audit, and the event behind it."""

    part: str
    scenario: str
    claimed: float
    lower_bound: float
    caught: bool
    event: str
    runs: int


@dataclass(frozen=True)
class PrivacyAudit:
    """What all trials showed together: with probability `confidence` every lower bound holds.

    claimed: the epsilon of the policy. caught: some trial's lower bound is above what it claims.
    """

    claimed: float
    delta: float
    lower_bound: float
    confidence: float
    caught: bool
    guarantee: bool
    trials: tuple[TrialResult, ...]
    seconds: float


def refuse_unauditable(epsilon: float) -> None:
    """Runs cannot show how much a very small or very large epsilon differs from another."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise PolicyError(
            f"An epsilon of {epsilon:g} cannot be audited by running a method.",
            f"Ask for one from {LEAST_EPSILON:g} to {MOST_EPSILON:g}.",
        )


def run_audit(
    trials: Sequence[PrivacyTrial],
    claimed: float,
    delta: float,
    *,
    guarantee: bool = True,
    confidence: float = 0.999,
    step: Callable[[float], None] = lambda _: None,
) -> PrivacyAudit:
    """Try everything. The chance of error is divided among the trials, so that it holds for all of them at once."""
    started = time.perf_counter()
    error = (1 - confidence) / max(len(trials), 1)
    found = []
    for number, trial in enumerate(trials):
        step(number / len(trials))
        found.append(try_out(trial, error))
    whole = [one.lower_bound for one in found if one.part == "whole"] or [one.lower_bound for one in found]
    return PrivacyAudit(
        claimed=claimed,
        delta=delta,
        lower_bound=max(whole, default=0.0),
        confidence=confidence,
        caught=any(one.caught for one in found),
        guarantee=guarantee,
        trials=tuple(found),
        seconds=round(time.perf_counter() - started, 2),
    )


def try_out(trial: PrivacyTrial, error: float) -> TrialResult:
    """One trial: search on half of the runs, bound on the other half."""
    half = trial.runs // 2
    search = trial.without(half), trial.with_(half)
    best, swapped = _search(*search, trial.group_delta)
    test = trial.without(half), trial.with_(half)
    first, second = (test[1], test[0]) if swapped else test
    counts = _count(first, best), _count(second, best)
    bound = lower_bound(*counts, half, trial.group_delta, error) / trial.group
    feature, sign, value = best
    more = "with the person" if swapped else "without the person"
    return TrialResult(
        part=trial.part,
        scenario=trial.scenario,
        claimed=trial.epsilon,
        lower_bound=round(bound, 4),
        caught=bound > trial.epsilon,
        event=f"{trial.features[feature]} {sign} {value}, likelier {more}",
        runs=2 * trial.runs,
    )


def _search(without: Integers, with_: Integers, delta: float) -> tuple[Event, bool]:
    """The event that promises most on these runs, and whether the person makes it likelier.

    What it promises is guessed quickly; only the bound on the other half has to be right.
    """
    runs = len(without)
    best, most = ((0, ">=", 0), False), -math.inf
    for event in _events(without, with_):
        counts = _count(without, event), _count(with_, event)
        for swapped in (False, True):
            likely, unlikely = counts[::-1] if swapped else counts
            low, high = _about(likely, runs, -SEARCH_CAUTION), _about(unlikely, runs, SEARCH_CAUTION)
            if low > delta and math.log((low - delta) / high) > most:
                best, most = (event, swapped), math.log((low - delta) / high)
    return best


def _about(events: int, runs: int, errors: float) -> float:
    """A probability so many standard errors away from what was counted (Wilson 1927)."""
    square = errors**2
    return (events + square / 2 + errors * math.sqrt(events * (runs - events) / runs + square / 4)) / (runs + square)


def _events(without: Integers, with_: Integers) -> Iterator[Event]:
    """For every feature, that it is, is at most, or is at least one of the values that were seen."""
    for feature in range(without.shape[1]):
        values = np.unique(np.concatenate([without[:, feature], with_[:, feature]]))
        if len(values) > 200:
            values = values[np.linspace(0, len(values) - 1, 200).astype(np.int64)]
        for value in values.tolist():
            yield from ((feature, sign, value) for sign in ("=", "<=", ">="))


def _count(runs: Integers, event: Event) -> int:
    feature, sign, value = event
    column = runs[:, feature]
    hit = {"=": column == value, "<=": column <= value, ">=": column >= value}[sign]
    return int(np.count_nonzero(hit))


def lower_bound(likely: int, unlikely: int, runs: int, delta: float, error: float) -> float:
    """A lower bound for epsilon that is wrong with probability at most `error`, from events counted in runs."""
    low = binomial_bounds(likely, runs, error / 2)[0]
    high = binomial_bounds(unlikely, runs, error / 2)[1]
    return max(math.log((low - delta) / high), 0.0) if low > delta else 0.0


def binomial_bounds(events: int, runs: int, error: float) -> tuple[float, float]:
    """Clopper and Pearson's bounds for a probability, each wrong with probability at most `error`.

    The lower one is the p at which so many events or more have probability `error`, the upper one that for so many or
    fewer. Both are found by bisection and rounded outwards.
    """

    def bisect(too_small: Callable[[float], bool]) -> tuple[float, float]:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if too_small(middle) else (low, middle)
        return low, high

    lower = bisect(lambda p: binomial_tail(events, runs, p) < error)[0] if events else 0.0
    upper = bisect(lambda p: binomial_tail(runs - events, runs, 1 - p) > error)[1] if events < runs else 1.0
    return lower, upper
