"""What part 1 of the paper names beside cleaning: redundant records, and the columns that are worth publishing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from medveil.engine import with_rows
from medveil.errors import InputError, PolicyError, did_you_mean
from medveil.methods.fixed_interval.attributes import Column
from medveil.methods.fixed_interval.classes import Places, SourceRows
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.problem import Problem
from medveil.table.arrow import numpy_of

PARTS = 10
"""Into how many parts of equally many records numbers are cut to see what they tell."""


class FeatureSelection(BaseModel):
    """Which quasi-identifiers are published: those that tell something of a column, the `target`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: Annotated[str, Field(description="The sensitive or plain column that the release is for.")]
    least: Annotated[
        float, Field(ge=0, le=1, description="The least share of what there is to know of the target.")
    ] = 0.01
    most: Annotated[int | None, Field(ge=1, description="The most quasi-identifiers, those that tell most.")] = None


def redundant(problem: Problem, rows: SourceRows) -> NDArray[np.bool_]:
    """Which records repeat an earlier one of the same person in every published column."""
    if rows.people is None:
        raise PolicyError(
            "'redundant: drop' needs a subject: without one equal records may be those of several people.",
            "Give the column that says whose a record is the role subject, or leave 'redundant' out.",
        )
    plain = problem.schema.plain
    marks = with_rows(problem.engine).marks(plain) if plain else np.zeros(len(rows.cells), dtype=np.uint64)
    order = np.lexsort((np.arange(len(rows.cells)), marks, rows.cells, rows.people))
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for column in (marks, rows.cells, rows.people):
        same &= column[order][1:] == column[order][:-1]
    found = np.zeros(len(order), dtype=np.bool_)
    found[order[1:]] = same
    return found


def select(problem: Problem, records: Records, rows: SourceRows, asked: FeatureSelection) -> tuple[Records, list[str]]:
    """The records without the quasi-identifiers that tell too little of the target, and the names of these.

    A column that a model of the policy names stays: the model could not be claimed without it.
    """
    told = shares_told(problem, records, rows, asked.target)
    named = {name for model in problem.models for name in model.on or ()}
    order = sorted(told, key=lambda name: -told[name])
    enough = [name for name in order if told[name] >= asked.least][: asked.most]
    kept = {*enough, *named}
    if not kept & set(told):
        raise InputError(
            f"No quasi-identifier tells {asked.least:.1%} of '{asked.target}'; the most is {max(told.values()):.1%}.",
            "Lower 'least' of 'features', or leave 'features' out.",
        )
    left = [name for name in told if name not in kept]
    return replace(records, attributes=tuple(c for c in records.attributes if c.name not in left)), left


def shares_told(problem: Problem, records: Records, rows: SourceRows, target: str) -> Mapping[str, float]:
    """The share of the target's entropy that each quasi-identifier tells, by records.

        I(X; T) / H(T),  I = sum p(x, t) log(p(x, t) / (p(x) p(t))) - (|X| - 1) (|T| - 1) / 2n

    The last term is what n records of columns that have nothing to do with each other would tell by chance (Miller
    1955). Numbers are cut into ten parts of equally many records.
    """
    taking_part = np.flatnonzero(records.kept[rows.cells])
    truth = _compact(_target(problem, records, rows, target)[taking_part])
    return {column.name: _told(_parts(column, rows, taking_part), truth) for column in records.quasi}


def _target(problem: Problem, records: Records, rows: SourceRows, target: str) -> NDArray[np.int64]:
    if target in problem.schema.sensitive:
        column = next(c for c in records.attributes if c.name == target)
        every = np.arange(len(rows.cells))
        return _parts(column, rows, every)
    if target in problem.schema.plain:
        return numpy_of(with_rows(problem.engine).codes(target).indices).astype(np.int64)
    known = [*problem.schema.sensitive, *problem.schema.plain]
    raise PolicyError(
        f"The target '{target}' of 'features' is no sensitive or plain column.", did_you_mean(target, known)
    )


def _parts(column: Column, rows: SourceRows, lines: Places) -> NDArray[np.int64]:
    """The value of each record, or the part of equally many records that its number is in; missing is its own."""
    codes = np.asarray(column.codes[rows.cells[lines]], dtype=np.int64)
    if column.numbers is None:
        return codes
    numbers = column.effective[codes]
    known = np.sort(numbers[~np.isnan(numbers)])
    if not len(known):
        return np.zeros(len(codes), dtype=np.int64)
    edges = np.unique(known[(np.arange(1, PARTS) * len(known)) // PARTS])
    return np.where(np.isnan(numbers), PARTS, np.searchsorted(edges, numbers, side="right")).astype(np.int64)


def _compact(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _told(values: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    values = _compact(values)
    number, several = len(values), int(truth.max(initial=0)) + 1
    joint = _entropy(values * several + truth)
    own, of_truth = _entropy(values), _entropy(truth)
    chance = int(values.max(initial=0)) * (several - 1) / (2 * max(number, 1))
    return max(own + of_truth - joint - chance, 0.0) / of_truth if of_truth > 0 else 0.0


def _entropy(codes: NDArray[np.int64]) -> float:
    shares = np.unique(codes, return_counts=True)[1] / max(len(codes), 1)
    return float(-(shares * np.log(shares)).sum())
