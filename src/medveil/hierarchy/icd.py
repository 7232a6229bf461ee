"""What the trees of ICD-10 have in common: chapters hold blocks, these hold categories, and these longer codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated

from medveil.hierarchy.code_tree import CodeTree, marked
from medveil.hierarchy.specification import describe


class IcdTree(CodeTree):
    """Diagnoses; levels may be left out, and codes be published without dots."""

    dots: Annotated[bool, describe("Whether codes are published with a dot, as in E11.9.")] = True

    def write(self, label: str) -> str:
        return label if self.dots else label.replace(".", "")


def characters(code: str) -> int:
    return len(code.replace(".", ""))


def cut(codes: Sequence[str], ancestors: Callable[[str], Sequence[str]], fits: Callable[[str], bool]) -> list[str]:
    """The group of each code at a level: the code itself or its nearest ancestor that fits there; without a mark where
    the group holds nothing but the code.
    """
    groups = [next(one for one in (code, *ancestors(code)) if fits(one)) for code in codes]
    size = Counter(groups)
    return [code if size[group] == 1 else marked(group) for code, group in zip(codes, groups, strict=True)]


def span(names: Sequence[str]) -> str:
    """From the first category of these blocks to the last: `I00-I99`.

    >>> span(["I00-I02", "I05-I09", "I1A"])
    'I00-I1A'
    """
    return f"{names[0].partition('-')[0]}-{names[-1].rpartition('-')[2]}"
