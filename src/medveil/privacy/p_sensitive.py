"""p-sensitive k-anonymity: k people and p distinct sensitive values in every class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from medveil.privacy.classes import Classes
from medveil.privacy.model import Reference, Verdict
from medveil.privacy.rules import Rule
from medveil.privacy.sensitive import SensitiveModel
from medveil.privacy.worst import lowest, or_empty


class PSensitiveKAnonymity(SensitiveModel):
    """Every class has at least k people and at least p distinct values of the sensitive attribute.

        |E| >= k   and   |{s : n(E, s) > 0}| >= p   for every class E

    |E|: the people in the class (records where no subject is declared); n(E, s): those who have value s.

    Truta and Vinay 2006, Privacy protection: p-sensitive k-anonymity property.
    """

    name: ClassVar[str] = "p-sensitive-k-anonymity"
    leaves_open: ClassVar[str] = (
        "A group has several sensitive values, but one of them may be much more likely in it than elsewhere, and "
        "values may be alike in meaning."
    )
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True

    p: Annotated[int, Field(ge=1, description="The least number of distinct sensitive values in a class; at most k.")]
    k: Annotated[int, Field(ge=1, description="The least number of people who share every published combination.")]

    @model_validator(mode="after")
    def _no_more_values_than_people(self) -> Self:
        if self.p > self.k:
            raise ValueError("'p' must be at most 'k': a class of k people need not hold more than k values")
        return self

    @property
    def least_class_size(self) -> int:
        return self.k

    @property
    def distinct_needs(self) -> Mapping[str, int]:
        return {self.about(): self.p}

    def summary(self) -> str:
        return f"{self.p}-sensitive {self.k}-anonymity{self._of_attribute}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        distinct = np.diff(self.histogram(classes).offsets)
        return or_empty((distinct >= self.p) & (classes.sizes >= self.k), classes)

    def rule(self, reference: Reference) -> Rule:  # noqa: ARG002
        return Rule(least=self.k, distinct=self.p, attribute=self.about())

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        distinct = np.diff(self.histogram(classes).offsets)
        return {"p": lowest(distinct, classes), "k": lowest(classes.sizes, classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"p": self.p, "k": self.k}
