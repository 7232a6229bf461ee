"""Codes of one length whose characters are masked one by one."""

from __future__ import annotations

import itertools
import string
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from medveil.hierarchy.assemble import HierarchyDraft, assemble
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.specification import MOST_LEAVES, HierarchySpec, describe
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

ALPHABETS = {
    "digits": string.digits,
    "letters": string.ascii_uppercase,
    "alphanumeric": string.digits + string.ascii_uppercase,
}


class Mask(HierarchySpec):
    """Each level replaces one more character by `*`: 12345, 1234*, 123**, ...; the last is the root `*`.

    With an alphabet of a characters and codes of n of them, m masked characters cover a^m of the a^n leaves.
    """

    name: ClassVar[str] = "mask"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CODE, Kind.CATEGORY)

    type: Literal["mask"] = "mask"
    length: Annotated[int, describe("How many characters every code has.", ge=1, le=64)]
    alphabet: Annotated[
        str,
        describe("The characters that a code may have; `digits`, `letters` (A to Z), `alphanumeric` or all of them."),
    ] = "digits"
    side: Annotated[Literal["right", "left"], Field(alias="from", description="The end at which masking begins.")] = (
        "right"
    )

    @field_validator("alphabet")
    @classmethod
    def _distinct(cls, alphabet: str) -> str:
        characters = ALPHABETS.get(alphabet, alphabet)
        if len(characters) < 2 or len(set(characters)) < len(characters) or ROOT in characters:
            raise ValueError(f"The alphabet needs at least two characters, each once, and not '{ROOT}'.")
        return alphabet

    @property
    def characters(self) -> str:
        return "".join(sorted(ALPHABETS.get(self.alphabet, self.alphabet)))

    def bind(
        self,
        domain: Domain,
        column: str,
        workspace: Workspace,  # noqa: ARG002
        counts: NDArray[np.int64] | None = None,  # noqa: ARG002
    ) -> Hierarchy:
        self.require_kind(domain, column)
        known = np.fromiter((v is not None and len(v) == self.length for v in domain.values), np.bool_, len(domain))
        fitting = [value for value, fits in zip(domain.values, known, strict=True) if fits and value is not None]
        points = np.array(fitting, dtype=f"U{self.length}").view(np.uint32).reshape(len(fitting), self.length)
        alphabet = np.array([ord(character) for character in self.characters], dtype=np.uint32)
        allowed = np.isin(points, alphabet).all(axis=1)
        known[known] = allowed
        points = points[allowed] if self.side == "right" else points[allowed, ::-1]
        codes = _prefix_groups(points)
        texts = [value for value, fits in zip(fitting, allowed, strict=True) if fits]
        drafts = []
        for masked in range(1, self.length):
            groups = np.full(len(domain), -1, dtype=np.int64)
            groups[known] = codes[self.length - masked]
            _, first = np.unique(codes[self.length - masked], return_index=True)
            labels = [self._label(texts[leaf], masked) for leaf in first]
            drafts.append(HierarchyDraft(groups, labels, np.full(len(labels), float(len(alphabet)) ** masked)))
        return assemble(self, domain, column, drafts, known, float(len(alphabet)) ** self.length)

    def _label(self, text: str, masked: int) -> str:
        kept = self.length - masked
        return text[:kept] + ROOT * masked if self.side == "right" else ROOT * masked + text[masked:]

    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:  # noqa: ARG002
        if len(self.characters) ** self.length > MOST_LEAVES:
            return None
        return ["".join(word) for word in itertools.product(self.characters, repeat=self.length)]


def _prefix_groups(points: NDArray[np.uint32]) -> list[NDArray[np.int64]]:
    """For each number of leading characters, which rows agree on them, numbered from 0 without gaps."""
    groups = [np.zeros(len(points), dtype=np.int64)]
    for column in points.T:
        # 2^21 exceeds every Unicode code point, so group and character make one key.
        groups.append(np.unique(groups[-1] * 2**21 + column, return_inverse=True)[1].astype(np.int64).reshape(-1))
    return groups
