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
from medveil.table.schema import Kind

WRITTEN_OUT = 1e22
"""Whole numbers up to here are written out; larger ones by their power of ten, however they were spelled."""
DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y%m%d", "%d-%m-%Y", "%d %b %Y")


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

    @property
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


def read_number(text: str) -> str | None:
    """The canonical text of a number, or None where it is none: integers exactly, `-0` as `0`, `5.0` as `5`.

    >>> [read_number(t) for t in ("05", " 5.0", "-0", "1e3", "x", "nan", "1.50", "1e16", "1_0", "9" * 400)]
    ['5', '5', '0', '1000', None, None, '1.5', '10000000000000000', None, None]
    """
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


def find_date_format(texts: Sequence[str]) -> str | None:
    """The first known format that reads every text; an ISO date may carry a time of day.

    >>> find_date_format(["2020-01-31", "2020-12-01"]), find_date_format(["31.01.2020"]), find_date_format(["soon"])
    ('%Y-%m-%d', '%d.%m.%Y', None)
    """
    return next((f for f in DATE_FORMATS if texts and all(read_date(text, f) for text in texts)), None)


def read_date(text: str, date_format: str) -> str | None:
    """The ISO form of a date in this format, or None; a time of day after an ISO date is dropped."""
    stripped = text.strip()
    if date_format == "%Y-%m-%d" and len(stripped) > 10 and stripped[10] in " T":
        stripped = stripped[:10]
    try:
        return dt.datetime.strptime(stripped, date_format).date().isoformat()
    except ValueError:
        return None


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
    return Kind.DATE if find_date_format(texts) else Kind.CATEGORY


def canonical(texts: Sequence[str | None], kind: Kind, column: str) -> list[str | None]:
    """Each text in the canonical form of its kind, missing as None; a text that is not of this kind is refused."""
    if kind is Kind.NUMBER:
        read = [None if t is None else read_number(t) for t in texts]
    elif kind is Kind.DATE:
        present = [t for t in texts if t is not None]
        date_format = find_date_format(present)
        if date_format is None and present:
            raise InputError(
                f"Column '{column}' is declared as dates, but its values share no date format.",
                "Write all of them as YYYY-MM-DD, or declare the column as 'type: category'.",
            )
        read = [None if t is None or date_format is None else read_date(t, date_format) for t in texts]
    else:
        return list(texts)
    wrong = sum(t is not None and r is None for t, r in zip(texts, read, strict=True))
    if wrong:
        raise InputError(
            f"Column '{column}' is declared as {kind.value}, but {wrong} of its {len(texts)} distinct values are not.",
            f"Mend them, name them under 'missing:', or declare '{column}' as 'type: category'.",
        )
    return read


def encode(texts: Sequence[str | None], kind: Kind, column: str) -> tuple[Domain, NDArray[np.int32]]:
    """The domain of these distinct raw texts, and the code of each of them."""
    read = canonical(texts, kind, column)
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
