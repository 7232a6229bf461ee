"""From a page's content to HTML."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from medveil.report.content import Page
from medveil.report.template import style, template

NEEDED = ("jinja2", "matplotlib")
NOT_INSTALLED = "No report was made: pip install 'medveil[report]' adds what draws it."


def can_be_made() -> bool:
    """Whether the extra 'report' is installed."""
    return all(find_spec(name) is not None for name in NEEDED)


def render(page: Page, step: Callable[[float], None] = lambda _share: None) -> str:
    """The page as one file: style and pictures are in it, and nothing is loaded from anywhere. `step` is told the share
    of its pictures that is drawn.
    """
    pictures = [picture for section in page.sections for picture in section.pictures]
    for number, picture in enumerate(pictures):
        step(number / len(pictures))
        picture.draw_once()
    return template("page.html").render(page=page, style=style()) + "\n"
