"""From a release that is of little use to what one change would give, within a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medveil.advising.advice import Advice, ChangeKind, Cost, KeptDetail, Suggestion
from medveil.advising.clock import Clock
from medveil.advising.rehearsal import rehearse
from medveil.advising.trials import PolicyTrial, trials
from medveil.errors import CancelledError, MedveilError
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.run import Run, Stage

SECONDS = 2.0
"""How long trials may take together, see `Clock`."""
FAR_ABOVE = 10
"""A smallest group so many times as large as was asked for, in a release that keeps less than half of the detail, says
that something was generalized further than its k needs."""
WORTH_TELLING = 0.02
"""A change that adds less detail, and shows no hidden column, is not suggested."""


def advise(problem: Problem, method: Method, now: KeptDetail, run: Run, seconds: float = SECONDS) -> Advice | None:
    """Why a release is of little use and what would help; None where it is of use.

    Never under differential privacy: what is computed from the data there must be paid for.
    """
    if any(model.declared_domains for model in problem.models) or not now.columns:
        return None
    reasons = little_use(now, problem.k)
    if not reasons:
        return None
    run.step(Stage.ADVISE)
    quiet = replace(run, listener=lambda _event: None)
    clock = Clock(seconds)
    costs, suggestions, untried = [], [], 0
    for trial in trials(problem, method, now):
        try:
            found = _tried(trial, list(now.columns), quiet, clock)
        except CancelledError:
            run.check()
            untried += 1
            continue
        except MedveilError:
            # A change under which nothing can be published is none to suggest.
            continue
        if not found.complete and found.detail < now.detail + WORTH_TELLING:
            # A search that ended early may have found little: that says nothing of the change.
            untried += 1
            continue
        if trial.without:
            costs.append(_cost(trial, now, found))
        if trial.kind is not None and trial.change is not None and _helps(trial, now, found):
            suggestions.append(Suggestion(trial.kind, trial.words, trial.change, found, trial.column))
    return Advice(
        reasons,
        now,
        sorted((cost for cost in costs if cost.gained >= WORTH_TELLING), key=lambda cost: -cost.gained),
        _ranked(suggestions),
        untried,
        problem.cells.records,
    )


def _tried(trial: PolicyTrial, columns: Sequence[str], run: Run, clock: Clock) -> KeptDetail:
    """What comes of a trial; CancelledError where there was no time for it."""
    if clock.over:
        raise CancelledError("There is no time left.")
    try:
        return rehearse(trial.method, trial.problem, columns, run, clock)
    except CancelledError:
        run.check()
        if trial.kind is not ChangeKind.METHOD:
            raise
    # A method that is used for the first time on a machine is compiled first, which is not the trial's own time.
    clock.start()
    return rehearse(trial.method, trial.problem, columns, run, clock)


def little_use(now: KeptDetail, asked: int) -> list[str]:
    """Why a release is of little use; nothing where it is of use. `asked`: the smallest group that was asked for."""
    reasons = []
    if now.hidden:
        number, all_of = len(now.hidden), len(now.columns)
        which = ", ".join(f"'{name}'" for name in now.hidden)
        reasons.append(f"Everything is hidden in {number} of {all_of} quasi-identifiers: {which}.")
    if now.groups == 1:
        reasons.append("All records look alike: there is a single group.")
    if asked > 1 and now.smallest >= FAR_ABOVE * asked and now.detail < 0.5:
        reasons.append(
            f"The smallest group has {now.smallest:,} people, {now.smallest / asked:,.0f} times the {asked:,} that "
            f"were asked for, and {now.detail:.0%} of the detail is kept.".replace("%", " %")
        )
    return reasons


def _cost(trial: PolicyTrial, now: KeptDetail, found: KeptDetail) -> Cost:
    others = [name for name in now.columns if name != trial.column]
    kept = [sum(outcome.columns[name] for name in others) / len(others) for outcome in (now, found)]
    return Cost(trial.without, *kept)


def _helps(trial: PolicyTrial, now: KeptDetail, found: KeptDetail) -> bool:
    """Whether a change adds detail, or shows a column that was hidden at whatever cost to the others."""
    if trial.kind in {ChangeKind.MAX_LEVEL, ChangeKind.WEIGHT} and trial.column is not None:
        return trial.column not in found.hidden
    return found.detail >= now.detail + WORTH_TELLING


def _ranked(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """The most detail first; of suggestions that give the same, the first stays."""
    ranked: list[Suggestion] = []
    for suggestion in sorted(suggestions, key=lambda one: -one.outcome.detail):
        same = [other for other in ranked if other.outcome == suggestion.outcome]
        if not same or suggestion.kind is ChangeKind.COLUMN:
            ranked.append(suggestion)
    return ranked
