"""What a filled release costs, with the catalog and without: the steward's figures, against the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.copying import Seen
from medveil.methods.h_ceiling.holdings import Counts, Holdings
from medveil.methods.h_ceiling.plan import Plan, cost, look_up, mean_error

Numbers = NDArray[np.float64]


def figures(holdings: Holdings, plan: Plan, sizes: Sequence[float]) -> dict[str, Any]:
    """RCE, LM and discernibility of the release as it stands and of the truthful table, and what is lost.

    `sizes`: the leaves of each quasi-identifier's whole domain. RCE as it stands takes every record for real, and
    counts each counterfeit with the 1/v that it adds where nobody was.
    """
    records = holdings.records
    total = float(records.sum())
    forged = np.bincount(plan.classes, plan.counts, minlength=len(holdings)).astype(np.int64)
    span = np.maximum(np.array(sizes) - 1.0, 1.0)[:, None]
    loss = np.asarray(((holdings.points - 1.0) / span).mean(axis=0), dtype=np.float64)
    attributes = len(holdings.groups) + len(holdings.cells.sensitive)
    suppressed = _suppressed(holdings, plan)
    truthful = records + forged - suppressed
    spent = cost(holdings, plan)
    base = float((records * (1.0 - 1.0 / holdings.points).sum(axis=0)).sum())
    return {
        "counterfeits": plan.counterfeits,
        "filled_classes": int(np.count_nonzero(forged)),
        "classes": len(holdings),
        "records_lost_in_truthful_table": spent.lost,
        "rce": mean_error(holdings, plan),
        "rce_without_catalog": (base + float((forged * holdings.sharpness).sum())) / attributes / total,
        "lm": _loss(records + forged, loss, 0, int((records + forged).sum())),
        "lm_truthful": _loss(truthful, loss, spent.lost, int(total)),
        "discernibility": _discernibility(records + forged, 0, total),
        "discernibility_truthful": _discernibility(truthful, spent.lost, total),
        "counterfeits_of_unseen_combinations": int(plan.counts[_odd(holdings, plan)].sum()),
        "share_certainly_real": _certainly_real(holdings, plan) / total,
    }


def _odd(holdings: Holdings, plan: Plan) -> NDArray[np.bool_]:
    """Which counterfeits have a tuple that is nowhere seen with one of the published values of their class."""
    return Seen(holdings, np.zeros(0, dtype=np.int64)).odd(plan.classes, plan.tuples)


def _suppressed(holdings: Holdings, plan: Plan) -> Counts:
    """How many records of each class the truthful table takes out of it."""
    rows = plan.rows
    listed, number = rows.classes, rows.numbers
    held = _published(holdings, plan, listed, rows.tuples[number])
    taken = np.minimum(held, rows.counts[number])
    return np.bincount(listed, taken, minlength=len(holdings)).astype(np.int64)


def _published(holdings: Holdings, plan: Plan, classes: Counts, tuples: NDArray[np.int32]) -> Counts:
    """How many published records, real or not, of each tuple the class beside it holds."""
    width = len(holdings.tuples)
    real = look_up(holdings.contents(classes), classes, tuples, width)
    forged = dict(zip((plan.classes * width + plan.tuples).tolist(), plan.counts.tolist(), strict=True))
    return real + np.array([forged.get(key, 0) for key in (classes * width + tuples).tolist()], dtype=np.int64)


def _certainly_real(holdings: Holdings, plan: Plan) -> int:
    """The records whose class the catalog does not list for their values: everybody knows that they are real."""
    rows = plan.rows
    real = look_up(holdings.contents(rows.classes), rows.classes, rows.tuples[rows.numbers], len(holdings.tuples))
    return int(holdings.records.sum() - real.sum())


def _loss(sizes: Counts, loss: Numbers, lost: int, total: int) -> float:
    return (float((sizes * loss).sum()) + lost) / total


def _discernibility(sizes: Counts, lost: int, total: float) -> float:
    return (float(np.square(sizes.astype(np.float64)).sum()) + lost * total) / total**2
