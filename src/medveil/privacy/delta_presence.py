"""delta-presence: whether somebody of a known population is in the data at all stays uncertain."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from medveil.errors import PolicyError
from medveil.privacy.classes import Classes
from medveil.privacy.model import PrivacyModel, Reference, Verdict
from medveil.privacy.worst import DIGITS


class DeltaPresence(PrivacyModel):
    """Of the people in the population who share a class, between delta_min and delta_max are in the data.

        delta_min <= |E| / |E_P| <= delta_max   for every class E that somebody of the population falls into

    |E|: the people of the data in the class (records where no subject is declared); |E_P|: the records of the
    population file, which holds one a person and all people of the data, in the same class. A class of the population
    that the data do not reach has ratio 0, and one that only the data reach shows that the population is not whole:
    its ratio is infinite.

    Nergiz, Atzori and Clifton 2007, Hiding the presence of individuals from shared databases.
    """

    name: ClassVar[str] = "delta-presence"
    leaves_open: ClassVar[str] = (
        "delta-presence bounds how sure one can be that somebody is in the data. It says nothing of what is "
        "learned of somebody who is known to be in them."
    )
    monotone: ClassVar[bool] = True  # the ratio of sums lies between the ratios
    absorbing: ClassVar[bool] = False
    needs_sensitive: ClassVar[bool] = False
    basis: ClassVar[str] = "files and source"

    delta_min: Annotated[float, Field(ge=0, le=1, description="The least share of a class that is in the data.")] = 0.0
    delta_max: Annotated[float, Field(ge=0, le=1, description="The largest share of a class that is in the data.")]
    population: Annotated[
        Path,
        Field(description="A file of the whole population, with the quasi-identifiers as columns, a row a person."),
    ]

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.delta_min > self.delta_max:
            raise ValueError("'delta_min' must be at most 'delta_max'")
        return self

    @property
    def population_file(self) -> Path:
        return self.population

    def summary(self) -> str:
        return f"({self.delta_min:g},{self.delta_max:g})-presence"

    def holds(self, classes: Classes, reference: Reference) -> Verdict:  # noqa: ARG002 - models share one signature
        ratios, reached = _ratios(classes)
        return ~reached | ((ratios >= self.delta_min) & (ratios <= self.delta_max))

    def achieved(self, classes: Classes, reference: Reference) -> dict[str, float]:  # noqa: ARG002
        ratios, reached = _ratios(classes)
        if not reached.any():
            return {"delta_min": 0.0, "delta_max": math.inf}
        least, most = float(ratios[reached].min()), float(ratios[reached].max())
        return {"delta_min": round(least, DIGITS), "delta_max": round(most, DIGITS)}

    @property
    def required(self) -> dict[str, Any]:
        return {"delta_min": self.delta_min, "delta_max": self.delta_max}


def _ratios(classes: Classes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """|E| / |E_P| of each class, and which classes anybody is in."""
    if classes.population is None:
        raise PolicyError(
            "delta-presence needs the population, which was not counted.",
            "Give its file as 'population:' of the model.",
        )
    missing = np.full(len(classes), math.inf)
    ratios = np.divide(classes.sizes, classes.population, out=missing, where=classes.population > 0)
    return ratios, (classes.population > 0) | (classes.sizes > 0)
