"""How good predictions are: accuracy, F1, MCC and AUC, each with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
RESAMPLES = 200
NAMES = ("accuracy", "f1", "mcc", "auc")


@dataclass(frozen=True)
class Predictions:
    """The true class of each tested record, the predicted one, and the probability of every class."""

    truth: Codes
    said: Codes
    probabilities: Floats

    def scores(self, weights: Floats | None = None) -> dict[str, float]:
        """The four figures; `weights` repeat records.

            F1 = mean over classes of 2 TP / (2 TP + FP + FN)
            MCC = (c s - sum_k p_k t_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2))
            AUC = mean over classes of P[score of one in the class > score of one outside], ties half

        c: right ones; s: all; p_k, t_k: how often class k is predicted, and true (Gorodkin 2004).
        """
        weights = np.ones(len(self.truth)) if weights is None else weights
        classes = self.probabilities.shape[1]
        table = np.bincount(self.truth * classes + self.said, weights, minlength=classes**2).reshape(classes, classes)
        right, true, said, total = np.diag(table), table.sum(axis=1), table.sum(axis=0), table.sum()
        there = true > 0
        spread = (total**2 - (said**2).sum()) * (total**2 - (true**2).sum())
        return {
            "accuracy": float(right.sum() / total),
            "f1": float(np.mean(2 * right[there] / (true + said)[there])),
            "mcc": float((right.sum() * total - said @ true) / spread**0.5) if spread > 0 else 0.0,
            "auc": float(np.mean([self._area(k, weights) for k in np.flatnonzero(there & (true < total))] or [0.5])),
        }

    def _area(self, number: int, weights: Floats) -> float:
        score = self.probabilities[:, number]
        order = np.argsort(score, kind="stable")
        inside = np.where(self.truth[order] == number, weights[order], 0.0)
        outside = weights[order] - inside
        starts = np.flatnonzero(np.concatenate([[True], np.diff(score[order]) > 0]))
        won, lost = np.add.reduceat(inside, starts), np.add.reduceat(outside, starts)
        below = np.cumsum(lost) - lost
        return float((won * (below + lost / 2)).sum() / (inside.sum() * outside.sum()))

    def intervals(self, random: np.random.Generator) -> dict[str, tuple[float, float]]:
        """The middle 95 % of each figure over records drawn again with replacement."""
        number = len(self.truth)
        drawn = [
            self.scores(np.bincount(random.integers(0, number, number), minlength=number).astype(np.float64))
            for _ in range(RESAMPLES)
        ]
        quantiles = {name: np.quantile([one[name] for one in drawn], [0.025, 0.975]) for name in NAMES}
        return {name: (float(low), float(high)) for name, (low, high) in quantiles.items()}
