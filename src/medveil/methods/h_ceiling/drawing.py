"""Counterfeits whose values are drawn first and hidden afterwards, as in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.grouping import group
from medveil.methods.h_ceiling.holdings import Codes, Contents, Counts, Holdings
from medveil.methods.h_ceiling.plan import NOTHING, Plan, merged

ROUNDS = 8
"""How often values that nothing hides are drawn again."""


def draw_and_group(
    holdings: Holdings,
    contents: Contents,
    thin: Counts,
    wanted: Counts,
    covers: NDArray[np.bool_],
    random: np.random.Generator,
    *,
    uniform: bool,
) -> Plan | None:
    """Draw `wanted` tuples for each thin class and group them; None where a counterfeit stays in sight.

    uniform: every tuple that occurs has the same chance, and what cannot be hidden makes the plan fail. Otherwise
    tuples are drawn as often as they occur, and drawn again where nothing hides them.
    covers: which classes may be listed for what they really hold.
    """
    if not len(thin):
        return NOTHING
    width = len(holdings.tuples)
    owners = contents.owners
    usable = covers[owners]
    shares = np.ones(width) if uniform else holdings.tuples.records.astype(np.float64)
    cumulative = np.cumsum(shares / shares.sum())
    position = np.repeat(np.arange(len(thin)), wanted)
    drawn = _draw(cumulative, len(position), random)
    for _ in range(1 if uniform else ROUNDS):
        classes, tuples, counts = merged(thin[position], drawn, width)
        grouped = group(classes, tuples, counts, owners, contents.tuples, contents.counts, usable)
        if not grouped.exposed.any():
            return Plan(classes, tuples, counts, grouped.rows)
        again = np.isin(thin[position] * width + drawn, (classes * width + tuples)[grouped.exposed])
        drawn[again] = _draw(cumulative, int(np.count_nonzero(again)), random)
    return None


def _draw(cumulative: NDArray[np.float64], number: int, random: np.random.Generator) -> Codes:
    found = np.searchsorted(cumulative, random.random(number), side="right")
    return np.minimum(found, len(cumulative) - 1).astype(np.int32)
