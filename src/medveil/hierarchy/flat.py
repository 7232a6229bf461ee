"""From the value to `*`: what a column without a hierarchy gets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from medveil.hierarchy.assemble import assemble
from medveil.hierarchy.file import read_rows
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import MOST_LEAVES, HierarchySpec, describe
from medveil.hierarchy.tabulated import Tabulated, bind_table, listed
from medveil.table.domain import Domain
from medveil.workspace import Workspace


class Range(BaseModel):
    """All whole numbers from the first to the last."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    range: tuple[int, int]

    @model_validator(mode="after")
    def _check(self) -> Range:
        low, high = self.range
        if low > high:
            raise ValueError("The range ends before it begins. Write the smaller number first.")
        return self


class Codes(BaseModel):
    """The values in the first cell of each line of a file without a header."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path


class Flat(HierarchySpec):
    """Values, then the root. `domain:` declares which values there are, whether or not the data hold them:
    a list, `{range: [0, 99]}` or `{path: codes.csv}`. Without it the values are those of the data.
    """

    name: ClassVar[str] = "flat"

    type: Literal["flat"] = "flat"
    domain: Annotated[
        tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] | Range | Codes | None,
        describe("Its values: a list, `{range: [low, high]}` or `{path: file}`."),
    ] = None

    def _declared(self, column: str, workspace: Workspace) -> list[str] | None:
        if self.domain is None:
            return None
        if isinstance(self.domain, Range):
            low, high = self.domain.range
            return [str(number) for number in range(low, high + 1)] if high - low < MOST_LEAVES else None
        if isinstance(self.domain, Codes):
            return listed([cells[0] for _, cells in read_rows(workspace.resolve(self.domain.path), None, column)])
        return listed(self.domain)

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        declared = self._declared(column, workspace)
        if declared is not None:
            return bind_table(self, Tabulated(declared, []), domain, column)
        present = np.array([value is not None for value in domain.values], dtype=np.bool_)
        size = float(present.sum())
        if isinstance(self.domain, Range):
            low, high = self.domain.range
            numbers = domain.numbers
            present &= (numbers >= low) & (numbers <= high) & (numbers == np.floor(numbers))
            size = high - low + 1.0
        return assemble(self, domain, column, [], present, size)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:
        return self._declared(column, workspace)
