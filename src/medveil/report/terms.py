"""The words for the figures of claims and for what methods report of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medveil.methods import methods
from medveil.report.words import figure

OF_CLAIMS: Mapping[str, str] = {
    "absent": "values that a group may lack",
    "delta_max": "largest share of the population",
    "delta_min": "least share of the population",
    "lemma_1": "the catalog alone tells no counterfeit (Lemma 1)",
    "of_bound": "share of what each value may have",
    "told": "records that the catalog tells to be real",
}
REPORTED: Mapping[str, str] = {
    "classes": "groups of records that look alike",
    "degree": "how far people were generalized on average",
    "excess": "how much more of a value than its share a cluster may have",
    "k": "records that must share their values",
    "least_alpha": "largest share of the sensitive value in a cluster",
    "levels": "level of each column",
    "loss": "loss that was minimized",
    "optimal": "proved to be the best of its kind",
    "privacy": "what the clusters reach",
    "proof": "where the proof is",
    "records_with_suppressed_values": "records with suppressed values",
    "rows": "distinct rows",
    "sampling": "share of the people that was drawn",
    "sizes": "people in the smallest and the largest cluster",
    "spent": "epsilon that was spent",
    "split": "how epsilon was divided",
    "strata": "groups of values with levels of their own",
    "threshold": "least noisy count that is published",
    "unit": "who is protected",
    "untruthful": "records with values of others",
    "warning": "warning",
}
"""What `Method.description` is given by medveil's own methods; those of others are shown under their own names."""


def claim_figures(figures: Mapping[str, Any] | None) -> str:
    """What a claim requires or reaches.

    >>> claim_figures({"k": 5}), claim_figures({"lemma_1": True})
    ('k: 5', 'the catalog alone tells no counterfeit (Lemma 1): yes')
    """
    return figure({OF_CLAIMS.get(key, key.replace("_", " ")): value for key, value in (figures or {}).items()})


def parameters_in_words(method: Mapping[str, Any]) -> list[list[str]]:
    """The parameters of a method that have a value, each with what it means, as rows of a table."""
    known = methods().get(str(method["name"]))
    fields = {} if known is None else known.model_fields
    return [
        [key.replace("_", " "), figure(value), _plain((fields[key].description or "") if key in fields else "")]
        for key, value in method["parameters"].items()
        if value is not None
    ]


def reported(method: Mapping[str, Any]) -> list[list[str]]:
    """What a method says of itself beside its parameters, as rows of a table."""
    shown = {key: value for key, value in method.items() if key not in {"name", "parameters"} and value is not None}
    return [[REPORTED.get(key, key.replace("_", " ")), figure(value)] for key, value in shown.items()]


def _plain(description: str) -> str:
    return description.replace("`", "'")
