"""What a column's values look like: patterns, counted as the share of the sampled values that fit."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from medveil.table.dates import COMPACT, DATE_FORMATS, find_date_format, may_be_date, read_date
from medveil.table.domain import read_number
from medveil.table.numbers import find_number_format
from medveil.table.schema import Kind

SHORT = 13
"""Digits that no identifier has fewer of, unless it has other characters too."""
ENOUGH = 0.8
"""The share of values from which on a pattern says what a column is."""


class Pattern(NamedTuple):
    """A pattern of identifiers: its concept's key, HIPAA letter and noun, and the test that a value must pass.

    `strong` patterns hardly fit anything else, so that a few values which fit are worth a warning.
    """

    key: str
    letter: str
    noun: str
    fits: Callable[[str], object]
    strong: bool = True


def _expression(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).fullmatch


def _ip(value: str) -> bool:
    if value.count(".") != 3 and value.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _spanish_identity(value: str) -> bool:
    """Eight digits and the letter that they fix: the remainder by 23 picks it."""
    return (
        re.fullmatch(r"\d{8}-?[A-Z]", value) is not None and "TRWAGMYFPDXBNJZSQVHLCKE"[int(value[:8]) % 23] == value[-1]
    )


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1).

    >>> luhn("4539578763621486"), luhn("4539578763621487")
    (True, False)
    """
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + position % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _card(value: str) -> bool:
    digits = re.sub(r"[ -]", "", value)
    return re.fullmatch(r"\d{13,19}", digits) is not None and luhn(digits)


def _iban(value: str) -> bool:
    text = value.replace(" ", "")
    if re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text) is None:
        return False
    return int("".join(str(int(character, 36)) for character in text[4:] + text[:4])) % 97 == 1


def _vehicle(value: str) -> bool:
    letters = sum(character.isalpha() for character in value)
    return re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", value) is not None and 3 <= letters <= 14


STREET = (
    r"(street|st|road|rd|avenue|ave|av|lane|ln|way|drive|dr|court|ct|path|place|pl|square|boulevard|blvd|terrace|"
    r"strasse|straße|str|weg|gasse|platz|allee|rue|chemin|calle|plaza|camino|unit|apt|suite)"
)
PHONE = r"(\+\d{1,3}[ .-]?)(\(?\d{1,4}\)?[ ./-]?){2,5}\d{2,4}|(1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"

PATTERNS = (
    Pattern("mail", "F", "mail addresses", _expression(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    Pattern("url", "N", "web addresses", _expression(r"(?i)(https?|ftp)://\S+|www\.\S+\.\S+")),
    Pattern("ip", "O", "IP addresses", _ip),
    Pattern("social-security", "G", "social security numbers", _expression(r"(?!000)\d{3}-(?!00)\d\d-(?!0000)\d{4}")),
    Pattern("social-security", "G", "national identity numbers", _spanish_identity),
    Pattern("social-security", "G", "national identity numbers", _expression(r"\d{6}-[1-8]\d{6}")),
    Pattern("social-security", "G", "national insurance numbers", _expression(r"[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]")),
    Pattern("uuid", "R", "universally unique identifiers",
            _expression(r"(?i)\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?")),
    Pattern("hash", "R", "hashes or keys", _expression(r"(?i)([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")),
    Pattern("device", "M", "device identifiers", _expression(r"\(01\)\d{14}.*")),
    Pattern("device", "M", "network addresses of devices", _expression(r"(?i)[0-9a-f]{2}([:-][0-9a-f]{2}){5}")),
    Pattern("account", "J", "bank accounts", _iban),
    Pattern("account", "J", "payment cards", _card, strong=False),
    Pattern("photo", "Q", "names of image files", _expression(r"(?i)\S.*\.(jpe?g|png|gif|bmp|tiff?|heic|dcm)")),
    Pattern("vehicle", "L", "vehicle identification numbers", _vehicle, strong=False),
    Pattern("phone", "D", "telephone numbers",
            _expression(PHONE), strong=False),
    Pattern("address", "B", "street addresses",
            _expression(rf"(?i)\d+[a-z]? [^\d,]*\b{STREET}\b\.?.*|[^\d]*{STREET}\.? \d+ ?[a-z]?(,.*)?"), strong=False),
)  # fmt: skip

_DATE = _expression(
    r"(\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)|\d{4}[./-]\d{1,2}[./-]\d{1,2}|(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])|"
    r"\d{1,2}[ -.]+[A-Za-zäéû]{3,10}[ -.,]+\d{2,4}|[A-Za-zäéû]{3,10}\.? \d{1,2},? \d{4})([ T]\d{1,2}:\d\d.*)?"
)
_PERSON = _expression(r"[A-ZÀ-Þ][\w'\u2019.-]*(,? [A-ZÀ-Þ][\w'\u2019.-]*){1,3}")
_CODE = _expression(r"[A-Za-z0-9][A-Za-z0-9./-]*")
_PADDED = _expression(r"0\d+")
_ICD = _expression(r"[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?")


def share(values: Sequence[str], fits: Callable[[str], object]) -> float:
    """The share of values that fit; 0 where there are none."""
    return sum(map(bool, map(fits, map(str.strip, values)))) / len(values) if values else 0.0


def shares_of_patterns(values: Sequence[str]) -> dict[Pattern, float]:
    """The share of values that fit each pattern. A short number fits none, and is not asked."""
    asked = [text for text in map(str.strip, values) if not _is_short_number(text)]
    return {pattern: sum(map(bool, map(pattern.fits, asked))) / max(len(values), 1) for pattern in PATTERNS}


def _is_short_number(text: str) -> bool:
    return len(text) < SHORT and text.replace(".", "", 1).isdecimal()


def looks_like_date(value: str) -> bool:
    """Whether a value looks like some date, whatever the format."""
    return bool(_DATE(value))


def looks_like_person(value: str) -> bool:
    """Whether a value is two to four words with capital letters, as people's names are."""
    return bool(_PERSON(value))


def find_dates(values: Sequence[str]) -> str | None:
    """The likeliest format in which all values are dates, or None.

    Eight digits are taken for dates of our time only: record numbers may read as dates too.
    """
    found = find_date_format(values)
    if found != COMPACT:
        return found
    years = [int((read_date(value, found) or "0")[:4]) for value in values]
    return found if all(1850 <= year <= 2250 for year in years) else None


def date_formats(values: Sequence[str]) -> int:
    """How many of the known formats read at least one of the values."""
    dated = [value for value in values if may_be_date(value)]
    return sum(any(read_date(value, date_format) for value in dated) for date_format in DATE_FORMATS)


# The group D5 in two tables: multiplication, and the permutation by position (Verhoeff 1969).
_TIMES = [[(i + j) % 5 if i < 5 and j < 5 else 5 + (i + j) % 5 if i < 5 else 5 + (i - j) % 5 if j < 5 else (i - j) % 5
           for j in range(10)] for i in range(10)]  # fmt: skip
_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def verhoeff(digits: str) -> bool:
    """Whether the last digit is Verhoeff's check digit of the others, as in every SNOMED CT identifier.

    >>> verhoeff("2363"), verhoeff("2364"), verhoeff("73211009")
    (True, False, True)
    """
    check = 0
    for position, character in enumerate(reversed(digits)):
        digit = int(character)
        for _ in range(position % 8):
            digit = _STEP[digit]
        check = _TIMES[check][digit]
    return check == 0


def _snomed(value: str) -> bool:
    return re.fullmatch(r"[1-9]\d{5,17}", value) is not None and verhoeff(value)


def _loinc(value: str) -> bool:
    return re.fullmatch(r"\d{1,5}-\d", value) is not None and luhn(value.replace("-", ""))


CLINICAL_CODES = (("ICD codes", _ICD), ("SNOMED CT codes", _snomed), ("LOINC codes", _loinc))


def find_clinical_codes(values: Sequence[str]) -> str | None:
    """The clinical vocabulary that the values are codes of, or None; fewer than five values say nothing."""
    return next((noun for noun, fits in CLINICAL_CODES if len(values) >= 5 and share(values, fits) >= ENOUGH), None)


def are_numbers(values: Sequence[str]) -> bool:
    return bool(values) and all(read_number(value) is not None for value in values)


def are_whole(values: Sequence[str]) -> bool:
    """Whether all are whole numbers."""
    return bool(values) and all((read_number(value) or ".").lstrip("-").isdigit() for value in values)


def have_leading_zeros(values: Sequence[str]) -> bool:
    """Whether a value has a zero in front that a number would lose."""
    return any(value.lstrip().startswith("0") and _PADDED(value.strip()) for value in values)


def looks_like_codes(values: Sequence[str]) -> bool:
    """Whether the values are short runs of letters and digits, with digits in nearly all and letters in most."""
    if not values or share(values, _CODE) < 0.9:
        return False
    digits = share(values, lambda value: any(character.isdigit() for character in value))
    letters = share(values, lambda value: any(character.isalpha() for character in value))
    return digits >= 0.9 and letters >= 0.5


def find_kind(values: Sequence[str]) -> Kind:
    """The kind that the values alone speak for."""
    if not values:
        return Kind.CATEGORY
    if find_dates(values):
        return Kind.DATE
    if are_numbers(values):
        return Kind.CODE if have_leading_zeros(values) else Kind.NUMBER
    if find_number_format(values):
        return Kind.NUMBER
    return Kind.CODE if looks_like_codes(values) else Kind.CATEGORY
