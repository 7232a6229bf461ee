"""Top and bottom codes alone: 90+ and <18, everything between as it is."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.numberline import (
    all_whole,
    check_ends,
    decimals,
    line_of,
    number_text,
    present,
    whole_leaves,
)
from medveil.hierarchy.spans import data_ends
from medveil.hierarchy.specification import HierarchySpec, Number, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace


class TopBottom(HierarchySpec):
    """Three levels: the value, which is never published; the value or its code; `*`.

    Whole numbers are counted over the domain (from the smallest to the largest of the data where none is declared).
    Other numbers have no count of their own, so the distinct values of the data are counted.
    """

    name: ClassVar[str] = "top-bottom"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBER,)

    type: Literal["top-bottom"] = "top-bottom"
    domain: Annotated[tuple[Number, Number] | None, describe("The smallest and the largest possible number.")] = None
    top: Annotated[Number | None, describe("Numbers from here on are one group, such as `90+`.")] = None
    bottom: Annotated[Number | None, describe("Numbers below this are one group, such as `<18`.")] = None

    @model_validator(mode="after")
    def _check(self) -> TopBottom:
        if self.top is None and self.bottom is None:
            raise ValueError("Give a top code, a bottom code or both.")
        check_ends(self.domain, self.top, self.bottom)
        return self

    @property
    def least_level(self) -> int:
        return 1

    def _codes(self) -> list[float]:
        return [code for code in (self.bottom, self.top) if code is not None]

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        numbers = domain.numbers
        codes = self._codes()
        whole = all_whole(self.domain or (), codes) and bool(np.all(np.mod(present(numbers), 1) == 0))
        low, high = self.domain or data_ends([*present(numbers), *codes], None, None, whole=whole)
        line = line_of(numbers, (low, high), whole=whole, top=self.top, bottom=self.bottom)
        inside = numbers[line.known & ~line.extra]
        # Groups: one for each known value, then the bottom code, then the top code.
        values = [value for value, fits in zip(domain.values, line.known, strict=True) if fits and value is not None]
        groups = np.full(len(domain), -1, dtype=np.int64)
        groups[line.known] = np.arange(len(values))
        labels, covered = list(values), [1.0] * len(values)
        places = max(map(decimals, codes))
        if self.bottom is not None:
            groups[line.known & (numbers < self.bottom)] = len(labels)
            labels.append(f"<{number_text(self.bottom, places, whole=whole)}")
            covered.append(self.bottom - low if whole else float(np.sum(inside < self.bottom)))
        if self.top is not None:
            groups[line.known & (numbers >= self.top)] = len(labels)
            labels.append(f"{number_text(self.top, places, whole=whole)}+")
            covered.append(high - self.top + 1 if whole else float(np.sum(inside >= self.top)))
        size = high - low + 1 if whole else float(len(inside))
        draft = HierarchyDraft(groups, labels, np.array(covered, dtype=np.float64))
        return assemble(self, domain, column, [draft], line.known, size, extra=line.extra)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return whole_leaves(self.domain) if all_whole(self._codes()) else None
