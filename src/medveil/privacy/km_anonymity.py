"""k^m-anonymity: whoever knows up to m of a person's values finds at least k people who have them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NoReturn

from pydantic import Field, model_validator

from medveil.errors import PolicyError
from medveil.privacy.classes import Classes
from medveil.privacy.model import PrivacyModel, Reference, Verdict


class KMAnonymity(PrivacyModel):
    """Any m published values of a set-valued attribute, such as a person's diagnoses, are had by at least k people, or
    by nobody:

        |{p : C is a subset of S_p}| >= k or = 0   for every set C of at most m published values

    S_p: the set of what is published for person p. An attacker who knows up to m codes of somebody, whichever they are,
    cannot tell that person from fewer than k - 1 others by them; who knows more codes can. It is about sets alone: what
    somebody knows of quasi-identifiers as well is not part of it.

    Terrovitis, Mamoulis and Kalnis 2008, Privacy-preserving anonymization of set-valued data.
    """

    name: ClassVar[str] = "km-anonymity"
    leaves_open: ClassVar[str] = (
        "Km-anonymity holds against an attacker who knows at most m values of a person's set. Someone who knows more "
        "of them, or quasi-identifiers as well, may find the person."
    )
    needs_sensitive: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    about_sets: ClassVar[bool] = True

    k: Annotated[int, Field(ge=1, le=10**12, description="The least number of people who have any m values.")]
    m: Annotated[int, Field(ge=1, le=3, description="How many of a person's values an attacker may know.")] = 2
    attribute: Annotated[str, Field(description="The set-valued attribute, `table.column`, with `set: true`.")]

    @model_validator(mode="after")
    def _alone(self) -> KMAnonymity:
        if self.on is not None:
            raise ValueError("It is about the values of a set, whatever else is known: leave 'on' out.")
        return self

    @property
    def sensitive_attribute(self) -> str:
        return self.attribute

    def in_words(self, achieved: Mapping[str, Any]) -> str | None:
        k = achieved.get("k")
        if k is None:
            return None
        return (
            f"Who knows any {self.m} of a person's values in '{self.attribute}' finds at least {k:,} people who have "
            "them, as they are published. Who knows more of them may find fewer."
        )

    def summary(self) -> str:
        return f"{self.k}^{self.m}-anonymity of {self.attribute}"

    @property
    def required(self) -> dict[str, Any]:
        return {"k": self.k, "m": self.m}

    def _of_sets(self) -> NoReturn:
        raise PolicyError(
            "km-anonymity is about the values that a person has in several records, not about groups of records.",
            "Use it with linked tables ('tables:') on a column with 'set: true'.",
        )

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        self._of_sets()

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        self._of_sets()
