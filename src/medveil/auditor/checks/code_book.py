"""Whether the code book is true to the source: counted again, mean by mean and set by set."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from medveil.auditor.code_book import FIGURES, FILE, CodeBookLine, meaning, read_code_book, recoded_as
from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted, Terms
from medveil.auditor.evidence import Evidence
from medveil.errors import MedveilError
from medveil.release.manifest import INTERNAL
from medveil.table.domain import canonical, domain_of
from medveil.table.schema import Kind

INTERVALS = "intervals.parquet"
Numbers = NDArray[np.float64]


class CodeBookCheck(Check):
    """The code book is what the source gives: every set of ids holds exactly the values of the records that show it,
    and every mean or median is that of the people whose own numbers lie in its interval, as many as it states.

    The ends of intervals are in internal/intervals.parquet; those that are published must be the same.

    Intervals may overlap, where classes were widened. From the means and numbers of two that do, those of what they
    do not share can be worked out, so that each piece between two neighbouring ends needs as many people as a mean.
    """

    name: ClassVar[str] = "code-book"
    terms: ClassVar[frozenset[str]] = frozenset({"people"})
    files: ClassVar[frozenset[str]] = frozenset({FILE})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        lines = read_code_book(evidence)
        recoded = set(recoded_as(evidence, *FIGURES, "ids"))
        if any(line.attribute not in recoded for line in lines):
            raise Refuted(f"'{FILE}' tells of a column that is published neither as means nor as ids")
        evidence.need_linked()
        told, required = _read_parameters(claim), Terms(claim).number("people")
        _check_sets(evidence, lines, told.imputed)
        of_means = [line for line in lines if line.people is not None]
        least = [
            _check_means(evidence, name, [line for line in of_means if line.attribute == name], told)
            for name in recoded_as(evidence, *FIGURES)
            if any(line.attribute == name for line in of_means)
        ]
        return Finding({"people": min(least, default=None)}, min(least, default=required) >= required)


@dataclass(frozen=True)
class _Parameters:
    """What the claim says of how columns were read: those of which missing values were imputed, codes that were read
    as numbers, the range and the decimals of numbers.
    """

    imputed: tuple[str, ...]
    digits: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    decimals: Mapping[str, int]


def _read_parameters(claim: Mapping[str, Any]) -> _Parameters:
    """The claim's parameters, read without trusting the manifest to be well made."""
    terms, given = Terms(claim), claim["parameters"]
    ranges, decimals = given.get("ranges") or {}, given.get("decimals") or {}
    if not isinstance(ranges, Mapping) or not all(map(_is_range, ranges.values())):
        raise Refuted("the claim's 'ranges' are not pairs of numbers")
    if not isinstance(decimals, Mapping) or not all(type(d) is int and 0 <= d <= 20 for d in decimals.values()):
        raise Refuted("the claim's 'decimals' are not whole numbers")
    return _Parameters(
        terms.optional_words("imputed") or (),
        terms.optional_words("digits") or (),
        {name: (float(low), float(high)) for name, (low, high) in ranges.items()},
        decimals,
    )


def _is_range(ends: Any) -> bool:
    return isinstance(ends, list | tuple) and len(ends) == 2 and all(type(end) in {int, float} for end in ends)


def _check_sets(evidence: Evidence, lines: list[CodeBookLine], imputed: Sequence[str]) -> None:
    """A set is that of the ids of the records that show it, which are those that are the same in every recoded column.

    Where missing values were imputed, a set may hold one more id, which stands in for them.
    """
    names = recoded_as(evidence, "ids")
    if not names:
        return
    joins, verdicts, ids = [], [], []
    for number, name in enumerate(names):
        shown, own, known = evidence.column(name), evidence.original(name), f"ids_{number}"
        code = meaning(lines, name)
        values = pa.array(list(code.values()), pa.string())
        evidence.keep(known, pa.table({"value": values, "id": pa.array(list(code), pa.string())}))
        joins.append(f"LEFT JOIN {known} ON {own} = {known}.value")
        # A value without an id shows as one that no set holds.
        of_row = f"CASE WHEN {own} IS NULL THEN '?' ELSE coalesce({known}.id, 'none') END"
        unimputed = f" FILTER ({own} IS NOT NULL)" if name in imputed else ""
        ids.append(f"coalesce(list_sort(list_distinct(list({of_row}){unimputed})), []) AS i{number}")
        ids.append(f"count(*) FILTER ({own} IS NULL) AS u{number}")
        members = f"string_split(trim(coalesce({shown}, '?'), '{{}}'), ', ')"
        right = f"list_sort({members}) = i{number}"
        if name in imputed:
            more = f"u{number} > 0 AND len({members}) = len(i{number}) + 1 AND list_has_all({members}, i{number})"
            right = f"({right} OR {more})"
        verdicts.append(f"count(*) FILTER (NOT {right})")
    together = evidence.columns([name for name in evidence.names() if evidence.recoded(name)])
    wrong = evidence.one(
        f"SELECT {', '.join(verdicts)} FROM (SELECT {together}, {', '.join(ids)} FROM kept {' '.join(joins)} "
        f"GROUP BY {together})"
    )
    for name, number in zip(names, wrong, strict=True):
        if number:
            raise Refuted(f"{number:,} published sets of '{name}' are not the values of the records that show them")


def _check_means(evidence: Evidence, name: str, lines: list[CodeBookLine], told: _Parameters) -> int:
    """The fewest people in any piece between two ends of the column's intervals, where every line is true."""
    intervals = _intervals(evidence, name, lines)
    numbers, weights = _numbers(evidence, name, told)
    decimals = told.decimals.get(name)
    if not isinstance(decimals, int):
        raise CannotTell(f"the claim does not say how '{name}' is rounded")

    def people(low: float, high: float) -> int:
        within = (numbers >= low) & (numbers < high)
        return _people(evidence, name, low, high) if evidence.counts_people else int(weights[within].sum())

    for line, (low, high) in zip(lines, intervals, strict=True):
        inside = (numbers >= low) & (numbers < high)
        if not inside.any():
            raise Refuted(f"'{FILE}' states a {line.stands_for} of '{name}' behind which there is nobody")
        if people(low, high) != line.people:
            raise Refuted(f"'{FILE}' states other numbers of people behind '{name}' than the source has")
        figure, kind = _figure(line.stands_for, numbers, weights, low, high), evidence.kinds[name]
        stated = _read(line.published, Kind.NUMBER if line.stands_for == "percentage" else kind)
        if abs(figure - stated) > 0.5 * 10.0**-decimals + ROUNDING * abs(figure):
            raise Refuted(f"'{FILE}' states a {line.stands_for} of '{name}' that is not that of the source")
    ends = sorted({end for interval in intervals for end in interval})
    pieces = [piece for piece in itertools.pairwise(ends) if any(a <= piece[0] and piece[1] <= b for a, b in intervals)]
    return min(people(low, high) for low, high in pieces)


def _figure(statistic: str, numbers: Numbers, weights: NDArray[np.int64], low: float, high: float) -> float:
    """What an interval is published as: the mean or median of its numbers, or in percent how many of all are lower,
    its own counted half.
    """
    inside = (numbers >= low) & (numbers < high)
    if statistic == "percentage":
        return float(100 * (weights[numbers < low].sum() + weights[inside].sum() / 2) / weights.sum())
    values = np.repeat(numbers[inside], weights[inside])
    return float(np.mean(values) if statistic == "mean" else np.median(values))


def _intervals(evidence: Evidence, name: str, lines: list[CodeBookLine]) -> list[tuple[float, float]]:
    """The ends of the interval of each line: the first and last reach to infinity."""
    path = evidence.folder / INTERNAL / INTERVALS
    try:
        rows = [row for row in pq.read_table(path).to_pylist() if row["attribute"] == name]
        ends = [
            (
                -math.inf if row["open_low"] else float(row["low"]),
                math.inf if row["open_high"] else float(row["high"]),
            )
            for row in rows
        ]
        same = [(row["published"], row["people"]) for row in rows] == [(line.published, line.people) for line in lines]
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        raise CannotTell(f"needs {INTERNAL}/{INTERVALS}") from None
    if not same:
        raise Refuted(f"'{FILE}' and {INTERNAL}/{INTERVALS} do not tell the same of '{name}'")
    kind = evidence.kinds[name]
    for row, line in zip(rows, lines, strict=True):
        stated = [_read(end, kind) for end in (line.low, line.high) if end]
        if stated and not np.allclose(stated, [row["low"], row["high"]], rtol=ROUNDING, atol=ROUNDING):
            raise Refuted(f"'{FILE}' states other ends of intervals of '{name}' than were used")
    return ends


def _numbers(evidence: Evidence, name: str, told: _Parameters) -> tuple[Numbers, NDArray[np.int64]]:
    """The numbers that kept records have in a column, ascending, and how many people have each; makes `number_of`,
    from the source's texts to numbers. What the claim says is out of range is not a number.
    """
    own = evidence.original(name)
    texts = [text for text in evidence.distinct("kept", own) if text is not None]
    try:
        values = _read_all(
            texts, evidence.kinds[name], digits=name in told.digits, name=name, written=evidence.formats.get(name)
        )
    except (MedveilError, ValueError):
        raise Refuted(f"the source's column '{name}' does not hold numbers, as the manifest says") from None
    low, high = told.ranges.get(name, (-math.inf, math.inf))
    table = pa.table({"text": pa.array(texts, pa.string()), "number": pa.array(values, pa.float64())})
    evidence.keep("number_of", table.filter(pa.array((values >= low) & (values <= high))))
    rows = evidence.connection.execute(
        f"SELECT number, {evidence.number_of_people} FROM kept JOIN number_of ON {own} = text "
        "GROUP BY number ORDER BY ALL"
    ).fetchnumpy()
    shown = evidence.column(name)
    (unmarked,) = evidence.one(
        f"SELECT count(*) FROM kept LEFT JOIN number_of ON {own} = text "
        f"WHERE number IS NULL AND {shown} IS NOT NULL AND NOT ends_with({shown}, ', ?}}')"
    )
    if unmarked and name not in told.imputed:
        raise Refuted(f"records without a number in '{name}' are published as if they had one")
    numbers, weights = rows.values()
    return np.asarray(numbers, dtype=np.float64), np.asarray(weights, dtype=np.int64)


def _people(evidence: Evidence, name: str, low: float, high: float) -> int:
    limits = [f"number >= {low!r}" if low > -math.inf else "true", f"number < {high!r}" if high < math.inf else "true"]
    (number,) = evidence.one(
        f"SELECT {evidence.number_of_people} FROM kept JOIN number_of ON {evidence.original(name)} = text "
        f"WHERE {' AND '.join(limits)}"
    )
    return int(number)


def _read_all(texts: list[str], kind: Kind, *, digits: bool, name: str, written: str | None) -> Numbers:
    if digits:
        return np.array([float(re.sub(r"[\s\-./]", "", text)) for text in texts], dtype=np.float64)
    forms = canonical(texts, kind, name, written)
    domain = domain_of(forms, kind)
    position = {form: place for place, form in enumerate(domain.values)}
    return domain.numbers[[position[form] for form in forms]] if texts else np.zeros(0)


def _read(text: str, kind: Kind) -> float:
    """A published number or date, as a number."""
    try:
        return float(domain_of([text], kind if kind is Kind.DATE else Kind.NUMBER).numbers[0])
    except (MedveilError, ValueError):
        raise Refuted(f"'{FILE}' states a number that is none") from None
