"""Classes that hold what is required, and what is published for them: the loop of joining around parts 3 and 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.combine import combine
from medveil.errors import UnreachableError
from medveil.methods.fixed_interval.analysis import Spread, spread
from medveil.methods.fixed_interval.attributes import Column
from medveil.methods.fixed_interval.classes import Ids, join_failing, merge_until
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.fixed_interval.publication import PublishedColumn
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes, reference_of
from medveil.privacy.model import Reference

Publish = Callable[[Ids, int, Mapping[str, Spread]], dict[str, PublishedColumn]]


@dataclass(frozen=True)
class MadeClasses:
    """The class of each cell, the number of classes, what is published for each, the spread of their numbers, and how
    many classes were joined away.
    """

    classes: Ids
    number: int
    published: Mapping[str, PublishedColumn]
    spreads: Mapping[str, Spread]
    joined: int


@dataclass(frozen=True)
class Reading:
    """The cells as a recipient may read them, with the sensitive attributes that some model is about, and the
    distribution of those over the whole input.
    """

    cells: Cells
    reference: Reference


def make(problem: Problem, records: Records, classes: Ids, number: int, publish: Publish) -> MadeClasses:
    """Join classes with their neighbours until every model holds on each class by itself, and on every class of the
    published table, where several classes may look the same.
    """
    first = number
    readings = _readings(problem, records)
    numbers = [column for column in records.attributes if column.is_number]
    while True:
        classes, number, _, hold = merge_until(classes, number, _judge(problem, readings))
        if not hold:
            raise _unreachable(problem, readings, classes)
        spreads = {column.name: spread(column, classes, number, records.cells.counts) for column in numbers}
        published = publish(classes, number, spreads)
        shown = {problem.cells.quasi.index(c.name): published[c.name] for c in records.quasi}
        verdict = _published_verdict(problem, readings, classes, number, shown)
        if verdict.all():
            return MadeClasses(classes, number, published, spreads, first - number)
        if number == 1:
            raise _unreachable(problem, readings, classes)
        joined = join_failing(verdict)
        classes = np.where(classes >= 0, joined[classes], np.int32(-1))
        number = int(joined[-1]) + 1


def _readings(problem: Problem, records: Records) -> list[Reading]:
    """The records as they are, which claims are about; and with what was imputed, where some category was: a set that
    shows one value is not a diverse one to its reader, whatever was missing behind it.
    """
    about = {model.sensitive_attribute for model in problem.models}
    cells = records.cells
    own = replace(cells, sensitive={name: codes for name, codes in cells.sensitive.items() if name in about})
    shown = {
        column.name: np.where(column.missing, np.int32(column.stand_in), np.arange(len(column.values), dtype=np.int32))
        for column in records.attributes
        if column.name in own.sensitive and column.imputed and not column.is_number
    }
    readings = [Reading(own, problem.reference)]
    if shown:
        codes = {name: shown[name][codes] if name in shown else codes for name, codes in own.sensitive.items()}
        imputed = replace(own, sensitive=codes)
        readings.append(Reading(imputed, reference_of(imputed, problem.reference.hierarchies)))
    return readings


def _judge(problem: Problem, readings: list[Reading]) -> Callable[[Ids, int], NDArray[np.bool_]]:
    def judge(classes: Ids, number: int) -> NDArray[np.bool_]:
        verdict = np.ones(number, dtype=np.bool_)
        for reading in readings:
            counted = count_classes(reading.cells, classes, number)
            for model in problem.models:
                verdict &= model.holds(counted, reading.reference)
        return verdict

    return judge


def _published_verdict(
    problem: Problem, readings: list[Reading], classes: Ids, number: int, published: Mapping[int, PublishedColumn]
) -> NDArray[np.bool_]:
    """Whether each class is within published classes that hold, for the models that joining classes may break: those
    which do not survive merging.
    """
    verdict = np.ones(number, dtype=np.bool_)
    additive = readings[0].cells.subjects is None
    for requirement in problem.requirements:
        if requirement.model.survives_merging(additive=additive):
            continue
        shown = [published[position] for position in requirement.shield if position in published]
        first, group = combine([one.codes for one in shown], [len(one.labels) for one in shown], number)
        for reading in readings:
            counted = count_classes(reading.cells, np.where(classes >= 0, group[classes], -1), len(first))
            verdict &= requirement.model.holds(counted, reading.reference)[group]
    return verdict


def _unreachable(problem: Problem, readings: list[Reading], classes: Ids) -> UnreachableError:
    """Even one class of everybody fails: which model, and how close it gets."""
    everybody = np.where(classes >= 0, np.int32(0), np.int32(-1))
    failing, counted, reference = next(
        (model, counted, reading.reference)
        for reading in readings
        for counted in [count_classes(reading.cells, everybody, 1)]
        for model in problem.models
        if not model.holds(counted, reading.reference).all()
    )
    reached = ", ".join(f"{key} = {value:g}" for key, value in failing.achieved(counted, reference).items())
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
