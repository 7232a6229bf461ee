"""What models of one sensitive attribute share: which attribute, and figures per class from its histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.errors import PolicyError, did_you_mean
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.model import PrivacyModel, Reference


class SensitiveModel(PrivacyModel):
    """A model of one sensitive attribute; a missing value is a value of its own.

    Where `attribute` is left out, the policy puts one model in its place for each sensitive attribute.
    """

    attribute: Annotated[
        str | None,
        Field(description="The sensitive attribute (default: each of them)."),
    ] = None

    def for_attribute(self, attribute: str) -> Self:
        """The same model of this attribute."""
        return self.model_copy(update={"attribute": attribute})

    @property
    def sensitive_attribute(self) -> str | None:
        return self.attribute

    def for_attributes(self, sensitive: Sequence[str]) -> list[Self]:
        """The model of its own attribute, or one of each where it names none."""
        if self.attribute is None and not sensitive:
            raise PolicyError(
                f"The model '{self.name}' needs a sensitive attribute.", "Give a column the role sensitive."
            )
        if self.attribute is None:
            return [self.for_attribute(name) for name in sensitive]
        if self.attribute not in sensitive:
            raise PolicyError(
                f"The model '{self.name}' is about '{self.attribute}', which does not have the role sensitive.",
                did_you_mean(self.attribute, sensitive),
            )
        return [self]

    def about(self) -> str:
        """The attribute, which must be given by now."""
        if self.attribute is None:
            raise PolicyError(
                f"The model '{self.name}' does not say which sensitive attribute it is about.",
                "Give its 'attribute:'.",
            )
        return self.attribute

    def histogram(self, classes: Classes) -> Histogram:
        """How often each class holds each value of the attribute."""
        attribute = self.about()
        if attribute not in classes.histograms:
            raise PolicyError(
                f"The model '{self.name}' is about '{attribute}', which is not a sensitive attribute.",
                did_you_mean(attribute, classes.histograms),
            )
        return classes.histograms[attribute]

    def summary(self) -> str:
        return self.name + self._of_attribute

    @property
    def _of_attribute(self) -> str:
        return f" of {self.attribute}" if self.attribute else ""


def sum_by_class(histogram: Histogram, figures: NDArray[Any]) -> NDArray[np.float64]:
    """The sum of a figure over the values that each class holds."""
    number = len(histogram.offsets) - 1
    return np.bincount(histogram.classes, figures, minlength=number).astype(np.float64, copy=False)


def highest_by_class(histogram: Histogram, figures: NDArray[Any]) -> NDArray[np.float64]:
    """The largest of a figure over the values that each class holds; 0 for a class that holds none."""
    number = len(histogram.offsets) - 1
    highest = np.zeros(number, dtype=np.float64)
    filled = np.flatnonzero(np.diff(histogram.offsets))
    if len(filled):
        highest[filled] = np.maximum.reduceat(figures, histogram.offsets[filled])
    return highest


def coded(values: tuple[str, ...], attribute: str, reference: Reference) -> NDArray[np.bool_]:
    """Which codes of the attribute's domain are these values; one that does not occur is likely a slip and refused."""
    known = reference.domains[attribute].values
    if not set(values) <= set(known):
        raise PolicyError(
            f"A value that the privacy model names does not occur in column '{attribute}'.",
            "Write it exactly as in the data.",
        )
    return np.array([value in values for value in known], dtype=np.bool_)


def confidences(histogram: Histogram, classes: Classes, watched: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The largest share of each class's people who have one same value, among the watched values.

    A person may have several values, so shares of people may sum to more than 1.
    """
    counts = np.where(watched[histogram.values], histogram.counts, 0)
    return highest_by_class(histogram, counts / classes.sizes[histogram.classes])
