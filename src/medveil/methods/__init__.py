"""Methods: one file or folder each, found by being there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medveil.methods.method import Method
    from medveil.release.figures import Figure


def methods() -> Mapping[str, type[Method]]:
    """Every method, by the name that a policy uses."""
    # Imported here, so that naming the package does not load every method.
    from medveil.methods.method import Method  # noqa: PLC0415
    from medveil.registry import discover  # noqa: PLC0415

    return discover(sys.modules[__name__], Method)  # type: ignore[type-abstract]


def own_methods() -> Mapping[str, type[Method]]:
    """Those of medveil itself."""
    from medveil.methods.method import Method  # noqa: PLC0415
    from medveil.registry import built_in  # noqa: PLC0415

    return built_in(sys.modules[__name__], Method)  # type: ignore[type-abstract]


def figures_of(reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:
    """What the method of a manifest's entry shows of itself; nothing where the method is not known here."""
    method = methods().get(str(reported["name"]))
    return [] if method is None else method.figures(reported, internal)
