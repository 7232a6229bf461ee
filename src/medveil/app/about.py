"""What recipients are told of a release beside what it holds: title, purpose, contact, day, and what columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from medveil.policy import AttributePolicy, Policy


def about(policy: Policy) -> dict[str, str]:
    """What the policy says of the release, and the day; a run that must be repeatable has no day."""
    told = {key: text for key, text in policy.release.model_dump().items() if text}
    day = {} if policy.seed is not None else {"date": datetime.now(UTC).date().isoformat()}
    return {**told, **day}


def described(attribute: Mapping[str, Any], columns: Mapping[str, AttributePolicy]) -> Mapping[str, Any]:
    """A column of the manifest, with what the policy says that it means."""
    declared = columns.get(str(attribute["name"]))
    if declared is None or not declared.description:
        return attribute
    return {**attribute, "description": declared.description}
