"""What a privacy model is: parameters, a verdict per class, and what merging classes does to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.privacy.classes import Classes
from medveil.privacy.rules import Rule
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


@dataclass(frozen=True)
class Spending:
    """What one release may spend of a privacy budget, and the budget of all releases where the policy sets one.

    epsilon, delta: the guarantee of the release, for a person with at most `max_records_per_subject` records.
    budget, budget_delta, composition: what all releases may spend together, and how they add up.
    """

    epsilon: float
    delta: float = 0.0
    max_records_per_subject: int = 1
    budget: float | None = None
    budget_delta: float = 0.0
    composition: str = "basic"


class PrivacyModel(BaseModel, ABC):
    """A privacy model and its parameters, as the policy gives them under `privacy:`.

    What others want to know of a model it declares here; nobody looks at its class.

    `monotone`: merging classes that satisfy the model gives one that does, where counts add up.
    `absorbing`: adding any records to a class that satisfies the model leaves it satisfied. Absorbing implies monotone.
    A search without suppression may prune by `survives_merging`, one with suppression by `most_kept`.
    A class of no records, which only a population can bring, is not published and holds every model that is
    about published records; both declarations speak of classes that have some.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    leaves_open: ClassVar[str] = ""
    """What the model does not protect from, in a sentence or two for recipients."""
    needs_sensitive: ClassVar[bool] = True
    basis: ClassVar[str] = "files"
    """On what its claim rests: `files`, `files and source`, or `proof`."""
    compares_with_input: ClassVar[bool] = False
    """Whether what classes reach depends on how often values are in the whole input."""
    declared_domains: ClassVar[bool] = False
    """Whether domains must be those of the policy, because learning them from the data would tell too much."""

    about_sets: ClassVar[bool] = False
    """Whether it is about the sets of values that people have in linked tables, and not about classes of records."""

    on: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="The quasi-identifiers that an attacker may know (default: all)."),
    ] = None

    @property
    def least_class_size(self) -> int | None:
        """The least number of people in a class that satisfies the model; None where the model asks for none."""
        return None

    @property
    def distinct_needs(self) -> Mapping[str, int] | None:
        """By sensitive attribute, how many distinct values a class needs beside `least_class_size` people, where that
        is all that the model asks; None where it asks for anything else.
        """
        return None

    @property
    def asks_size_alone(self) -> bool:
        """Whether every class of `least_class_size` people satisfies the model."""
        return self.distinct_needs is not None and not self.distinct_needs

    @property
    def sensitive_attribute(self) -> str | None:
        """The one sensitive attribute that the model is about, where it is about one."""
        return None

    @property
    def population_file(self) -> Path | None:
        """The file of the population that the model compares with, where it compares with one."""
        return None

    @property
    def spends(self) -> Spending | None:
        """What a release spends of a privacy budget, where the model has one."""
        return None

    def enough_spread_evenly(self, values: int) -> int | None:  # noqa: ARG002 - for models that know
        """How many people in each class are enough, where its sensitive attribute has so many values that are spread
        over the classes as evenly as can be; None where the model does not know.
        """
        return None

    def for_attributes(self, sensitive: Sequence[str]) -> list[Self]:  # noqa: ARG002 - for models that are about some
        """The model, once for each of the schema's sensitive attributes that it is about."""
        return [self]

    def in_words(self, achieved: Mapping[str, Any]) -> str | None:  # noqa: ARG002 - for models that have words
        """What was achieved, as a sentence for people who are no statisticians; None leaves it at `summary`."""
        return None

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

    def most_kept(self, classes: Classes, reference: Reference, *, additive: bool) -> NDArray[np.int64]:
        """How many records of each class can stay at most, however it is divided and whichever parts are left out.

            sum_i |K_i| <= most_kept(E)   for all disjoint parts K_1, K_2, ... of E that satisfy the model

        `additive` as in `survives_merging`. For an absorbing model no part of a class that fails satisfies it.
        """
        if self.absorbing:
            return np.where(self.holds(classes, reference), classes.records, 0)
        return self.most_united(classes, reference) if additive else classes.records

    def most_united(self, classes: Classes, reference: Reference) -> NDArray[np.int64]:  # noqa: ARG002
        """`most_kept` where counts are of records, by what the model says of a union of parts that satisfy it.

        A model that says no more than this default is searched without a bound on what it suppresses.
        """
        return classes.records

    def rule(self, reference: Reference) -> Rule | None:  # noqa: ARG002 - for models that have one
        """What the model asks of each class where counts are of records, as searches check it fastest.

        None where it asks for something else; then `holds` and `most_kept` are all that a search knows.
        """
        return None

    @abstractmethod
    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:
        """What the classes as a whole reach, by parameter: k for k-anonymity, the largest distance for t-closeness."""

    @property
    @abstractmethod
    def required(self) -> dict[str, Any]:
        """What the claim promises, by the same parameters."""


def in_figures(value: float) -> str:
    """A parameter or figure as it stands in a sentence.

    >>> in_figures(0.123456), in_figures(12345), in_figures(3.0)
    ('0.1235', '12,345', '3')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


@dataclass(frozen=True)
class Requirement:
    """A privacy model on a set of quasi-identifiers: `shield` holds their positions, ascending."""

    model: PrivacyModel
    shield: tuple[int, ...]


def requirements_of(models: Sequence[PrivacyModel], quasi: Sequence[str]) -> list[Requirement]:
    """What the models require of a table with these quasi-identifiers."""
    return [
        Requirement(model, tuple(sorted(quasi.index(name) for name in shield)))
        for model in models
        for shield in model.shields(quasi)
    ]
