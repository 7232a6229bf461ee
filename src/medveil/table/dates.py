"""Dates as people write them: which format a column has, and its values in ISO form.

A format is one of `strptime`'s, such as `%d/%m/%Y`. A time of day and a zone after the date may be there and are
dropped. Month names are English. Years run from 1 to 9999; two digits are read as 1969 to 2068.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from functools import lru_cache

ISO = "%Y-%m-%d"
COMPACT = "%Y%m%d"
DATE_FORMATS = (
    ISO,
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    COMPACT,
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d-%b-%y",
)
"""Every format that is looked for, the likeliest first. `%b` reads short and long names of months."""

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_DIRECTIVES = {
    "%Y": r"(?P<year>\d{4})",
    "%y": r"(?P<short>\d{2})",
    "%m": r"(?P<month>\d{1,2})",
    "%d": r"(?P<day>\d{1,2})",
    "%b": r"(?P<name>[A-Za-z]{3,9})\.?",
    "%B": r"(?P<name>[A-Za-z]{3,9})\.?",
    "%H": r"\d{1,2}",
    "%I": r"\d{1,2}",
    "%M": r"\d{1,2}",
    "%S": r"\d{1,2}",
    "%f": r"\d{1,9}",
    "%p": r"[AaPp]\.?[Mm]\.?",
    "%z": r"(?:Z|[+-]\d{2}:?\d{2})",
    "%%": "%",
}
_TIME = (
    r"(?:(?:T|\s+)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s*(?:[AaPp]\.?[Mm]\.?)?\s*"
    r"(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
)


def without_parts(texts: Sequence[str]) -> list[str]:
    """Texts in ISO form but for those that tell a year or a month and no day, as FHIR may; all where none tells a day.

    >>> without_parts(["2020-01-31", "2020-01", "2020"]), without_parts(["2020"])
    (['2020-01-31'], ['2020'])
    """
    whole = [text for text in texts if not _is_part(text)]
    return whole if any(re.match(r"\d{4}-\d{2}-\d{2}", text) for text in whole) else list(texts)


def _is_part(text: str) -> bool:
    """Whether a text is a year, or a year and a month, in ISO form."""
    return len(text) in {4, 7} and re.fullmatch(r"\d{4}(-\d{2})?", text, re.ASCII) is not None


def date_format_fault(date_format: str) -> str | None:
    """Why dates cannot be read in a declared format, or None.

    >>> date_format_fault("%d/%m/%Y"), date_format_fault("%d/%m")
    (None, 'it names no year: write %Y, or %y for two digits')
    """
    directives = re.findall(r"%.?", date_format)
    unknown = [directive for directive in directives if directive not in _DIRECTIVES]
    if unknown:
        return f"'{unknown[0]}' is not known; use %Y, %y, %m, %b, %d, and %H, %M, %S, %p, %z for times"
    dated = [directive for directive in directives if directive in {"%Y", "%y", "%m", "%b", "%B", "%d"}]
    for part, names, hint in (
        ("year", {"%Y", "%y"}, "write %Y, or %y for two digits"),
        ("month", {"%m", "%b", "%B"}, "write %m, or %b for names"),
        ("day", {"%d"}, "write %d"),
    ):
        number = sum(directive in names for directive in dated)
        if number != 1:
            return f"it names {'no' if not number else 'more than one'} {part}: {hint}"
    return None


@lru_cache(maxsize=64)
def _pattern(date_format: str) -> re.Pattern[str]:
    if date_format == COMPACT:  # nothing separates the parts, so each has its full width
        return re.compile(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})" + _TIME, re.ASCII)
    parts = re.split(r"(%.)", date_format)
    timed = any(part in {"%H", "%I", "%M", "%S", "%p", "%z"} for part in parts)
    written = [_DIRECTIVES.get(part) or re.escape(part).replace(r"\ ", r"\s+") for part in parts]
    return re.compile("".join(written) + ("" if timed else _TIME), re.ASCII)


def _month(name: str) -> int | None:
    """The number of a month by its name, which may be cut after three letters or more.

    >>> _month("AUG"), _month("Sept"), _month("ma")
    (8, 9, None)
    """
    found = [number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower())]
    return found[0] if len(name) >= 3 and found else None


def read_date(text: str, date_format: str) -> str | None:
    """The ISO form of a date in this format, or None; a time of day is dropped.

    >>> read_date("18AUG2020", "%d%b%Y"), read_date("8/18/20 2:43", "%m/%d/%y"), read_date("2020-02-30", ISO)
    ('2020-08-18', '2020-08-18', None)
    """
    found = _pattern(date_format).fullmatch(text.strip())
    if found is None:
        return None
    parts = found.groupdict()
    month = _month(parts["name"]) if parts.get("name") else int(parts["month"])
    if month is None:
        return None
    if parts.get("short"):
        year = int(parts["short"])
        year += 1900 if year >= 69 else 2000
    else:
        year = int(parts["year"])
    try:
        return dt.date(year, month, int(parts["day"])).isoformat()
    except ValueError:
        return None


SHORTEST = len("1/2/03")
"""Characters of the shortest date in one of the known formats."""


def may_be_date(text: str) -> bool:
    """Whether a text has what a date in any of the known formats has: digits, and enough characters.

    >>> may_be_date("3.4.2020"), may_be_date("2020"), may_be_date("neurology")
    (True, False, False)
    """
    return len(text) >= SHORTEST and any(map(str.isdigit, text))


def find_date_format(texts: Sequence[str]) -> str | None:
    """The likeliest known format that reads every text; of dates in ISO form every one that tells a day, where at least
    half of them do.

    >>> find_date_format(["2020-01-31", "2020-12-01"]), find_date_format(["31.01.2020"]), find_date_format(["soon"])
    ('%Y-%m-%d', '%d.%m.%Y', None)
    >>> find_date_format(["2020-01-31", "2020"]), find_date_format(["2020-01-31", "2019", "2020"])
    ('%Y-%m-%d', None)
    """
    found = next((f for f in DATE_FORMATS if texts and all(read_date(text, f) for text in texts)), None)
    if found is not None or not any(map(_is_part, texts)):
        return found
    whole = without_parts(texts)
    days = len(texts) / 2 <= len(whole) < len(texts) and all(read_date(text, ISO) for text in whole)
    return ISO if days else None


def other_reading(texts: Sequence[str], date_format: str) -> str | None:
    """A second known format that reads every text too, and at least one of them as another day, or None.

    >>> other_reading(["03/04/2020"], "%m/%d/%Y"), other_reading(["03/14/2020"], "%m/%d/%Y")
    ('%d/%m/%Y', None)
    """
    read = [read_date(text, date_format) for text in texts]
    for other in DATE_FORMATS:
        if other != date_format:
            again = [read_date(text, other) for text in texts]
            if None not in again and again != read:
                return other
    return None
