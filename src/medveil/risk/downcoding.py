"""Downcoding, run: an attacker who undoes generalization because the method does no more of it than it needs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.comparison import MEANS
from medveil.evaluation.coverage import Coverage
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import draw_targets


class Downcoding(Risk):
    """How often an attacker guesses the exact value behind a generalized one.

    The guesser knows how common each value is and says the most common one that the label covers. The attacker also
    knows that the method is minimal: a label that is not a group of the declared hierarchy was fitted to its class, so
    that somebody in the class has each end of it. Where one person of the class is more than the share of the most
    common value, the attacker says the lower end. One generalized quasi-identifier of each target, drawn at random;
    targets of whom nothing is generalized, or who may be in several classes, are left out.

    After Cohen 2022, Attacks on deidentification's defenses.
    """

    name: ClassVar[str] = "downcoding"
    title: ClassVar[str] = "Attack: downcoding"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        random = comparison.random(self.name)
        targets = draw_targets(comparison, random)
        offsets, classes = targets.classes
        alone = np.flatnonzero((np.diff(offsets) == 1) & targets.published)
        of_target = classes[offsets[:-1][alone]]
        columns = list(comparison.coverage.items())
        labels = comparison.classes.labels[:, of_target]
        covered = np.array([one.held.totals[labels[j]] for j, (_, one) in enumerate(columns)])
        covered = covered.reshape(len(columns), len(alone))
        chosen = np.where(covered > 1, random.random(covered.shape), -1.0).argmax(axis=0) if columns else []
        general = np.flatnonzero((covered > 1).any(axis=0)) if columns else np.zeros(0, dtype=np.int64)
        if not len(general):
            return Skipped("nothing of anybody is generalized")
        hits = guessed = 0
        for j, (name, coverage) in enumerate(columns):
            mine = general[np.asarray(chosen)[general] == j]
            usual, share, lowest = _guesses(coverage, _counts(comparison, j))
            means = comparison.forms.get(name) == MEANS  # of intervals that were declared, not fitted
            fitted = _fitted(coverage, comparison.problem.hierarchies[name]) & (not means)
            label = labels[j, mine]
            sizes = comparison.sizes[of_target[mine]]
            said = np.where(fitted[label] & (1.0 / sizes > share[label]), lowest[label], usual[label])
            truth = targets.codes[j, alone[mine]]
            hits += int(np.count_nonzero(said == truth))
            guessed += int(np.count_nonzero(usual[label] == truth))
        rate, low, high = counted_rate(hits, len(general))
        return RiskFinding(rate, guessed / len(general), low, high, EXACT, len(general), counted=comparison.counted)


def _counts(comparison: Comparison, position: int) -> NDArray[np.float64]:
    cells = comparison.problem.cells
    size = len(cells.domains[cells.quasi[position]])
    return np.bincount(cells.codes[position], cells.counts, minlength=size).astype(np.float64)


def _guesses(
    coverage: Coverage, counts: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """For each label the most common leaf that it covers, its share of what the label covers, and the lowest leaf."""
    usual = np.full(len(coverage.labels), -1, dtype=np.int64)
    lowest = np.full(len(coverage.labels), -1, dtype=np.int64)
    best, total = np.full(len(coverage.labels), -1.0), np.zeros(len(coverage.labels))
    held = coverage.held
    for label, start, end in zip(held.label, held.starts.astype(int), held.ends.astype(int), strict=True):
        leaf = start + int(np.argmax(counts[start:end]))
        total[label] += counts[start:end].sum()
        if counts[leaf] > best[label]:
            usual[label], best[label] = leaf, counts[leaf]
        if lowest[label] < 0:
            lowest[label] = start
    return usual, np.divide(best, total, out=np.zeros(len(total)), where=total > 0), lowest


def _fitted(coverage: Coverage, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """Which labels are no group of the hierarchy, and so were fitted to the records of their class."""
    declared = {label for level in hierarchy.levels for label in level.labels}
    return np.array([label not in declared for label in coverage.labels], dtype=np.bool_)
