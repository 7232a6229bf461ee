"""Which published classification a column's values are codes of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from medveil.errors import InputError
from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess
from medveil.hierarchy.atc import CODE as ATC
from medveil.hierarchy.atc import Atc
from medveil.hierarchy.icd import IcdTree
from medveil.hierarchy.icd_9_cm import Icd9Cm
from medveil.hierarchy.icd_10 import Icd10
from medveil.hierarchy.icd_10_cm import Icd10Cm
from medveil.hierarchy.specification import HierarchySpec
from medveil.hierarchy.zip3 import ZIP, Zip3
from medveil.table.schema import Role

ENOUGH = 0.95
"""The share of values that must be codes of a classification."""
FEWEST = 5
"""Fewer distinct values say nothing."""
OTHER = "other"
ICD_10 = re.compile(r"[A-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?", re.IGNORECASE)
ICD_9 = re.compile(r"(\d{1,3}|V\d{2}|E\d{3})(\.\d{1,2})?|(\d{3}|V\d{2})\d{1,2}|E\d{4}", re.IGNORECASE)


def find_code_tree(values: Sequence[str], concept: str = "") -> HierarchySpec | None:
    """The hierarchy of the classification that the values are codes of; None where they are of none that is at hand.

    Numbers may be codes of ICD-9-CM only where a letter among them or the column's name (`concept`) says so.
    """
    if concept == "zip" and _fits(ZIP, values):
        return Zip3()
    if len(values) < FEWEST:
        return None
    if _fits(ATC, values) and any(len(value) == 7 for value in values):
        return Atc(other=None if _share(ATC, values) == 1.0 else OTHER)
    for tree in _candidates(values, concept):
        try:
            known = tree.known(values)
        except InputError:  # the extra is not installed
            continue
        if known >= ENOUGH:
            return tree if known == 1.0 else tree.model_copy(update={"other": OTHER})
    return None


def with_code_tree(column: ColumnProfile, found: Guess) -> Guess:
    """The guess with the classification of its codes: as its hierarchy where others may know it, else in words."""
    if found.role not in {Role.QUASI, Role.SENSITIVE}:
        return found
    tree = find_code_tree(column.sample, found.concept)
    if tree is None:
        return found
    if found.role is Role.QUASI:
        return replace(found, hierarchy=tree, min_level=0)
    return replace(found, reason=f"{found.reason} Its codes generalize by 'hierarchy: {{type: {tree.name}}}'.")


def _candidates(values: Sequence[str], concept: str) -> Iterator[IcdTree]:
    dots = any("." in value for value in values)
    if _fits(ICD_10, values) and not _fits(ICD_9, values):
        longest = max(len(value.replace(".", "")) for value in values)
        # Codes of both have up to four characters; the international ones have no more.
        kinds = (Icd10Cm, Icd10) if longest > 4 else (Icd10, Icd10Cm)
        yield from (kind() if dots else kind(dots=False) for kind in kinds)
    elif _fits(ICD_9, values) and (concept == "diagnosis" or any(value[:1].isalpha() for value in values)):
        yield Icd9Cm() if dots else Icd9Cm(dots=False)


def _share(form: re.Pattern[str], values: Sequence[str]) -> float:
    return sum(form.fullmatch(value.strip()) is not None for value in values) / max(len(values), 1)


def _fits(form: re.Pattern[str], values: Sequence[str]) -> bool:
    return bool(values) and _share(form, values) >= ENOUGH
