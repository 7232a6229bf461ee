"""From a page's content to HTML."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from medveil.report.content import Page

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"
NEEDED = ("jinja2", "matplotlib")
NOT_INSTALLED = "No report was made: pip install 'medveil[report]' adds what draws it."


def can_be_made() -> bool:
    """Whether the extra 'report' is installed."""
    return all(find_spec(name) is not None for name in NEEDED)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html")


def render(page: Page) -> str:
    """The page as one file: style and pictures are in it, and nothing is loaded from anywhere."""
    from medveil.report.drawing import settings  # noqa: PLC0415

    style = (TEMPLATES / "page.css").read_text(encoding="utf-8").strip()
    with settings():
        return _template().render(page=page, style=style) + "\n"
