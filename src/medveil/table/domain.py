"""The distinct values of one column, in their natural order, as codes."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.table.dates import ISO, find_date_format, other_reading, read_date, without_parts
from medveil.table.numbers import find_number_format, other_number_reading, plain_number
from medveil.table.schema import Kind

WRITTEN_OUT = 1e22
"""Whole numbers up to here are written out; larger ones by their power of ten, however they were spelled."""


@dataclass(frozen=True)
class Domain:
    """The distinct values of a column: `values[code]` is the canonical text, or None where the value is missing.

    Numbers and dates are in their own order, other kinds in that of their text; a missing value comes last.
    """

    kind: Kind
    values: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_missing(self) -> bool:
        return bool(self.values) and self.values[-1] is None

    @cached_property
    def present(self) -> tuple[str, ...]:
        """The values that are not missing."""
        return tuple(value for value in self.values if value is not None)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The values as numbers (dates as days since 1970), NaN where missing."""
        if self.kind is Kind.NUMBER:
            return np.array([math.nan if v is None else float(v) for v in self.values], dtype=np.float64)
        if self.kind is Kind.DATE:
            epoch = dt.date(1970, 1, 1)
            return np.array(
                [math.nan if v is None else float((dt.date.fromisoformat(v) - epoch).days) for v in self.values],
                dtype=np.float64,
            )
        raise InputError("Only numbers and dates have a position on a line.", "Declare the column's type.")


def read_number(text: str, written: str | None = None) -> str | None:
    """The canonical text of a number, or None where it is none: integers exactly, `-0` as `0`, `5.0` as `5`. `written`
    is a format with marks (see `numbers`), where it has one.

    >>> [read_number(t) for t in ("05", " 5.0", "-0", "1e3", "x", "nan", "1.50", "1e16", "1_0", "9" * 400)]
    ['5', '5', '0', '1000', None, None, '1.5', '10000000000000000', None, None]
    """
    if written is None and text.isdecimal() and text.isascii() and text[0] != "0" and len(text) < 16:
        return text  # what most numbers are
    if written is not None:
        text = plain_number(text, written) or ""
    stripped = text.strip().replace("_", "x")
    try:
        number = float(stripped)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    if abs(number) >= WRITTEN_OUT:
        return repr(number)
    try:
        return str(int(stripped))
    except ValueError:
        return str(int(number)) if number.is_integer() else repr(number)


def find_kind(texts: Sequence[str]) -> Kind:
    """The kind of these distinct values: numbers (none with a leading zero, which is a code), dates, or categories.

    >>> [find_kind(t).value for t in (["1", "2.5"], ["01234", "99999"], ["2020-01-31"], ["a", "1"], [])]
    ['number', 'code', 'date', 'category', 'category']
    """
    if not texts:
        return Kind.CATEGORY
    if all(read_number(text) is not None for text in texts):
        padded = any(re.match(r"\s*[+-]?0\d", text) for text in texts)
        return Kind.CODE if padded else Kind.NUMBER
    if find_date_format(texts):
        return Kind.DATE
    return Kind.NUMBER if find_number_format(texts) else Kind.CATEGORY


def canonical(texts: Sequence[str | None], kind: Kind, column: str, written: str | None = None) -> list[str | None]:
    """Each text in the canonical form of its kind, missing as None; a text that is not of this kind is refused.

    `written` is the declared format of dates or numbers; it is found out where None. A year or a month among days, as
    FHIR may have them, tells no day: it is missing.
    """
    present = [text for text in texts if text is not None]
    if kind is Kind.DATE and written in {None, ISO}:
        whole = without_parts(present)
        if len(whole) < len(present):
            known = set(whole)
            texts, present = [text if text in known else None for text in texts], whole
    if kind is Kind.NUMBER:
        written = written or _only_number_format(present, column)
        read = [None if t is None else read_number(t, written) for t in texts]
    elif kind is Kind.DATE:
        written = written or _only_date_format(present, column)
        read = [None if t is None or written is None else read_date(t, written) for t in texts]
    else:
        return list(texts)
    wrong = sum(t is not None and r is None for t, r in zip(texts, read, strict=True))
    if wrong:
        raise InputError(
            f"Column '{column}' is declared as {kind.value}, but {wrong} of its {len(texts)} distinct values are not.",
            f"Fix them, list them under 'missing:', or declare '{column}' as 'type: category'.",
        )
    return read


def _only_number_format(texts: Sequence[str], column: str) -> str | None:
    """The one format with marks that these texts can be numbers in; None where they are plain, or no numbers."""
    if all(read_number(text) is not None for text in texts):
        return None
    found = find_number_format(texts)
    other = found and other_number_reading(texts, found)
    if other:
        raise _ambiguous("numbers", column, str(found), other)
    return found


def _ambiguous(what: str, column: str, first: str, second: str) -> InputError:
    return InputError(
        f"The {what} of column '{column}' can be read in two ways: '{first}' and '{second}'.",
        f"Declare the right one: 'format: \"{first}\"' or 'format: \"{second}\"'.",
    )


def _only_date_format(texts: Sequence[str], column: str) -> str | None:
    """The one format that these texts can be dates in."""
    found = find_date_format(texts)
    if found is None and texts:
        raise InputError(
            f"Column '{column}' is declared as dates, but its values do not share one date format.",
            "Declare it, for example 'format: \"%d/%m/%Y\"', or declare the column as 'type: category'.",
        )
    other = found and other_reading(texts, found)
    if other:
        raise _ambiguous("dates", column, str(found), other)
    return found


def encode(
    texts: Sequence[str | None], kind: Kind, column: str, written: str | None = None
) -> tuple[Domain, NDArray[np.int32]]:
    """The domain of these distinct raw texts, and the code of each of them."""
    read = canonical(texts, kind, column, written)
    domain = domain_of(read, kind)
    code_of = {value: code for code, value in enumerate(domain.values)}
    return domain, np.fromiter((code_of[value] for value in read), dtype=np.int32, count=len(read))


def domain_of(values: Iterable[str | None], kind: Kind) -> Domain:
    """The domain of canonical values, in natural order, missing last."""
    distinct = set(values)
    present = [value for value in distinct if value is not None]
    if kind is Kind.NUMBER:
        present.sort(key=lambda value: (float(value), value))
    else:
        present.sort()
    return Domain(kind, (*present, *([None] if None in distinct else [])))
