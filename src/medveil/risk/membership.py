"""Membership, run: an attacker who wants to know whether somebody is in the data at all."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.matching import matching_classes
from medveil.evaluation.population import strangers
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import draw_targets


class Membership(Risk):
    """How often an attacker who knows somebody's quasi-identifiers tells rightly whether they are in the data.

    Half of the targets are people of the data, half are not. The attacker says yes where some published record may be
    the target's. Strangers are people of the population who are not in the data; where there is no population they
    are made up, each of two real people's quasi-identifiers, some from one and the rest from the other, such that
    nobody in the data has them. A guesser is right half of the time.
    """

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "Attack: membership"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        if not comparison.coverage:
            return Skipped("there is no quasi-identifier")
        random = comparison.random(self.name)
        targets = draw_targets(comparison, random, comparison.settings.targets // 2)
        people = strangers(comparison)
        if people is None:
            outside, note = made_up(comparison, len(targets), random), "Strangers are made up of two people each."
        else:
            codes, counts = people
            drawn = random.choice(codes.shape[1], len(targets), p=counts / counts.sum()) if len(counts) else counts
            outside, note = codes[:, drawn], "Strangers are people of the population."
        number = min(len(targets), outside.shape[1])
        if not number:
            return Skipped("there is nobody who is not in the data")
        inside = targets.codes[:, random.permutation(len(targets))[:number]]
        yes = [np.diff(matching_classes(comparison, np.ascontiguousarray(c))[0]) > 0 for c in (inside, outside)]
        hits = int(np.count_nonzero(yes[0])) + int(np.count_nonzero(~yes[1][:number]))
        rate, low, high = counted_rate(hits, 2 * number)
        parts = {"yes to members": float(yes[0].mean()), "yes to strangers": float(yes[1][:number].mean())}
        return RiskFinding(rate, 0.5, low, high, EXACT, 2 * number, parts, comparison.counted, note)


def made_up(comparison: Comparison, number: int, random: np.random.Generator) -> NDArray[np.int32]:
    """Quasi-identifiers of people who do not exist, each put together from two who do; fewer where few are possible."""
    cells = comparison.problem.cells
    columns = len(cells.quasi)
    real = cells.codes[:, cells.counts > 0]
    known = {column.tobytes() for column in np.ascontiguousarray(real.T)}
    shares = cells.counts[cells.counts > 0] / cells.records
    found: list[NDArray[np.int32]] = []
    for _ in range(20):
        one, other = (real[:, random.choice(real.shape[1], number, p=shares)] for _ in range(2))
        mixed = np.where(random.random((columns, number)) < 0.5, one, other)
        found += [column for column in np.ascontiguousarray(mixed.T) if column.tobytes() not in known]
        if len(found) >= number:
            break
    return np.array(found[:number], dtype=np.int32).reshape(-1, columns).T
