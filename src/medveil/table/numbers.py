"""Numbers as people write them: with a decimal point or a comma, with or without marks between thousands.

A format is an example: `1,234.5` has commas between thousands, `1.234,5` points, `1 234,5` spaces, `1,5` none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

MARKED_FORMATS = ("1,234.5", "1.234,5", "1 234,5", "1'234.5", "1,5")
"""Every format that is looked for beside plain numbers."""

_THOUSANDS = {"1,234.5": ",", "1.234,5": ".", "1 234,5": " ", "1'234.5": "'", "1,5": ""}
_SPACES = re.compile("[\u00a0\u2009\u202f]")


def plain_number(text: str, number_format: str) -> str | None:
    """A text in this format as a plain number, or None where it is not in the format.

    >>> plain_number("1.234.567,5", "1.234,5"), plain_number("0,5", "1,5"), plain_number("1,23", "1,234.5")
    ('1234567.5', '0.5', None)
    """
    mark = _THOUSANDS[number_format]
    decimal = "." if number_format in {"1,234.5", "1'234.5"} else ","
    found = _pattern(mark, decimal).fullmatch(_SPACES.sub(" ", text.strip()))
    if found is None:
        return None
    whole = found["whole"].replace(mark, "") if mark else found["whole"]
    return f"{found['sign']}{whole}{'.' + found['part'] if found['part'] else ''}"


@cache
def _pattern(mark: str, decimal: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+|" if mark else ""
    return re.compile(rf"(?P<sign>[+-]?)(?P<whole>{grouped}\d+)(?:{re.escape(decimal)}(?P<part>\d+))?", re.ASCII)


def find_number_format(texts: Sequence[str]) -> str | None:
    """The first of the formats with marks that reads every text; None where none does.

    >>> find_number_format(["1.234,5", "7"]), find_number_format(["0,5", "12,25"]), find_number_format(["a"])
    ('1.234,5', '1.234,5', None)
    """
    return next((f for f in MARKED_FORMATS if texts and all(plain_number(text, f) for text in texts)), None)


def other_number_reading(texts: Sequence[str], number_format: str) -> str | None:
    """A second format that reads every text too, and at least one of them as another number, or None.

    >>> other_number_reading(["1,234", "5"], "1,234.5"), other_number_reading(["1,234,567"], "1,234.5")
    ('1.234,5', None)
    """
    read = [plain_number(text, number_format) for text in texts]
    for other in MARKED_FORMATS:
        again = [plain_number(text, other) for text in texts]
        if None not in again and [float(a or 0) for a in again] != [float(r or 0) for r in read]:
            return other
    return None
