"""The changes that are tried: each changes one thing of a policy, as data and in the problem that it poses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from medveil.advising.advice import ChangeKind, KeptDetail
from medveil.methods import methods
from medveil.methods.method import Method
from medveil.methods.problem import Problem
from medveil.privacy.model import requirements_of
from medveil.table.schema import Schema

MORE_SUPPRESSION = 0.01
"""How much larger a share of the records may be suppressed in the one trial that asks for that."""
MORE_WEIGHT = 10.0
"""How many times the weight of a hidden column is tried."""
MOST_WEIGHT = 1e6
"""The greatest weight that a policy may give."""


@dataclass(frozen=True)
class PolicyTrial:
    """One change: what it is, in words and as a merge patch of the policy, and the problem and method that it gives.

    without: the column or model that the trial leaves out, to tell what that costs. A trial without a `kind` only tells
    a cost: medveil suggests no weaker privacy.
    """

    problem: Problem
    method: Method
    kind: ChangeKind | None = None
    words: str = ""
    change: Mapping[str, Any] | None = None
    without: str = ""
    column: str | None = None


def trials(problem: Problem, method: Method, now: KeptDetail) -> Iterator[PolicyTrial]:
    """Every change that is worth a trial. Kinds take turns, because time may not last for all."""
    yield from _other_methods(problem, method)
    if not method.labels_cells:
        return
    kinds = (
        _more_suppression(problem, method),
        _less_general(problem, method, now),
        _without_column(problem, method, now),
        _without_model(problem, method),
        _more_weight(problem, method, now),
    )
    for turn in itertools.zip_longest(*kinds):
        yield from (trial for trial in turn if trial is not None)


def _more_suppression(problem: Problem, method: Method) -> Iterator[PolicyTrial]:
    share = dict(method).get("suppression")  # a parameter that methods may have, as the policy writes it
    if not isinstance(share, float) or share + MORE_SUPPRESSION > 1:
        return
    more = round(share + MORE_SUPPRESSION, 6)
    yield PolicyTrial(
        problem,
        method.model_copy(update={"suppression": more}),
        ChangeKind.SUPPRESSION,
        f"Let {more * 100:g} % of the records be suppressed, instead of {share * 100:g} %",
        {"method": {"name": method.name, "suppression": more}},
    )


def _other_methods(problem: Problem, method: Method) -> Iterator[PolicyTrial]:
    given = method.model_dump(mode="json", exclude_unset=True)
    for name, other in methods().items():
        if name == method.name or not other.labels_cells:
            continue
        known = {key: value for key, value in given.items() if key in other.model_fields}
        try:
            chosen = other.model_validate(known)
        except ValidationError:
            continue
        if chosen.why_refused(problem) is not None:
            continue
        # A merge patch takes out what it says is null: parameters that the other method does not know.
        dropped = dict.fromkeys(key for key in given if key not in known)
        yield PolicyTrial(
            problem, chosen, ChangeKind.METHOD, f"Take the method '{name}'", {"method": {"name": name, **dropped}}
        )


def _without_model(problem: Problem, method: Method) -> Iterator[PolicyTrial]:
    if len(problem.models) < 2:
        return
    for model in problem.models:
        others = [other for other in problem.models if other is not model]
        fewer = replace(problem, models=others, requirements=requirements_of(others, problem.schema.quasi))
        if method.why_refused(fewer) is None:
            yield PolicyTrial(fewer, method, without=model.summary())


def _without_column(problem: Problem, method: Method, now: KeptDetail) -> Iterator[PolicyTrial]:
    """Every column but those that are hidden: what says nothing costs the others nothing."""
    quasi = problem.schema.quasi
    limited = {name for model in problem.models for name in model.on or ()}
    if len(quasi) < 2:
        return
    for name in sorted(quasi, key=lambda column: -problem.hierarchies[column].size):
        if name in now.hidden or name in limited or name in _named_by(method):
            continue
        yield PolicyTrial(
            without_column(problem, name),
            method,
            ChangeKind.COLUMN,
            f"Leave '{name}' out",
            {"attributes": {name: None}},
            without=f"'{name}'",
            column=name,
        )


def _named_by(method: Method) -> set[str]:
    """Every text among the parameters of a method: it may be a column."""
    return {value for value in method.model_dump().values() if isinstance(value, str)}


def without_column(problem: Problem, name: str) -> Problem:
    """The problem as if a quasi-identifier were not there. Cells that only it told apart stay apart: that changes
    nothing.
    """
    cells = problem.cells
    kept = [position for position, other in enumerate(cells.quasi) if other != name]
    fewer = replace(
        cells,
        quasi=tuple(cells.quasi[position] for position in kept),
        codes=np.ascontiguousarray(cells.codes[kept]),
        domains={other: domain for other, domain in cells.domains.items() if other != name},
    )
    schema = Schema(tuple(attribute for attribute in problem.schema if attribute.name != name))
    return replace(
        problem,
        schema=schema,
        cells=fewer,
        hierarchies={other: found for other, found in problem.hierarchies.items() if other != name},
        requirements=requirements_of(problem.models, schema.quasi),
    )


def _less_general(problem: Problem, method: Method, now: KeptDetail) -> Iterator[PolicyTrial]:
    """Hidden columns that must not be generalized to their root."""
    for name in now.hidden:
        height = problem.hierarchies[name].height
        level = min(problem.max_levels.get(name, height), height) - 1
        if level >= problem.min_levels.get(name, 0):
            yield PolicyTrial(
                replace(problem, max_levels={**problem.max_levels, name: level}),
                method,
                ChangeKind.MAX_LEVEL,
                f"Show '{name}' at level {level} of {height} at most",
                {"attributes": {name: {"max_level": level}}},
                column=name,
            )


def _more_weight(problem: Problem, method: Method, now: KeptDetail) -> Iterator[PolicyTrial]:
    """Hidden columns whose detail counts for more."""
    for name in now.hidden:
        weight = problem.weight(name) * MORE_WEIGHT
        if weight <= MOST_WEIGHT:
            yield PolicyTrial(
                replace(problem, weights={**problem.weights, name: weight}),
                method,
                ChangeKind.WEIGHT,
                f"Let the detail of '{name}' count {MORE_WEIGHT:g} times as much",
                {"attributes": {name: {"weight": weight}}},
                column=name,
            )
