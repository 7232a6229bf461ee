"""Privacy models: functions from equivalence classes to a verdict per class, one file each, found by being there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from medveil.registry import discover

if TYPE_CHECKING:
    from medveil.privacy.model import PrivacyModel


def models() -> Mapping[str, type[PrivacyModel]]:
    """Every privacy model, by the name that a policy uses."""
    from medveil.privacy.model import PrivacyModel  # noqa: PLC0415 - naming the package must not load its kernels

    return discover(sys.modules[__name__], PrivacyModel)  # type: ignore[type-abstract]


def model_of(claim: Mapping[str, Any]) -> PrivacyModel | None:
    """The privacy model that a manifest's claim is about; None where no model is known by that name and parameters."""
    known = models().get(str(claim["model"]))
    if known is None:
        return None
    given = {key: claim[key] for key in ("attribute", "on") if claim.get(key) is not None}
    try:
        return known.model_validate({**(claim.get("parameters") or {}), **given})
    except ValueError:
        return None
