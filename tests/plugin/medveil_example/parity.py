"""A hierarchy of another package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind


class Parity(HierarchySpec):
    """Whole numbers from 0 to a largest one: even or odd, then anything."""

    name: ClassVar[str] = "parity"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBER,)

    type: Literal["parity"] = "parity"
    largest: Annotated[int, describe("The largest number.", ge=1)]

    def bind(
        self,
        domain: Domain,
        column: str,
        folder: Path,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        known = np.array([value is not None and value.isdigit() for value in domain.values], dtype=np.bool_)
        groups = np.full(len(domain), -1, dtype=np.int64)
        groups[known] = [int(value) % 2 for value in domain.values if value is not None and value.isdigit()]
        half = (self.largest + 1) // 2
        covered = np.array([self.largest + 1 - half, half], dtype=np.float64)
        return assemble(
            self, domain, column, [HierarchyDraft(groups, ["even", "odd"], covered)], known, self.largest + 1.0
        )

    def leaves(self, column: str, folder: Path) -> list[str] | None:  # noqa: ARG002
        return [str(number) for number in range(self.largest + 1)]
