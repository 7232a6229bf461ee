"""ICD-10-CM: diagnoses as they are coded in the United States."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from medveil.hierarchy.code_tree import Classification, not_installed, version_of
from medveil.hierarchy.icd import IcdTree, characters, cut, span
from medveil.hierarchy.specification import describe

IcdLevel = Literal["characters-6", "characters-5", "characters-4", "category", "block", "chapter"]
LEVELS: tuple[IcdLevel, ...] = ("characters-6", "characters-5", "characters-4", "category", "block", "chapter")
PACKAGE = "simple-icd-10-cm"
LIST = "code-list-"


@cache
def load() -> Classification:
    release, names = _listed()
    # The list is in the order of the tree: a chapter's number, its blocks, their codes. A block of one category is
    # called like it, so that its name comes twice.
    chapter, block = "", ""
    blocks: dict[str, list[str]] = {}
    places: dict[str, tuple[str, str]] = {}
    for name, following in itertools.pairwise([*names, ""]):
        if name.isdigit():
            chapter = name
        elif "-" in name or name == following:
            block = name
            blocks.setdefault(chapter, []).append(block)
        else:
            places[dotted(name)] = (span([block]), chapter)
    codes = list(places)
    levels = {
        **{f"characters-{most}": _cut(places, most) for most in (6, 5, 4)},
        "category": _cut(places, 3),
        "block": [places[code][0] for code in codes],
        "chapter": [span(blocks[places[code][1]]) for code in codes],
    }
    return Classification(version_of(PACKAGE, release), codes, levels)


def _listed() -> tuple[str, list[str]]:
    """The release of the list that the package brings, and the list. The package itself takes seconds to load."""
    found = importlib.util.find_spec("simple_icd_10_cm")
    if found is None or found.origin is None:
        raise not_installed("icd-10-cm", PACKAGE)
    file = next(Path(found.origin).parent.glob(f"data/{LIST}*.txt"))
    release = file.name.removeprefix(LIST).removesuffix(".txt").replace("-", " ")
    return f"ICD-10-CM {release}", file.read_text(encoding="utf-8").split()


def dotted(code: str) -> str:
    """A code with its dot.

    >>> dotted("S72001A"), dotted("I10")
    ('S72.001A', 'I10')
    """
    return code if len(code) <= 3 else f"{code[:3]}.{code[3:]}"


def _cut(codes: Collection[str], most: int) -> list[str]:
    """Groups of at most so many characters. Not every beginning of a code is one: S01.00XA is below S01.00."""

    def above(code: str) -> list[str]:
        return [code[:end] for end in range(len(code) - 1, 2, -1) if code[:end] in codes]

    return cut(list(codes), above, lambda code: characters(code) <= most)


class Icd10Cm(IcdTree):
    """Codes of ICD-10-CM (E11.621), cut to 6, 5 and 4 characters, then to category (E11.-), block (E08-E13) and chapter
    (E00-E89). Needs the extra `codes`.
    """

    name: ClassVar[str] = "icd-10-cm"

    type: Literal["icd-10-cm"] = "icd-10-cm"
    levels: Annotated[tuple[IcdLevel, ...], describe("The levels between code and `*`, the finest first.")] = LEVELS

    def classification(self) -> Classification:
        return load()

    @property
    def chosen(self) -> Sequence[str]:
        return [level for level in LEVELS if level in self.levels]
