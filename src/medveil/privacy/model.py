"""What a privacy model is: parameters, a verdict per class, and what merging classes does to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.privacy.classes import Classes
from medveil.table.domain import Domain

Verdict = NDArray[np.bool_]


@dataclass(frozen=True)
class Reference:
    """The input as a model may need it: each sensitive attribute's distribution, domain and hierarchy."""

    counts: Mapping[str, NDArray[np.int64]]
    domains: Mapping[str, Domain]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def shares(self, attribute: str) -> NDArray[np.float64]:
        counts = self.counts[attribute]
        return np.asarray(counts / counts.sum(), dtype=np.float64)


class PrivacyModel(BaseModel, ABC):
    """A privacy model and its parameters, as the policy gives them under `privacy:`.

    `monotone`: merging classes that satisfy the model gives one that does, where counts add up.
    `absorbing`: adding any records to a class that satisfies the model leaves it satisfied. Absorbing implies monotone.
    A search without suppression may prune by `survives_merging`, one with suppression only by `absorbing`.
    A class of no records, which only a population can bring, is not published and holds every model that is
    about published records; both declarations speak of classes that have some.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    needs_sensitive: ClassVar[bool] = True
    basis: ClassVar[str] = "files"
    """On what its claim rests: `files`, `files and source`, or `proof`."""
    declared_domains: ClassVar[bool] = False
    """Whether domains must be those of the policy, because learning them from the data would tell too much."""

    on: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="The quasi-identifiers that an attacker may know; all of them where left out."),
    ] = None

    def shields(self, quasi: Sequence[str]) -> list[tuple[str, ...]]:
        """The sets of quasi-identifiers on which the model must hold, each on its own."""
        return [tuple(self.on) if self.on is not None else tuple(quasi)]

    @property
    @abstractmethod
    def monotone(self) -> bool:
        """Whether merging classes that satisfy the model gives one that does, where counts add up."""

    @property
    @abstractmethod
    def absorbing(self) -> bool:
        """Whether a class that satisfies the model still does whatever records are added to it."""

    def survives_merging(self, *, additive: bool) -> bool:
        """Whether merging classes that satisfy the model gives one that does.

        `additive`: counts add up when classes merge. Records do. People who may be in several classes do not: two
        classes of two people with one ill each may be three people with two ill, so that only absorbing models survive.
        """
        return self.absorbing or (self.monotone and additive)

    def summary(self) -> str:
        """The model in a few words, such as `5-anonymity`."""
        return self.name

    @abstractmethod
    def holds(self, classes: Classes, reference: Reference) -> Verdict:
        """Whether each class satisfies the model."""

    @abstractmethod
    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        """What the classes as a whole reach, by parameter: k for k-anonymity, the largest distance for t-closeness."""

    @property
    @abstractmethod
    def required(self) -> dict[str, Any]:
        """What the claim promises, by the same parameters."""


@dataclass(frozen=True)
class Requirement:
    """A privacy model on a set of quasi-identifiers: `shield` holds their positions, ascending."""

    model: PrivacyModel
    shield: tuple[int, ...]
