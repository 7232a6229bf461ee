"""Advice on a linked release: what would help the view of people, said as a change of the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medveil.advising.advice import Advice, ChangeKind, Suggestion
from medveil.app.advice import NAME, advice_on
from medveil.app.linked_plan import LinkedPlan
from medveil.app.linking import linked_refusal
from medveil.evaluation.comparison import Comparison
from medveil.methods import methods
from medveil.methods.problem import Problem
from medveil.run import Run


def advice_on_tables(
    plan: LinkedPlan, comparison: Comparison, measures: Mapping[str, Any], suppressed: int, run: Run
) -> dict[str, Any]:
    """The advice on a linked release, by the name of the steward's file.

    Only where the view has one row a person: trials of a method suppress rows of the view, and where people have
    several, what a release then loses is found only by leaving people out of everything.
    """
    if not plan.one_row_each:
        return {}
    found = advice_on(comparison, plan.view_policy(), measures, suppressed, run)
    if not found:
        return {}
    advice = Advice.from_dict(found[NAME])
    kept = [_of_tables(plan, one) for one in advice.suggestions if _fits(plan, one, comparison.problem)]
    return {NAME: replace(advice, suggestions=kept).to_dict()}


def _fits(plan: LinkedPlan, suggestion: Suggestion, problem: Problem) -> bool:
    """Whether linked tables can be published that way."""
    if suggestion.kind is not ChangeKind.METHOD:
        return True
    method = methods()[str(suggestion.change["method"]["name"])]()
    return linked_refusal(plan, method, problem) is None


def _of_tables(plan: LinkedPlan, suggestion: Suggestion) -> Suggestion:
    """The suggestion with a change of the policy's tables in the place of the view's attributes."""
    change = dict(suggestion.change)
    tables: dict[str, Any] = {}
    for called, given in change.pop("attributes", {}).items():
        name, published = plan.view[called]
        source = next(column.source for column in plan.tables[name].columns if column.name == published)
        tables.setdefault(name, {"attributes": {}})["attributes"][source] = given
    return replace(suggestion, change={**change, **({"tables": tables} if tables else {})})
