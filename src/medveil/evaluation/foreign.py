"""Labels as other programs write them: `20-29`, `[20, 30[`, `20..29`, `> 64`, `123**`."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from medveil.table.labels import Cover, Span

_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_BETWEEN = re.compile(rf"\s*([\[(\]]?)\s*({_NUMBER})\s*(?:-|–|—|,|;|:|\.\.\.?|~|to)\s*({_NUMBER})\s*([\])\[]?)\s*")  # noqa: RUF001
_COMPARED = re.compile(rf"\s*(<=|>=|<|>|≤|≥)\s*({_NUMBER})\s*")
_MASKED = re.compile(r"([^*]+)(\*+)")
LAST = "\U0010ffff"
_LIST = re.compile(r"\s*[\[({]?([^\[\](){}]*)[\])}]?\s*")


def read_foreign(text: str, values: Sequence[str], *, by_text: bool = True) -> Cover | None:
    """What a label of another program may stand for among these values, None where nothing fits.

    `by_text`: the values are in the order of their text.

    >>> read_foreign("20-29", ["25"]).holds("25"), read_foreign("[20, 30[", ["30"]).holds("30")
    (True, False)
    >>> read_foreign("12*", ["119", "121", "125", "13"]).values, read_foreign("> 64", []).holds("65")
    (('121', '125'), True)
    >>> read_foreign("a; b", ["a", "b", "c"]).values, read_foreign("elsewhere", ["a"])
    (('a', 'b'), None)
    """
    if found := _BETWEEN.fullmatch(text):
        left, low, high, right = found.groups()
        if float(low) <= float(high):
            return Cover(
                spans=(Span(low, high, low_closed=left not in {"(", "]"}, high_closed=right not in {")", "["}),)
            )
    if found := _COMPARED.fullmatch(text):
        sign, end = found[1].replace("≤", "<=").replace("≥", ">="), found[2]
        closed = sign.endswith("=")
        span = Span(None, end, high_closed=closed) if sign.startswith("<") else Span(end, None, low_closed=closed)
        return Cover(spans=(span,))
    if found := _MASKED.fullmatch(text):
        return _masked(found[1], len(text), values, by_text=by_text)
    return _listed(text, values)


def _masked(prefix: str, length: int, values: Sequence[str], *, by_text: bool) -> Cover | None:
    """Values that begin like this: those of this length where there are any."""
    if by_text:
        first = bisect.bisect_left(values, prefix)
        values = values[first : bisect.bisect_left(values, prefix + LAST, first)]
    matching = tuple(value for value in values if value.startswith(prefix))
    same = tuple(value for value in matching if len(value) == length)
    return Cover(values=same or matching) if matching else None


def _listed(text: str, values: Sequence[str]) -> Cover | None:
    """Several values with `,`, `;`, `|` or `/` between them."""
    inner = _LIST.fullmatch(text)
    if inner is None:
        return None
    for separator in (";", "|", ",", "/"):
        members = tuple(member.strip() for member in inner[1].split(separator))
        if len(members) > 1 and set(members) <= set(values):
            return Cover(values=members)
    return None
