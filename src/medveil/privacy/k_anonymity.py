"""k-anonymity: nobody stands out from fewer than k people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from medveil.privacy.classes import Classes
from medveil.privacy.model import PrivacyModel, Reference, Verdict
from medveil.privacy.rules import Rule
from medveil.privacy.worst import lowest, or_empty


class KAnonymity(PrivacyModel):
    """Every combination of published quasi-identifiers is shared by at least k people.

        |E| >= k   for every class E

    |E|: the distinct people in the class where a subject is declared, its records otherwise.

    Samarati and Sweeney 1998, Protecting privacy when disclosing information: k-anonymity and its enforcement through
    generalization and suppression; Sweeney 2002, k-anonymity: a model for protecting privacy.
    """

    name: ClassVar[str] = "k-anonymity"
    leaves_open: ClassVar[str] = (
        "k-anonymity hides which record is whose. It does not hide what all records of a group have in common: "
        "where they share a sensitive value, everybody in the group is known to have it."
    )
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = False

    k: Annotated[
        int, Field(ge=1, le=10**12, description="The least number of people who share every published combination.")
    ]

    @property
    def least_class_size(self) -> int:
        return self.k

    @property
    def distinct_needs(self) -> Mapping[str, int]:
        return {}

    def in_words(self, achieved: Mapping[str, Any]) -> str | None:
        k = achieved.get("k")
        if k is None:
            return None
        who = f" by {', '.join(self.on)}" if self.on else " by quasi-identifiers"
        if k < 2:
            return f"Some records are alone in their group{who}: nothing hides whose they are."
        return (
            f"Nobody can be told apart from fewer than {k - 1:,} others{who}: the smallest group of records that look "
            f"alike holds {k:,}."
        )

    def summary(self) -> str:
        return f"{self.k}-anonymity"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        return or_empty(classes.sizes >= self.k, classes)

    def rule(self, reference: Reference) -> Rule:  # noqa: ARG002
        return Rule(least=self.k)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        return {"k": lowest(classes.sizes, classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"k": self.k}
