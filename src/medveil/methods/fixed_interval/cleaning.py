"""Part 1 of the paper: pre-processing, so that no garbage goes in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from medveil.cells import Cells, Subjects, make_cells
from medveil.errors import InputError, PolicyError, did_you_mean
from medveil.methods.fixed_interval.attributes import Column, classify, require_sizes
from medveil.methods.problem import Problem
from medveil.table.dates import read_date
from medveil.table.domain import read_number
from medveil.table.schema import Kind

ISO_DATE = "%Y-%m-%d"
Missing = Literal["keep", "drop", "impute"]


def _as_text(value: object) -> object:
    """A value of a rule as the data would have it: YAML reads numbers, a day as a date, and some words as true."""
    if isinstance(value, bool):
        raise PydanticCustomError("quotes", "write it in quotes, as it stands in the data")
    return str(value) if isinstance(value, int | float | dt.date) else value


Text = Annotated[str, BeforeValidator(_as_text)]


class Impossible(BaseModel):
    """A combination of values that nobody can have: `when: {sex: M, pregnant: yes}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    when: Annotated[
        dict[str, Text], Field(min_length=1, description="The values that together are impossible, by column.")
    ]


@dataclass(frozen=True)
class Records:
    """The records that take part, counted into cells.

    cells: distinct tuples of `columns`, which are the quasi-identifiers, the sensitive attributes and whatever else a
        rule names; `raw` are the same as texts.
    kept: which cells take part still.
    dropped: how many records were left out, by cause.
    """

    raw: pa.Table
    cells: Cells
    columns: tuple[str, ...]
    attributes: tuple[Column, ...]
    kept: NDArray[np.bool_]
    dropped: Mapping[str, int]

    @property
    def quasi(self) -> tuple[Column, ...]:
        return tuple(column for column in self.attributes if not column.sensitive)

    def without(self, cells: NDArray[np.bool_], cause: str) -> Records:
        """The records without those of these cells."""
        gone = self.kept & cells
        count = int(self.cells.counts[gone].sum())
        return replace(
            self, kept=self.kept & ~cells, dropped={**self.dropped, cause: self.dropped.get(cause, 0) + count}
        )


def clean(
    problem: Problem,
    *,
    ranges: Mapping[str, tuple[float, float]],
    rules: Sequence[Impossible],
    missing: Missing | Mapping[str, Missing],
    codes_as_numbers: Sequence[str],
) -> Records:
    """The records without impossible combinations, with values out of range taken for missing, and missing values
    dropped, imputed (numbers by the mean, categories by the most frequent value) or kept.
    """
    records = _read(problem, rules, codes_as_numbers)
    for name, (low, high) in ranges.items():
        records = _limit(records, name, low, high)
    for column in records.attributes:
        require_sizes(column)
    for rule in rules:
        records = records.without(_matches(records, rule), "impossible combination")
    for name in [column.name for column in records.attributes]:
        chosen = missing.get(name, "keep") if isinstance(missing, Mapping) else missing
        records = _settle_missing(records, name, chosen)
    if not records.kept.any():
        raise InputError(
            "No record is left after cleaning.", "Loosen 'ranges' and 'rules', or keep or impute missing values."
        )
    return records


def _read(problem: Problem, rules: Sequence[Impossible], codes_as_numbers: Sequence[str]) -> Records:
    """The problem's cells; split further by the plain columns that rules name."""
    known = problem.published
    for name in codes_as_numbers:
        require(name, problem.counted, "codes_as_numbers")
    named = dict.fromkeys(name for rule in rules for name in rule.when)
    for name in named:
        require(name, known, "rules")
    extra = tuple(name for name in named if name not in problem.counted)
    raw, cells, columns = problem.tuples, problem.cells, problem.counted
    if extra:
        columns = (*columns, *extra)
        raw = problem.engine.cells(columns)
        kinds = {name: cells.domains[name].kind for name in problem.counted}
        cells = make_cells(raw, problem.schema.quasi, columns[len(problem.schema.quasi) :], kinds)
        if problem.schema.subject is not None:
            cells = replace(cells, subjects=Subjects(*problem.engine.subjects(raw, columns, problem.schema.subject)))
    attributes = [
        classify(cells, name, sensitive=name in problem.schema.sensitive, as_number=name in codes_as_numbers)
        for name in problem.counted
    ]
    return Records(raw, cells, columns, tuple(attributes), np.ones(len(cells), dtype=np.bool_), {})


def require(name: str, known: Sequence[str], where: str) -> None:
    """Refuse a parameter that names a column which cannot be meant."""
    if name not in known:
        raise PolicyError(f"'{where}' names '{name}', which is not such a column.", did_you_mean(name, known))


def _limit(records: Records, name: str, low: float, high: float) -> Records:
    """Numbers outside the declared range are taken for missing."""
    require(name, [column.name for column in records.attributes], "ranges")
    column = next(column for column in records.attributes if column.name == name)
    if column.numbers is None:
        raise PolicyError(f"'ranges' names '{name}', whose values are not numbers.", "Name a column of numbers.")
    if low > high:
        raise PolicyError(f"The range of '{name}' ends before it begins.", "Write it as [low, high].")
    outside = column.missing | (column.numbers < low) | (column.numbers > high)
    numbers = np.where(outside, np.nan, column.numbers)
    return _exchange(records, replace(column, numbers=numbers, missing=outside))


def _matches(records: Records, rule: Impossible) -> NDArray[np.bool_]:
    """Which cells have all the values of a rule."""
    cells = records.cells
    found = np.ones(len(cells), dtype=np.bool_)
    for name, value in rule.when.items():
        codes = cells.sensitive[name] if name in cells.sensitive else cells.codes[cells.quasi.index(name)]
        domain = cells.domains[name]
        wanted = _canonical(value, domain.kind, name)
        found &= np.array([held == wanted for held in domain.values], dtype=np.bool_)[codes]
    return found


def _canonical(value: str, kind: Kind, name: str) -> str:
    """A value of a rule as a column of this kind holds it; one that it cannot hold would never match."""
    if kind is Kind.NUMBER:
        found, example = read_number(value), "a number"
    elif kind is Kind.DATE:
        found, example = read_date(value, ISO_DATE), "a date as in 2020-01-31"
    else:
        return value
    if found is None:
        raise PolicyError(f"A rule gives '{name}' a value that it cannot have.", f"Write {example}.")
    return found


def _settle_missing(records: Records, name: str, chosen: Missing) -> Records:
    column = next(column for column in records.attributes if column.name == name)
    if chosen == "keep" or not column.missing.any():
        return records
    if chosen == "drop":
        return records.without(column.missing[column.codes], "missing value")
    weights = np.where(records.kept, records.cells.counts, 0)
    counts = np.bincount(column.codes, weights, minlength=len(column.values))
    counts[column.missing] = 0
    if not counts.any():
        raise InputError(
            f"Column '{name}' has no value that could stand in for missing ones.",
            "Keep missing values, or take the column out.",
        )
    if column.numbers is None:
        stand_in = float(counts.argmax())
    else:
        stand_in = float(counts @ np.where(column.missing, 0.0, column.numbers) / counts.sum())
    return _exchange(records, replace(column, imputed=True, stand_in=stand_in))


def _exchange(records: Records, column: Column) -> Records:
    return replace(records, attributes=tuple(column if c.name == column.name else c for c in records.attributes))
