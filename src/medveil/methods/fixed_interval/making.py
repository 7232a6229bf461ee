"""Classes that hold what is required, and what is published for them: the loop of joining around parts 3 and 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import UnreachableError
from medveil.methods.fixed_interval.analysis import Spread, spread
from medveil.methods.fixed_interval.attributes import Column
from medveil.methods.fixed_interval.classes import Ids, join_failing, merge_until
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.fixed_interval.publication import Published
from medveil.methods.fixed_interval.ranking import combined
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes

Publish = Callable[[Ids, int, Mapping[str, Spread]], dict[str, Published]]


@dataclass(frozen=True)
class Made:
    """The class of each cell, the number of classes, what is published for each, the spread of their numbers, and how
    many classes were joined away.
    """

    classes: Ids
    number: int
    published: Mapping[str, Published]
    spreads: Mapping[str, Spread]
    joined: int


def make(problem: Problem, records: Records, classes: Ids, number: int, publish: Publish) -> Made:
    """Join classes with their neighbours until every model holds on each class by itself, and on every class of the
    published table, where several classes may look the same.
    """
    first = number
    cells = _judged(problem, records.cells)
    numbers = [column for column in records.attributes if column.is_number]
    while True:
        classes, number, _, hold = merge_until(classes, number, _judge(problem, cells))
        if not hold:
            raise _unreachable(problem, cells, classes)
        spreads = {column.name: spread(column, classes, number, cells.counts) for column in numbers}
        published = publish(classes, number, spreads)
        verdict = _published_verdict(problem, cells, classes, number, [published[c.name] for c in records.quasi])
        if verdict.all():
            return Made(classes, number, published, spreads, first - number)
        if number == 1:
            raise _unreachable(problem, cells, classes)
        joined = join_failing(verdict)
        classes = np.where(classes >= 0, joined[classes], np.int32(-1))
        number = int(joined[-1]) + 1


def _judged(problem: Problem, cells: Cells) -> Cells:
    """The cells with the sensitive attributes that some model is about, and no others."""
    about = {getattr(model, "attribute", None) for model in problem.models}
    return replace(cells, sensitive={name: codes for name, codes in cells.sensitive.items() if name in about})


def _judge(problem: Problem, cells: Cells) -> Callable[[Ids, int], NDArray[np.bool_]]:
    def judge(classes: Ids, number: int) -> NDArray[np.bool_]:
        counted = count_classes(cells, classes, number)
        verdicts = [model.holds(counted, problem.reference) for model in problem.models]
        return np.asarray(np.logical_and.reduce(verdicts), dtype=np.bool_)

    return judge


def _published_verdict(
    problem: Problem, cells: Cells, classes: Ids, number: int, published: list[Published]
) -> NDArray[np.bool_]:
    """Whether each class is within published classes that hold, for the models that joining classes may break: those
    which do not survive merging.
    """
    verdict = np.ones(number, dtype=np.bool_)
    additive = cells.subjects is None
    for requirement in problem.requirements:
        if requirement.model.survives_merging(additive=additive):
            continue
        columns = [(published[position].codes, len(published[position].labels)) for position in requirement.shield]
        keys = combined(columns) if columns else np.zeros(number, dtype=np.int64)
        found, group = np.unique(keys, return_inverse=True)
        counted = count_classes(cells, np.where(classes >= 0, group[classes], -1), len(found))
        verdict &= requirement.model.holds(counted, problem.reference)[group]
    return verdict


def _unreachable(problem: Problem, cells: Cells, classes: Ids) -> UnreachableError:
    """Even one class of everybody fails: which model, and how close it gets."""
    counted = count_classes(cells, np.where(classes >= 0, np.int32(0), np.int32(-1)), 1)
    failing = next(model for model in problem.models if not model.holds(counted, problem.reference).all())
    reached = ", ".join(f"{key} = {value:g}" for key, value in failing.achieved(counted, problem.reference).items())
    return UnreachableError(
        f"{failing.summary()} cannot be reached: one class of all records that are left has {reached}.",
        "Ask for less, or leave fewer records out.",
    )


def unknown_in(column: Column, classes: Ids, number: int) -> NDArray[np.bool_]:
    """Which classes hold a missing value that is published as such."""
    held = np.zeros(number, dtype=np.bool_)
    if not column.imputed:
        held[classes[column.missing[column.codes] & (classes >= 0)]] = True
    return held
