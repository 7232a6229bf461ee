"""ATC codes of drugs, by their positions."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

LENGTHS = (1, 3, 4, 5, 7)
"""The characters of an anatomical group, a therapeutic, a pharmacological, a chemical one, and a substance."""
CODE = re.compile(r"[A-DGHJ-NPR-V](\d\d([A-Z]([A-Z](\d\d)?)?)?)?")


class Atc(HierarchySpec):
    """Drugs by the WHO's Anatomical Therapeutic Chemical code: A10BA02, A10BA**, A10B***, A10****, A******. The
    groups are in the code itself; no list of codes is shipped, so coverage is counted over the codes that the data
    hold. A code of a group (A10B) is a value of its own until that group's level.
    """

    name: ClassVar[str] = "atc"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CODE, Kind.CATEGORY)

    type: Literal["atc"] = "atc"

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        codes = [(value or "").strip().upper() for value in domain.values]
        known = np.array([CODE.fullmatch(code) is not None for code in codes], dtype=np.bool_)
        drafts = []
        for kept in LENGTHS[-2::-1]:
            labels: dict[str, int] = {}
            groups = np.full(len(domain), -1, dtype=np.int64)
            for leaf in np.flatnonzero(known):
                groups[leaf] = labels.setdefault(_label(codes[leaf], kept), len(labels))
            covered = np.bincount(groups[known], minlength=len(labels)).astype(np.float64)
            drafts.append(HierarchyDraft(groups, list(labels), covered))
        return assemble(self, domain, column, drafts, known, float(known.sum()))

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return None


def _label(code: str, kept: int) -> str:
    """The group of so many characters; a code that is shorter stays as it is, since it names a wider group."""
    return code if len(code) < kept else code[:kept] + ROOT * (LENGTHS[-1] - kept)
