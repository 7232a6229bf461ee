"""The optimal full-domain generalization: the node of least loss among those that satisfy every requirement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from medveil.errors import PolicyError, UnreachableError
from medveil.lattice.boxes import BoxSearch
from medveil.lattice.checker import Checker
from medveil.lattice.frontier import search_frontier
from medveil.lattice.incumbent import Incumbent, Progress, StoppingRule
from medveil.lattice.loss import Loss
from medveil.lattice.space import Levels, Space

MOST_LISTED = 10**7
"""A space of more nodes is not listed, but searched in boxes."""

LARGE_TIME_LIMIT = 60.0
"""Seconds for such a space where no limit is given: proving the best of 10^13 nodes may take for ever."""


@dataclass(frozen=True)
class FoundNode:
    """The best node: its levels, its loss, the records suppressed there and what it took to find it.

    `proved`: that no node is better; `bound`: that no node has less loss than this. Of equally good nodes the one with
    the fewest suppressed records is taken, then the one with the lexicographically smallest levels.
    """

    levels: Levels
    loss: float
    suppressed: int
    checks: int
    nodes: int
    proved: bool
    bound: float


def allowed_records(limit: float, records: int) -> int:
    """How many records a limit from 0 to 1 lets go.

    >>> allowed_records(0.02, 30162), allowed_records(0.29, 100), allowed_records(1, 7)
    (603, 29, 7)
    """
    if not 0.0 <= limit <= 1.0:
        raise PolicyError("The suppression limit is a share of the records.", "Give a number from 0 to 1.")
    return min(math.floor(limit * records * (1.0 + 1e-12) + 1e-9), records)


def search(
    evaluator: Checker,
    space: Space,
    loss: Loss,
    suppression_limit: float,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> FoundNode:
    """The node of least loss at which no more than the limit must be suppressed; UnreachableError if there is none.

    Proved optimal unless the time limit (in seconds) ended the search; then the best found, with a proved bound. A
    space of more than ten million nodes has a limit of a minute where none is given.
    """
    if loss.counts_classes and not evaluator.counts_classes:
        raise ValueError("This loss counts classes: make the evaluator with counts_classes=True.")
    # A release of nothing satisfies nothing, so at least one record must stay.
    allowed = min(allowed_records(suppression_limit, evaluator.records), evaluator.records - 1)
    incumbent = Incumbent(loss)
    if space.size <= MOST_LISTED:
        watch = StoppingRule(time_limit, progress, cancelled)
        bound = search_frontier(evaluator, space, loss, allowed, incumbent, watch)
    else:
        watch = StoppingRule(LARGE_TIME_LIMIT if time_limit is None else time_limit, progress, cancelled)
        bound = BoxSearch(evaluator, space, loss, allowed, incumbent, watch).run()
    if incumbent.rank is None:
        raise _unreachable(evaluator, space, allowed, incumbent)
    value, suppressed, levels = incumbent.rank
    return FoundNode(
        levels=levels,
        loss=value,
        suppressed=suppressed,
        checks=incumbent.checks,
        nodes=space.size,
        proved=bound is None,
        bound=value if bound is None else min(bound, value),
    )


def _unreachable(evaluator: Checker, space: Space, allowed: int, incumbent: Incumbent) -> UnreachableError:
    """How close one can get: the least suppression that would do, or what the most general node reaches."""
    names = ", ".join(sorted({requirement.model.name for requirement in evaluator.requirements}))
    records = evaluator.records
    problem = (
        f"No generalization within the levels allowed meets {names} with at most {allowed} of {records} records "
        "suppressed."
    )
    top = evaluator.evaluate(space.top, records - 1)
    candidates = [top.suppressed] if top.feasible else []
    if incumbent.least_suppressed is not None and incumbent.least_suppressed < records:
        candidates.append(incumbent.least_suppressed)
    if candidates:
        least = min(candidates)
        share = math.ceil(least / records * 1e6) / 1e6
        return UnreachableError(
            problem,
            f"The least found to do is {least} record{'' if least == 1 else 's'}: raise 'suppression' to {share:g}, or "
            "ask for less.",
        )
    reached = [
        f"{name} ({', '.join(map(_figure, achieved.items()))})" for name, achieved in evaluator.reached(space.top)
    ]
    return UnreachableError(
        problem,
        f"Generalized as far as the levels allow, and with nothing suppressed, the table reaches {'; '.join(reached)}: "
        "ask for no more than that, or allow higher levels.",
    )


def _figure(reached: tuple[str, float]) -> str:
    """A figure with so many digits that asking for just that is asking for what is reached.

    >>> _figure(("t", 0.11884400000009)), _figure(("k", 5)), _figure(("beta", math.inf))
    ('t = 0.1188440000001', 'k = 5', 'no finite beta')
    """
    name, value = reached
    return f"{name} = {value:.13g}" if math.isfinite(value) else f"no finite {name}"
