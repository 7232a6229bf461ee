"""A privacy model of another package."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from medveil.privacy.classes import Classes
from medveil.privacy.model import PrivacyModel, Reference, Verdict
from medveil.privacy.worst import lowest, or_empty


class CrowdSize(PrivacyModel):
    """Every class holds so many people: k-anonymity under a name that medveil has no check for."""

    name: ClassVar[str] = "crowd-size"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = False

    people: Annotated[int, Field(ge=1, description="The least number of people in a class.")]

    @property
    def least_class_size(self) -> int:
        return self.people

    def summary(self) -> str:
        return f"crowds of {self.people}"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002
        return or_empty(classes.sizes >= self.people, classes)

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        return {"people": lowest(classes.sizes, classes)}

    @property
    def required(self) -> dict[str, Any]:
        return {"people": self.people}
