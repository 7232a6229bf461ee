"""What a risk is: from a release, and the original where needed, to a figure or to the reason why there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from medveil.errors import CancelledError, MedveilError
from medveil.evaluation.comparison import MEANS, Comparison, Skipped
from medveil.evaluation.population import POPULATION
from medveil.risk.dp_audit import binomial_bounds
from medveil.run import Stage

__all__ = ["Comparison", "Risk", "RiskFinding", "Skipped", "assess_risks", "counted_rate"]

CONFIDENCE = 0.95
EXACT = "95 %, Clopper-Pearson"


@dataclass(frozen=True)
class RiskFinding:
    """A risk between 0 and 1.

    guesser: what somebody reaches who does not look at the release; None where there is no such figure.
    low, high: the ends of the confidence interval where the figure is estimated, made as `interval` says.
    trials: on how many people an attack was tried.
    parts: further figures by name. counted: whether people or records are counted.
    note: what the figure rests on, in a sentence.
    """

    value: float
    guesser: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""
    trials: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    counted: str = "records"
    note: str = ""


class Risk(ABC):
    """A risk of a release; found by being there.

    cheap: it may be computed for every release; attacks only where somebody asks.
    needs_original: there is no figure without the original.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    cheap: ClassVar[bool] = True
    needs_original: ClassVar[bool] = False

    @abstractmethod
    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        """The figure, or why there is none."""


def counted_rate(hits: int, trials: int) -> tuple[float, float, float]:
    """A success rate and its exact interval.

    >>> [round(figure, 4) for figure in counted_rate(0, 10)]
    [0.0, 0.0, 0.3085]
    """
    low, high = binomial_bounds(hits, trials, (1 - CONFIDENCE) / 2)
    return hits / trials, low, high


def assess_risks(
    comparison: Comparison, found: Mapping[str, type[Risk]], *, cheap_only: bool
) -> dict[str, RiskFinding | Skipped]:
    """Every risk of a release; attacks are left out where only cheap ones are wanted."""
    attacked = _as_attacked(comparison)
    results: dict[str, RiskFinding | Skipped] = {}
    for number, (name, risk) in enumerate(found.items()):
        if cheap_only and not risk.cheap:
            continue
        if risk.needs_original and not comparison.original:
            results[name] = Skipped("the original is not given")
            continue
        comparison.run.step(Stage.ATTACK, number / len(found), risk.title)
        try:
            # Attacks look for people row by row.
            results[name] = risk().assess(attacked if risk.cheap else attacked.by_row)
        except CancelledError:
            raise
        except MedveilError as error:
            results[name] = Skipped(str(error))
    comparison.memory.update({name: known for name, known in attacked.memory.items() if name != POPULATION})
    return results


def _as_attacked(comparison: Comparison) -> Comparison:
    """A release as somebody reads it who looks for people: published means with what the code book tells of them."""
    if MEANS not in comparison.forms.values():
        return comparison
    other = None if comparison.other is None else _as_attacked(comparison.other)
    # What leaks does not hang on how labels are read; how many of the population a class covers does.
    memory = {name: known for name, known in comparison.memory.items() if name != POPULATION}
    return replace(comparison, attacked=True, other=other, memory=memory)
