"""ZIP codes of the United States by their first three digits, as HIPAA's Safe Harbor allows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from medveil.errors import InputError
from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.file import read_rows
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

SPARSE = frozenset(re.findall(r"\d+", "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"))
"""Where at most 20,000 people lived by the census of 2000: Guidance Regarding Methods for De-identification of
Protected Health Information, US Department of Health and Human Services, 2012."""
CENSUS = "2000 census"
LEAST_PEOPLE = 20_000
JOINED = "000**"
ZIP = re.compile(r"(\d{3})(\*\*|\d{2}(-?\d{4})?)?")


class Populations(BaseModel):
    """How many people live in each three-digit area: a file `021;1180000` without a header, and the date of the
    count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[Path, Field(description="The file, relative to the policy.")]
    date: Annotated[str, Field(description="The census or estimate that the numbers are of, such as `2020 census`.")]


class Zip3(HierarchySpec):
    """The first three digits of a ZIP code (021**), then two and one. Areas where at most 20,000 people live are joined
    as 000**. Nothing finer than three digits is ever published.

    The list of such areas is that of the 2000 census, 17 of them, which the guidance on HIPAA's rule names; newer
    counts differ, and the rule asks for the current ones: give them as `domain: {path: populations.csv, date: 2020
    census}`.
    """

    name: ClassVar[str] = "zip3"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CODE, Kind.CATEGORY)

    type: Literal["zip3"] = "zip3"
    domain: Annotated[Populations | None, describe("People in each area, `{path: file, date: 2020 census}`.")] = None

    @property
    def least_level(self) -> int:
        return 1

    @property
    def counted(self) -> str:
        """The count that the joined areas are of."""
        return CENSUS if self.domain is None else self.domain.date

    def sparse(self, column: str, workspace: Workspace) -> frozenset[str]:
        """The areas that are joined: of at most 20,000 people, or of an unknown number."""
        if self.domain is None:
            return SPARSE
        rows = read_rows(workspace.resolve(self.domain.path), None, column)
        wrong = next((line for line, cells in rows if len(cells) != 2 or not _is_count(*cells)), None)
        if wrong is not None:
            raise InputError(
                f"Line {wrong} of the population file '{self.domain.path.name}' of '{column}' has no area with people.",
                "Write three digits and a whole number on every line, such as 021;1180000, without a header.",
            )
        enough = {area for _, (area, people) in rows if int(people) > LEAST_PEOPLE}
        return frozenset(f"{number:03d}" for number in range(1000)) - enough

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        joined = self.sparse(column, workspace)
        areas = [_area(value) for value in domain.values]
        known = np.array([area is not None for area in areas], dtype=np.bool_)
        drafts = []
        for kept in (3, 2, 1):
            labels: dict[str, int] = {}
            groups = np.full(len(domain), -1, dtype=np.int64)
            for leaf, area in enumerate(areas):
                if area is not None:
                    label = JOINED if area in joined else f"{area[:kept]:*<5}"
                    groups[leaf] = labels.setdefault(label, len(labels))
            covered = np.array([_covered(label, kept, joined) for label in labels])
            drafts.append(HierarchyDraft(groups, list(labels), covered))
        return assemble(self, domain, column, drafts, known, 1e5)

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        return [f"{number:05d}" for number in range(100_000)]

    def described(self) -> dict[str, Any]:
        return {**super().described(), **({} if self.domain is not None else {"version": self.counted})}

    version: Annotated[Literal["2000 census"] | None, describe("The count behind the list that medveil ships.")] = None


def _area(value: str | None) -> str | None:
    """The first three digits. Four digits have lost a zero in front of them."""
    text = (value or "").strip()
    found = ZIP.fullmatch(text.zfill(5) if text.isdigit() and len(text) == 4 else text)
    return found.group(1) if found else None


def _is_count(area: str, people: str) -> bool:
    return re.fullmatch(r"\d{3}", area) is not None and re.fullmatch(r"\d{1,10}", people) is not None


def _covered(label: str, kept: int, joined: frozenset[str]) -> float:
    """How many of the 100,000 codes a group stands for."""
    if label == JOINED:
        return 100.0 * len(joined | {"000"})
    return 100.0 * sum(
        f"{number:03d}"[:kept] == label[:kept] for number in range(1000) if f"{number:03d}" not in joined
    )
