"""A paper's tables and figures with our numbers beside theirs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from medveil.run import Run


class Agreement(StrEnum):
    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    """What chance does to our figures is as large as what the paper claims."""
    NOT_REPRODUCIBLE = "not reproducible"
    OURS = "ours alone"
    """A figure that the paper does not have."""


@dataclass(frozen=True)
class ReproducedLine:
    """One figure: what it is, what the paper prints, what we measured, and why they differ where they do."""

    what: str
    paper: str
    ours: str
    verdict: Agreement
    why: str = ""


@dataclass(frozen=True)
class ReproducedSection:
    """One table or figure of a paper."""

    title: str
    lines: tuple[ReproducedLine, ...]
    note: str = ""


class Reproduction(ABC):
    """The reproduction of one paper; found by being there."""

    name: ClassVar[str]
    paper: ClassVar[str]
    """Authors, year, title."""

    @abstractmethod
    def sections(self, data: Path, run: Run, *, quick: bool) -> Iterator[ReproducedSection]:
        """The paper's tables and figures, one after the other.

        `data` is the folder of public data sets; `quick` takes fewer repetitions, for a first look.
        """


def to_markdown(reproduction: Reproduction, sections: Sequence[ReproducedSection]) -> str:
    """The results as a page."""
    parts = [f"# {reproduction.paper}", ""]
    for section in sections:
        parts += [f"## {section.title}", ""]
        if section.lines:
            parts += ["| figure | paper | medveil | verdict | why |", "|---|---|---|---|---|"]
            parts += [
                f"| {line.what} | {line.paper} | {line.ours} | {line.verdict.value} | {line.why} |"
                for line in section.lines
            ]
            parts.append("")
        if section.note:
            parts += [section.note, ""]
    return "\n".join(parts)
