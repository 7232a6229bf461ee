"""Whether the first line of a table of texts holds the names of its columns, or a record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from medveil.table.dates import DATE_FORMATS, may_be_date, read_date
from medveil.table.domain import read_number
from medveil.table.numbers import find_number_format

ENOUGH = 0.9
"""The share of a column's values that must be of one type for the column to be of it."""
LONGEST = 200
"""Letters of the longest name that a column may have without being taken for a text."""
FEW = 10
"""With fewer records than this, a value that does not come again says nothing."""
CELLS, FEWEST = 200_000, 50
"""Cells that are looked at, so that a thousand columns take no longer than ten; but never fewer records than these."""
_NO_VALUES = frozenset({"", "?", "na", "n/a", "nan", "null", "none", ".", "-", "*"})


def holds_a_record(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these lines looks like the others.

    Each column votes. The first line is a record where it has a number or a date like the lines below it, a value that
    comes again below, or one of the same shape (letters and digits in the same places). It holds names where words
    stand over numbers or dates, or a word over values that repeat without it.

    >>> holds_a_record([["39", "State-gov"], ["50", "Private"], ["38", "State-gov"]])
    True
    >>> holds_a_record([["age", "workclass"], ["50", "Private"], ["38", "State-gov"]])
    False
    """
    first, *rest = records
    rest = rest[: max(FEWEST, CELLS // len(first))]
    return sum(_vote(cell.strip(), _below(rest, place)) for place, cell in enumerate(first)) > 0


def _below(rest: Sequence[Sequence[str]], place: int) -> list[str]:
    texts = (record[place].strip() for record in rest if place < len(record))
    return [text for text in texts if text.lower() not in _NO_VALUES]


def _vote(first: str, below: Sequence[str]) -> int:
    """Above 0 for a record, below 0 for a name; 0 where the column does not tell."""
    if first.lower() in _NO_VALUES or not below:
        return 0
    own = _type(first)
    repeated = Counter(below)
    alike = sum(times for text, times in repeated.items() if _type(text) == own) / len(below)
    if own != "text":
        return 2 if alike >= ENOUGH else 0
    if alike <= 1 - ENOUGH:
        return -3
    if first in repeated:
        return 2
    if not any(map(str.isalpha, first)):
        return 2 if sum(not any(map(str.isalpha, text)) for text in below) > len(below) / 2 else 0
    if len(first) > LONGEST or (len(first.split()) > 5 and first.endswith(".")):
        return 1
    if any(map(str.isdigit, first)):
        return 2 if sum(_shape(text) == _shape(first) for text in below) > len(below) / 2 else 0
    return -1 if len(below) >= FEW and len(repeated) <= len(below) / 4 else 0


def _type(text: str) -> str:
    if read_number(text) is not None or find_number_format([text]):
        return "number"
    return "date" if may_be_date(text) and any(read_date(text, known) for known in DATE_FORMATS) else "text"


def _shape(text: str) -> str:
    """Letters and digits by their kind.

    >>> _shape("P-0017")
    'a-9999'
    """
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))
