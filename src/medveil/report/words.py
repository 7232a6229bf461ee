"""Numbers as people read them."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
MISSING = "(missing)"
LONGEST = 24


def percent(share: float) -> str:
    """A share, with a digit after the point; small ones are not rounded to nothing.

    >>> percent(0.5), percent(0), percent(0.0001), percent(1)
    ('50.0 %', '0 %', 'under 0.1 %', '100 %')
    """
    if share in {0, 1}:
        return f"{share:.0%}".replace("%", " %")
    if 0 < share < 0.001:
        return "under 0.1 %"
    return f"{share * 100:.1f} %"


def risk(share: float) -> str:
    """A risk as one in so many.

    >>> risk(0.2), risk(1), risk(0.0123), risk(0.8), risk(0)
    ('1 in 5', '1 in 1', '1 in 81', '1 in 1.2', 'none')
    """
    if share <= 0:
        return "none"
    return f"1 in {1 / share:,.0f}" if share < 0.1 else f"1 in {1 / share:.1f}".removesuffix(".0")


def few(count: float, total: float, least: int) -> str:
    """A share of people; a group of fewer than `least` is not told.

    >>> few(50, 100, 5), few(3, 100, 5), few(0, 100, 5)
    ('50.0 %', 'fewer than 5 people', 'nobody')
    """
    if count == 0:
        return "nobody"
    return percent(count / total) if count >= least else f"fewer than {least:,} people"


def figure(value: Any) -> str:
    """Any parameter or figure.

    >>> figure(0.123456), figure(12345), figure(True), figure(None), figure([1, 2]), figure(0.0)
    ('0.1235', '12,345', 'yes', 'left out', '1, 2', '0')
    """
    if value is None:
        return "left out"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "unbounded"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {figure(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(figure(inner) for inner in value) or "none"
    return clean(str(value)) if isinstance(value, str) else json.dumps(value, default=str)


def clean(text: str | None) -> str:
    """A label that a page can hold: no control characters; a missing value has a name.

    >>> clean("a" + chr(10) + "b"), clean(None), clean("")
    ('a b', '(missing)', '(empty)')
    """
    if text is None:
        return MISSING
    return _CONTROL.sub(" ", text) or "(empty)"


def short(text: str, longest: int = LONGEST) -> str:
    """A label that fits beside a bar; the table beside the picture has it whole. Wide characters count as two.

    >>> short("abcdefghij", 6), short("東京都渋谷区", 6)
    ('abcde…', '東京…')
    """
    widths = list(accumulate(1 + (east_asian_width(character) in "WF") for character in text))
    return text if not text or widths[-1] <= longest else f"{text[: bisect_right(widths, longest - 1)]}…"


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "record"), plural(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
