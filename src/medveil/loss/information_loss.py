"""The three losses of IPA and their sum: what generalization, wrong shares and counterfeit records cost.

Lee and Chung 2020, Differentially private release of medical microdata, equations 5 to 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.loss.earth_movers import earth_movers_distance


@dataclass(frozen=True)
class Losses:
    """NCP, EMD and Rate, each between 0 and 1."""

    ncp: float
    emd: float
    rate: float

    @property
    def total(self) -> float:
        """The information loss IL = NCP + EMD + Rate."""
        return self.ncp + self.emd + self.rate


def information_loss(
    *,
    penalty: NDArray[np.float64],
    rows: NDArray[np.int64],
    counterfeit: NDArray[np.int64],
    stars: int,
    original: NDArray[np.float64],
    published: NDArray[np.float64],
) -> Losses:
    """The losses of a release.

    penalty, rows, counterfeit: for each class its mean NCP over the dimensions (equation 6 divided by their number,
    without which it would leave [0, 1]), its published rows, and how many of them are counterfeit.
    stars: the rows of `*`, whose NCP is 1.
    original, published: the records of each cell in both tables, in the same order.
    """
    total = int(rows.sum()) + stars
    ncp = float((penalty * rows).sum() + stars) / total if total else 1.0
    return Losses(ncp, earth_movers_distance(original, published), counterfeit_rate(rows, counterfeit))


def counterfeit_rate(rows: NDArray[np.int64], counterfeit: NDArray[np.int64]) -> float:
    """The mean over published classes of the share of counterfeit rows (equations 8 and 9)."""
    there = rows > 0
    return float(np.mean(counterfeit[there] / rows[there])) if there.any() else 0.0
