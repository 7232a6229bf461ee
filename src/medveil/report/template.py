"""The templates that pages and pictures are filled into."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    from medveil.report.compiled_templates import CompiledTemplates  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=False,
        bytecode_cache=CompiledTemplates(FOLDER / "__pycache__"),
    )
    # Hundredths of a point are finer than any screen, and a whole number needs no decimals.
    environment.filters["point"] = lambda number: f"{number:.2f}".rstrip("0").rstrip(".")
    return environment


def template(name: str) -> Template:
    """A template by the name of its file. What is filled in is escaped, in pages and in pictures."""
    return _environment().get_template(name)


def style() -> str:
    """The style sheet of every page."""
    return (FOLDER / "page.css").read_text(encoding="utf-8").strip()
