"""Hierarchies and their builders, one file each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medveil.hierarchy.specification import HierarchySpec


def builders() -> Mapping[str, type[HierarchySpec]]:
    """Every kind of hierarchy that a policy may ask for, by the word it writes under `type:`."""
    # Imported here, so that importing one hierarchy module does not import all of them.
    from medveil.hierarchy.specification import HierarchySpec  # noqa: PLC0415
    from medveil.registry import discover  # noqa: PLC0415

    return discover(sys.modules[__name__], HierarchySpec)  # type: ignore[type-abstract]


def own_builders() -> Mapping[str, type[HierarchySpec]]:
    """Those of medveil itself: what the auditor may build hierarchies with."""
    from medveil.hierarchy.specification import HierarchySpec  # noqa: PLC0415
    from medveil.registry import built_in  # noqa: PLC0415

    return built_in(sys.modules[__name__], HierarchySpec)  # type: ignore[type-abstract]
