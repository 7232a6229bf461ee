"""What a policy says about a hierarchy, and how that becomes arrays over a column's values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.table.domain import Domain
from medveil.table.schema import Kind
from medveil.workspace import Workspace

OWN = "own"
MOST_LEAVES = 2_000_000
"""A declared domain with more leaves than this is not listed."""

Number = Annotated[int | float, Field(allow_inf_nan=False)]


class HierarchySpec(BaseModel, ABC):
    """One entry under `hierarchy:` in the policy.

    A missing value is a leaf of its own. So is a value outside the declared domain where `other`, a top or a bottom
    code lets it in. Each adds one to the hierarchy's size, and only where the domain that is bound holds it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of column it can be built for, the one to assume first; empty where any will do."""

    missing: Annotated[
        str,
        Field(
            description="`own`: a missing value is a group of its own at every level below the root; "
            "any other word: the label of the group that it joins from level 1 on."
        ),
    ] = OWN
    other: Annotated[
        str | None,
        Field(
            description="The label of a catch-all group: values that the hierarchy does not cover belong to it "
            "from level 1 on. Without it such a value is an error."
        ),
    ] = None

    @field_validator("missing", "other")
    @classmethod
    def _label_is_a_word(cls, label: str | None) -> str | None:
        if label is not None and label.strip() in {"", ROOT}:
            raise ValueError(f"A catch-all group needs a label of its own, not an empty one and not '{ROOT}'.")
        return label

    @abstractmethod
    def bind(
        self, domain: Domain, column: str, workspace: Workspace, counts: NDArray[np.int64] | None = None
    ) -> Hierarchy:
        """The hierarchy over the values of `domain`; coverage is counted over the declared domain.

        `workspace` says where paths lead. `counts`, how many records hold each value, weighs quantiles and
        nothing else; without it each distinct value weighs the same.
        """

    @abstractmethod
    def leaves(self, column: str, workspace: Workspace) -> list[str] | None:
        """Every leaf of the declared domain in its natural order, read from the policy and never from the data.

        None where the domain is not declared, is not finite, or has more than two million leaves.
        """

    def to_dict(self) -> dict[str, Any]:
        """What the policy says, without what it leaves to the defaults."""
        return {"type": self.name, **self.model_dump(mode="json", by_alias=True, exclude_unset=True)}

    def described(self) -> dict[str, Any]:
        """What a manifest says: enough to build the same hierarchy again, and of which version it was."""
        return self.to_dict()

    @property
    def weighs_records(self) -> bool:
        """Whether it depends on how many records hold each value."""
        return False

    @property
    def least_level(self) -> int:
        """The least level at which values may be published: 1 where codes stand for some of them from there on."""
        return 0

    def require_kind(self, domain: Domain, column: str) -> None:
        """Refuse a column whose values this hierarchy cannot read."""
        if self.kinds and domain.kind not in self.kinds:
            raise PolicyError(
                f"The '{self.name}' hierarchy of '{column}' needs a column of type {self.kinds[0].value}, "
                f"but it is read as {domain.kind.value}.",
                f"Declare '{column}' as 'type: {self.kinds[0].value}', or give it another hierarchy.",
            )


def describe(text: str, **options: Any) -> Any:
    """A pydantic field with this description; shorter to read among many options."""
    return Field(description=text, **options)
