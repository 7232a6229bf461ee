"""What a page is made of; the template knows nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class PageTable:
    """Rows under headers; the first cell of a row is its name."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: bool = True
    """Whether all but the first column are figures."""


@dataclass(frozen=True)
class Picture:
    """A drawing, what it shows in a sentence, and the same numbers as a table. It is drawn when the page is."""

    title: str
    description: str
    draw: Callable[[str], str]
    table: PageTable
    wide: bool = False

    @cached_property
    def svg(self) -> str:
        return self.draw(f"{self.title}. {self.description}")

    def draw_once(self) -> None:
        """Draw it now, for whoever asks for it later."""
        _ = self.svg


@dataclass(frozen=True)
class Section:
    """A part of a page: words, then pictures, then tables."""

    anchor: str
    title: str
    words: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[PageTable] = ()


@dataclass(frozen=True)
class Verdict:
    """What comes first: whether all is well, in a sentence, and what that means."""

    good: bool
    sentence: str
    points: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """One self-contained page. `mark` stands over everything, such as INTERNAL."""

    title: str
    subtitle: str
    verdict: Verdict
    sections: Sequence[Section]
    mark: str | None = None
    about: Sequence[tuple[str, str]] = ()
    """What the steward says of the release, by name."""
    footer: Sequence[str] = field(default_factory=tuple)
