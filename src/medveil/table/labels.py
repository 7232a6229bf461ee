r"""What a published cell says: one value, a range, a set, or anything at all; written here and read back here.

    34                          the value itself; an empty cell is a missing value
    [20-34]                     numbers from 20 to 34, both ends included; `[0-2.5)` leaves the upper end out
    [2020-01-03 - 2020-02-10]   dates, or codes in the order of their text: ends with ` - ` between them
    90+  >=90  >90  <18  <=17   open ranges of numbers
    {a, b}                      one of these; `?` stands for a missing value: {a, b, ?}
    {[20-34], ?}                a set may hold ranges
    *                           any value, missing included

A backslash takes the meaning of the character after it: `{a\, b, c}` is a set of two. A value that stands alone is
written as it is, unless it would read as a set or as `*`; then a backslash goes before it. What reads as a range also
stands for the value of just that text: a column may hold the categories `[60-70)` and `90+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from medveil.table.domain import read_number

ANYTHING = "*"
MISSING = "?"

_SPECIAL = re.compile(r"([\\,{}\[\]])")
_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(rf"([\[(])({_NUMBER})-({_NUMBER})([\])])")
_TEXTS = re.compile(r"([\[(])((?:\\.|[^\\\[\]])+?) - ((?:\\.|[^\\\[\]])+)([\])])", re.DOTALL)
_AT_LEAST = re.compile(rf"({_NUMBER})\+")
_COMPARED = re.compile(rf"(<=|>=|<|>)\s*({_NUMBER})")


@dataclass(frozen=True)
class Span:
    """A range of numbers (`numeric`), or of dates or codes in the order of their text.

    An end that is None is open, one that is not closed is left out.
    """

    low: str | None
    high: str | None
    low_closed: bool = True
    high_closed: bool = True
    numeric: bool = True

    def holds(self, value: str) -> bool:
        """Whether a value lies in the range.

        >>> Span("5", "20").holds("7"), Span("5", "20").holds("x"), Span("5", "20", numeric=False).holds("7")
        (True, False, False)
        """
        if not self.numeric:
            return self._between(value, self.low, self.high)
        number = read_number(value)
        ends = (None if end is None else float(end) for end in (self.low, self.high))
        return number is not None and self._between(float(number), *ends)

    def _between(self, value: Any, low: Any, high: Any) -> bool:
        above = low is None or value > low or (self.low_closed and value == low)
        below = high is None or value < high or (self.high_closed and value == high)
        return bool(above and below)


@dataclass(frozen=True)
class Cover:
    """What a label stands for: any of `values`, of what lies in `spans`, a missing value, or anything."""

    values: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    missing: bool = False
    anything: bool = False

    def holds(self, value: str | None) -> bool:
        """Whether a value (None: missing) may stand behind the label."""
        if self.anything:
            return True
        if value is None:
            return self.missing
        return value in self.values or any(span.holds(value) for span in self.spans)


def value_label(value: str) -> str:
    r"""One value, published as it is unless it would read as something else.

    >>> print(value_label("White"), value_label("a, b"), value_label("{x}"), value_label("*"))
    White a, b \{x} \*
    """
    looks_special = value == ANYTHING or value.startswith(("\\", "{"))
    return "\\" + value if looks_special else value


def range_label(low: str, high: str, *, numeric: bool | None = None) -> str:
    """From `low` to `high`, both included; `low` itself where they are equal.

    `numeric`: whether they are numbers, which have their own order; found out from the ends by default.

    >>> range_label("20", "34"), range_label("-5", "-1"), range_label("2020-01-03", "2020-02-10"), range_label("7", "7")
    ('[20-34]', '[-5--1]', '[2020-01-03 - 2020-02-10]', '7')
    """
    if low == high:
        return value_label(low)
    if numeric is None:
        numeric = _is_number(low) and _is_number(high)
    return f"[{low}-{high}]" if numeric else f"[{_escape_end(low)} - {_escape_end(high)}]"


def span_label(low: str | None, high: str | None, *, high_closed: bool = True) -> str:
    """A range of numbers; an end that is None is open.

    >>> span_label("20", "34"), span_label("90", None), span_label(None, "18", high_closed=False)
    ('[20-34]', '90+', '<18')
    """
    if low is None and high is None:
        return ANYTHING
    if high is None:
        return f"{low}+"
    if low is None:
        return f"<={high}" if high_closed else f"<{high}"
    return f"[{low}-{high}{']' if high_closed else ')'}"


def set_label(values: Iterable[str | None], labels: Iterable[str] = ()) -> str | None:
    r"""Any of these values (None: a missing one), or of what these labels, taken as they are, stand for.

    A set of one is its member, so that a set of one missing value is None.

    >>> set_label(["a", "b"]), set_label(["a", None]), set_label(["a"]), set_label([None]), set_label([None], ["[1-3]"])
    ('{a, b}', '{a, ?}', 'a', None, '{[1-3], ?}')
    >>> print(set_label(["a, b", "?"]))
    {a\, b, \?}
    """
    listed, nested = list(values), list(labels)
    present = [value for value in listed if value is not None]
    missing = len(present) < len(listed)
    if len(present) + len(nested) + missing == 1:
        return None if missing else (value_label(present[0]) if present else nested[0])
    return join_members([set_member(value) for value in present] + nested + [MISSING] * missing)


def join_members(members: Iterable[str]) -> str:
    """A set of two or more members, each written by `set_member` or a range."""
    return "{" + ", ".join(members) + "}"


def set_member(value: str | None) -> str:
    """A value as it stands in a set."""
    if value is None:
        return MISSING
    escaped = _SPECIAL.sub(r"\\\1", value)
    reads_otherwise = escaped in {MISSING, ANYTHING} or _bracketed(escaped) is not None
    return "\\" + escaped if reads_otherwise else escaped


def parse_label(text: str | None) -> Cover:
    r"""What a published cell stands for.

    >>> cover = parse_label("{a\\, b, [20-34], ?}")
    >>> cover.values, cover.spans == (Span("20", "34"),), cover.missing
    (('a, b',), True, True)
    >>> parse_label("<18").spans == (Span(None, "18", high_closed=False),)
    True
    >>> parse_label("[0-2.5)").holds("2.5"), parse_label("90+").holds("90"), parse_label("*").holds(None)
    (False, True, True)
    """
    if text is None:
        return Cover(missing=True)
    if text == ANYTHING:
        return Cover(anything=True)
    members = _members(text)
    if members is None:
        span = _span(text)
        return Cover((text,), (span,)) if span else Cover((text.removeprefix("\\"),))
    values, spans, missing, anything = [], [], False, False
    for member in members:
        if member.isalnum():  # neither a range nor escaped, as most members are
            values.append(member)
            continue
        span = _span(member)
        missing |= member == MISSING
        anything |= member == ANYTHING
        if span is not None:
            spans.append(span)
        elif member not in {MISSING, ANYTHING}:
            values.append(re.sub(r"\\(.)", r"\1", member, flags=re.DOTALL))
    return Cover(tuple(values), tuple(spans), missing, anything)


def _members(text: str) -> list[str] | None:
    """The members of a set, still escaped; None where the text is no set."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    found = re.fullmatch(r"\{((?:\\.|[^\\{}])*)\}", text, re.DOTALL)
    if found is None:
        return None
    return re.findall(r"(?:^|, ?)((?:\\.|[^\\,])*)", found[1], re.DOTALL)


def _bracketed(text: str) -> Span | None:
    """A range in brackets."""
    found = _NUMBERS.fullmatch(text)
    numeric = found is not None
    found = found or _TEXTS.fullmatch(text)
    if found is None:
        return None
    low, high = (found[2], found[3]) if numeric else (_unescape(found[2]), _unescape(found[3]))
    return Span(low, high, low_closed=found[1] == "[", high_closed=found[4] == "]", numeric=numeric)


def _span(text: str) -> Span | None:
    """Any range, in brackets or open."""
    bracketed = _bracketed(text)
    if bracketed is not None:
        return bracketed
    at_least = _AT_LEAST.fullmatch(text)
    if at_least:
        return Span(at_least[1], None)
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        return None
    sign, end = compared.groups()
    closed = sign.endswith("=")
    return Span(None, end, high_closed=closed) if sign.startswith("<") else Span(end, None, low_closed=closed)


def _is_number(text: str) -> bool:
    return re.fullmatch(_NUMBER, text) is not None and not re.match(r"[+-]?0\d", text)


def _escape_end(text: str) -> str:
    return re.sub(r"([\\\[\]()\-])", r"\\\1", text) if not re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
