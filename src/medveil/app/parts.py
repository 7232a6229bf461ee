"""What there is to choose from: every method, model, hierarchy and source that is found, with its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from medveil.evaluation.settings import EvaluationPolicy
from medveil.hierarchy import builders
from medveil.methods import methods
from medveil.policy import OutputPolicy, written_out
from medveil.privacy import models
from medveil.profiles import profiles
from medveil.run import Run
from medveil.sources import sources
from medveil.sources.frame import FrameSpec
from medveil.table.schema import Kind, Role

TOLD = ("basis", "needs_sensitive", "about_sets", "declared_domains", "proves", "needs_k", "kinds")
"""What parts declare of themselves and forms want to know."""


def parts(*, run: Run | None = None) -> dict[str, dict[str, Any]]:
    """By kind and name: the JSON schema of its parameters, its documentation, and what it declares of itself; and the
    words for what a column can be.
    """
    (run or Run()).check()
    in_forms = {name: one for name, one in sources().items() if not issubclass(one, FrameSpec) and not one.elsewhere}
    return {
        "methods": _described(methods()),
        "models": _described(models()),
        "hierarchies": _described(builders()),
        "sources": _described(in_forms),
        "profiles": _described(profiles()),
        "settings": _described({"output": OutputPolicy, "evaluation": EvaluationPolicy}),
        "words": {"roles": [role.value for role in Role], "types": [kind.value for kind in Kind]},
    }


def _described(found: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    return {name: {"schema": schema_of(part), **_told(part)} for name, part in found.items()}


def schema_of(part: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a class, references written out."""
    schema = part.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    whole: dict[str, Any] = written_out(schema, definitions)
    return whole


def _told(part: type[BaseModel]) -> dict[str, Any]:
    told = {name: getattr(part, name) for name in TOLD if hasattr(part, name)}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in told.items()}
