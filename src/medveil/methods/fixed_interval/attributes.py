"""Part 5 of the paper: an attribute is a number or a category, and nothing else."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import InputError
from medveil.table.domain import Domain, read_number
from medveil.table.schema import Kind

Numbers = NDArray[np.float64]
EPOCH = dt.date(1970, 1, 1).toordinal()
MOST_DECIMALS = 6
LARGEST = 1e15
"""Beyond it sums lose whole units, and squares overflow in the end."""


@dataclass(frozen=True)
class Written:
    """How a number of a column is written: with so many decimals, at least so many digits, or as a date."""

    decimals: int = 0
    digits: int = 0
    date: bool = False

    def text(self, number: float) -> str:
        """The number, rounded, as it is published.

        >>> Written().text(26.33), Written(decimals=1).text(36.0), Written(digits=5).text(2139.4)
        ('26', '36', '02139')
        >>> Written(date=True).text(18262.4)
        '2020-01-01'
        """
        if self.date:
            return dt.date.fromordinal(EPOCH + round(number)).isoformat()
        if self.digits:
            return f"{round(number):0{self.digits}d}"
        return read_number(f"{number:.{self.decimals}f}") or "0"

    def end(self, number: float) -> str:
        """The end of an interval, which may lie between two numbers of the column.

        >>> Written().end(2.5), Written().end(30.0), Written(date=True).end(18262.0)
        ('2.5', '30', '2020-01-01')
        """
        return self.text(number) if self.date or self.digits else read_number(repr(number)) or "0"

    @property
    def unit(self) -> float:
        """The least step between two published numbers."""
        return float(10.0**-self.decimals)


PERCENT = Written(decimals=1)
"""How a percentage is written."""


@dataclass(frozen=True)
class Column:
    """One attribute: `codes[cell]` is a code, and for each code there is its text `values[code]`, whether that counts
    as `missing`, and, where the attribute is a number, `numbers[code]` (NaN where missing).

    `imputed`: missing ones take part as `stand_in`, a number or a code; otherwise missing is published as such.
    """

    name: str
    sensitive: bool
    codes: NDArray[np.int32]
    values: tuple[str | None, ...]
    missing: NDArray[np.bool_]
    numbers: Numbers | None = None
    written: Written = Written()
    imputed: bool = False
    stand_in: float = math.nan

    @property
    def is_number(self) -> bool:
        return self.numbers is not None

    @property
    def effective(self) -> Numbers:
        """The numbers that take part in classes: imputed where the policy says so, NaN where missing is kept."""
        assert self.numbers is not None
        return np.where(self.missing, self.stand_in, self.numbers) if self.imputed else self.numbers


def classify(cells: Cells, name: str, *, sensitive: bool, as_number: bool) -> Column:
    """An attribute as a number (numbers, dates, and codes that the policy wants read as numbers) or a category."""
    domain = cells.domains[name]
    codes = cells.sensitive[name] if sensitive else cells.codes[cells.quasi.index(name)]
    missing = np.array([value is None for value in domain.values], dtype=np.bool_)
    column = Column(name, sensitive, codes, domain.values, missing)
    if as_number:
        numbers, written = _digits(domain, name)
    elif domain.kind in {Kind.NUMBER, Kind.DATE}:
        numbers = domain.numbers
        date = domain.kind is Kind.DATE
        written = Written(date=date) if date else Written(decimals=_decimals(domain.values))
    else:
        return column
    return Column(name, sensitive, codes, domain.values, missing, numbers, written)


def _digits(domain: Domain, name: str) -> tuple[Numbers, Written]:
    """Codes such as 412-791 as numbers: separators are left out."""
    texts = ["" if value is None else re.sub(r"[\s\-./]", "", value) for value in domain.values]
    if any(
        value is not None and not re.fullmatch(r"[0-9]{1,15}", t) for t, value in zip(texts, domain.values, strict=True)
    ):
        raise InputError(
            f"Column '{name}' should be read as numbers, but some of its codes hold more than digits and separators.",
            f"Leave '{name}' out of 'codes_as_numbers', or fix its values.",
        )
    lengths = {len(text) for text in texts if text}
    numbers = np.array([float(text) if text else math.nan for text in texts], dtype=np.float64)
    return numbers, Written(digits=lengths.pop() if len(lengths) == 1 else 1)


def require_sizes(column: Column) -> None:
    """Refuse numbers too large for means; those out of the declared range are missing by now."""
    if column.numbers is not None and np.abs(column.numbers[~column.missing]).max(initial=0.0) > LARGEST:
        raise InputError(
            f"Column '{column.name}' holds numbers beyond {LARGEST:.0e}, which no mean can be taken of.",
            f"Give the numbers that are possible under 'ranges', or fix the values of '{column.name}'.",
        )


def _decimals(values: Sequence[str | None]) -> int:
    """The most decimals that a value of the column is written with, up to six.

    >>> _decimals(["1", "2.50", None]), _decimals(["5e-05"]), _decimals(["1e-09"]), _decimals(["1e+20"])
    (2, 5, 6, 0)
    """
    lengths = [_places(value) for value in values if value is not None and ("." in value or "e" in value)]
    return min(max(lengths, default=0), MOST_DECIMALS)


def _places(value: str) -> int:
    exponent = Decimal(value).as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
