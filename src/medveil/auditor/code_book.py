"""The code book beside a release: what its ids stand for, and on how many people its means rest."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.evidence import Evidence

FILE = "codebook.csv"
COLUMNS = ["attribute", "published", "stands_for", "people", "low", "high"]
STATISTICS = ("mean", "median", "percentage")
FIGURES = ("means", "percentages")
"""The forms of columns that are published as figures of intervals."""


@dataclass(frozen=True)
class CodeBookLine:
    """One line: `people` is None for an id, which stands for a value, and a number for a mean or median."""

    attribute: str
    published: str
    stands_for: str
    people: int | None
    low: str
    high: str


def read_code_book(evidence: Evidence) -> list[CodeBookLine]:
    """The published code book; one that is missing, not listed or not well made proves nothing."""
    if FILE not in evidence.manifest.files:
        raise CannotTell(f"needs '{FILE}' among the files of the manifest")
    try:
        with (evidence.folder / FILE).open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            if reader.fieldnames != COLUMNS:
                raise Refuted(f"'{FILE}' does not have the columns {', '.join(COLUMNS)}")
            return [
                CodeBookLine(
                    row["attribute"],
                    row["published"],
                    row["stands_for"],
                    int(row["people"]) if row["people"] else None,
                    row["low"],
                    row["high"],
                )
                for row in reader
            ]
    except (OSError, ValueError, csv.Error):
        raise Refuted(f"'{FILE}' cannot be read") from None


def support(lines: list[CodeBookLine], attribute: str) -> Mapping[str, int]:
    """The people behind each mean of a column of means: the fewest, where several intervals share a mean."""
    found: dict[str, int] = {}
    for line in lines:
        if line.attribute == attribute:
            if line.stands_for not in STATISTICS:
                raise Refuted(f"'{FILE}' has something of '{attribute}' that is neither mean nor median")
            if line.people is None:
                raise Refuted(f"'{FILE}' does not tell how many people are behind a number of '{attribute}'")
            found[line.published] = min(line.people, found.get(line.published, line.people))
    return found


def meaning(lines: list[CodeBookLine], attribute: str) -> Mapping[str, str]:
    """What each id of a column stands for; two values with one id, or two ids of one value, are no code."""
    pairs = [(line.published, line.stands_for) for line in lines if line.attribute == attribute and line.people is None]
    found = dict(pairs)
    if len(found) < len(pairs) or len(set(found.values())) < len(pairs):
        raise Refuted(f"'{FILE}' gives '{attribute}' an id or a value twice")
    return found


def mean_of(label: str) -> str:
    """What a label of a column of means names, beside a missing value or alone.

    >>> mean_of("36"), mean_of("{-3, ?}")
    ('36', '-3')
    """
    return label[1:-4] if label.startswith("{") and label.endswith(", ?}") else label


def recoded_as(evidence: Evidence, *forms: str) -> list[str]:
    """The published columns of these forms."""
    return [name for name in evidence.names() if evidence.described(name).get("form") in forms]
