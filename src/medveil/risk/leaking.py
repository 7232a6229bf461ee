"""Leakage of the quasi-identifiers, before and after."""

from __future__ import annotations

from typing import Any, ClassVar

from medveil.engine.links import read_links
from medveil.risk.leakage_release import before_and_after, mixed_classes
from medveil.risk.risk import Comparison, Risk, RiskFinding, Skipped


def leakage_of_comparison(comparison: Comparison) -> dict[str, Any]:
    """What leaks before and after, counted once for all who ask."""
    memory = comparison.memory
    if "leakage" not in memory:
        links = None if comparison.links is None else read_links(comparison.links)
        mixed = mixed_classes(comparison)
        memory["leakage"] = before_and_after(
            comparison.problem, comparison.published, links, mixed, times=comparison.times
        )
    found: dict[str, Any] = memory["leakage"]
    return found


class LeakageOfRelease(Risk):
    """The share of all there is to learn about who somebody is that the published quasi-identifiers tell together.

    Delta S / S_0 of all quasi-identifiers, see `medveil leakage`; beside it the same of the original, and of each
    attribute. Arca and Hewett 2021, Analytics on anonymity for privacy retention in smart health data.
    """

    name: ClassVar[str] = "leakage"
    title: ClassVar[str] = "Leakage of quasi-identifiers"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        quasi = comparison.problem.schema.quasi
        if not set(quasi) & set(comparison.published.column_names):
            return Skipped("no quasi-identifier is published")
        if not len(comparison.classes):
            return Skipped("nothing was published")
        found = leakage_of_comparison(comparison)
        together = found["all_quasi_identifiers"]
        parts = {}
        if comparison.original:
            parts["before"] = float(together["before"]["normalized"])
        for told in found["attributes"]:
            if told["attribute"] in quasi and told["after"] is not None:
                parts[told["attribute"]] = float(told["after"]["normalized"])
        return RiskFinding(float(together["after"]["normalized"]), parts=parts, counted=found["counted_after"])
