"""Privacy models: functions from equivalence classes to a verdict per class, one file each, found by being there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from medveil.registry import discover

if TYPE_CHECKING:
    from medveil.privacy.model import PrivacyModel


def models() -> dict[str, type[PrivacyModel]]:
    """Every privacy model, by the name that a policy uses."""
    from medveil.privacy.model import PrivacyModel  # noqa: PLC0415 - naming the package must not load its kernels

    return discover(sys.modules[__name__], PrivacyModel)  # type: ignore[type-abstract]
