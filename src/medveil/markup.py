"""Small pieces of HTML for notebooks: everything that is filled in is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = ' style="text-align: left; vertical-align: top"'


def paragraph(text: str, *, strong: bool = False) -> str:
    """A paragraph.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    inner = escape(text)
    return f"<p><b>{inner}</b></p>" if strong else f"<p>{inner}</p>"


def grid(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; a missing value is an empty cell."""
    head = "".join(f"<th{_CELL}>{escape(header)}</th>" for header in headers)
    body = "".join(
        "<tr>" + "".join(f"<td{_CELL}>{escape('' if cell is None else str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
