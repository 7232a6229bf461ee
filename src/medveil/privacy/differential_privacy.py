"""Differential privacy: what is published hardly depends on any one person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import Field, model_validator

from medveil.errors import PolicyError
from medveil.privacy.classes import Classes
from medveil.privacy.model import PrivacyModel, Reference, Spending, Verdict, in_figures


class DifferentialPrivacy(PrivacyModel):
    """Whether or not a person is in the data changes the probability of any outcome by little:

        P[A(D) in S] <= exp(epsilon) P[A(D') in S] + delta   for all sets S of releases

    A: how a release is made. D, D': two tables of which one has a person more than the other; a person is a subject
    with all its records (at most `max_records_per_subject` of them are used), or one record where no subject is
    declared. It is a property of how a table was made and not of the table, so it is claimed by proof, and only by
    methods that have one.

    Dwork, McSherry, Nissim and Smith 2006, Calibrating noise to sensitivity in private data analysis.
    """

    name: ClassVar[str] = "differential-privacy"
    leaves_open: ClassVar[str] = (
        "Differential privacy bounds what the record of one person can change. It does not hide what is true of "
        "many people, such as that an illness is common at an age, even where that tells something of a person; "
        "and epsilon adds up over all releases of the same people."
    )
    basis: ClassVar[str] = "proof"
    needs_sensitive: ClassVar[bool] = True
    monotone: ClassVar[bool] = False
    absorbing: ClassVar[bool] = False
    declared_domains: ClassVar[bool] = True

    epsilon: Annotated[
        float,
        Field(
            gt=0, le=1000, allow_inf_nan=False, description="How much one person may change probabilities, as a log."
        ),
    ]
    delta: Annotated[
        float,
        Field(ge=0, lt=1, description="The probability of more than that; 0 where every domain is declared."),
    ] = 0.0
    max_records_per_subject: Annotated[
        int, Field(ge=1, description="How many records of one subject are used, drawn at random where there are more.")
    ] = 1
    budget: Annotated[
        float | None,
        Field(gt=0, allow_inf_nan=False, description="What all releases of the data may spend together, as epsilon."),
    ] = None
    budget_delta: Annotated[
        float, Field(ge=0, lt=1, description="The delta that goes with the budget; zcdp composition needs one.")
    ] = 0.0
    composition: Annotated[
        Literal["basic", "zcdp"],
        Field(description="How releases add up: epsilons, or their squares (zero-concentrated)."),
    ] = "basic"

    @model_validator(mode="after")
    def _check(self) -> DifferentialPrivacy:
        if self.on is not None:
            raise ValueError("Differential privacy knows no limits on what an attacker knows: leave 'on' out.")
        if self.composition == "zcdp" and not self.budget_delta:
            raise ValueError("Composition zcdp needs a budget_delta above 0, such as 1e-6.")
        return self

    @property
    def spends(self) -> Spending:
        return Spending(
            epsilon=self.epsilon,
            delta=self.delta,
            max_records_per_subject=self.max_records_per_subject,
            budget=self.budget,
            budget_delta=self.budget_delta,
            composition=self.composition,
        )

    def in_words(self, achieved: Mapping[str, Any]) -> str:  # noqa: ARG002 - it is claimed by proof
        beyond = (
            f", except with a probability of {in_figures(self.delta)}, in which case it may change by more"
            if self.delta
            else ""
        )
        return (
            f"Whether or not a person is in the data changes the chance of anything in this release by a factor of at "
            f"most e to the power {in_figures(self.epsilon)}{beyond}. This holds by proof: it cannot be counted in a "
            "file."
        )

    def summary(self) -> str:
        delta = f", delta {self.delta:g}" if self.delta else ""
        return f"differential privacy with epsilon {self.epsilon:g}{delta}"

    @property
    def required(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def _of_the_method(self) -> NoReturn:
        raise PolicyError(
            "Differential privacy is a property of how a table is made; no table has it by itself.",
            "Use a method that proves it: ipa, dp-histogram or dp-sampling.",
        )

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        self._of_the_method()

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        self._of_the_method()
