"""What a policy may ask of the measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class EvaluationPolicy(BaseModel):
    """What is measured of a release beside what always is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: Annotated[
        tuple[str, ...] | dict[str, str],
        Field(description="SQL aggregates (SELECT ... FROM data) that original and release should answer alike."),
    ] = ()
    target: Annotated[
        str | None, Field(description="A published column that models should predict from the other ones.")
    ] = None
    workload: Annotated[int, Field(ge=10, le=100_000, description="How many random counting queries are asked.")] = 200
    threshold: Annotated[
        float, Field(gt=0, le=1, description="The risk of a single person above which people are counted as at risk.")
    ] = 0.2
    population: Annotated[
        str | None, Field(description="A file with the quasi-identifiers of everybody, relative to the policy.")
    ] = None
    population_size: Annotated[
        int | None, Field(gt=0, description="How many people the data were drawn from, where they are a sample.")
    ] = None
    targets: Annotated[int, Field(ge=10, le=100_000, description="How many people each attack is tried on.")] = 1000

    attacks: Annotated[
        bool, Field(description="Whether 'anonymize' also runs the attacks of 'measure', for its page.")
    ] = False
    models: Annotated[
        bool, Field(description="Whether 'anonymize' also trains the models of 'measure' on 'target', for its page.")
    ] = False
    advice: Annotated[
        bool, Field(description="Whether 'anonymize' tries what would help where a release is of little use.")
    ] = True

    @property
    def named_queries(self) -> Mapping[str, str]:
        """The queries by name: `query 1`, `query 2`, ... where they have none."""
        if isinstance(self.queries, dict):
            return self.queries
        return {f"query {number}": text for number, text in enumerate(self.queries, 1)}
