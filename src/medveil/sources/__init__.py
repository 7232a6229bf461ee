"""Where records come from, one file a kind: what a policy writes under `data:`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medveil.sources.source import SourceSpec


def sources() -> Mapping[str, type[SourceSpec]]:
    """Every kind of source that a policy may name, by the word it writes under `type:`."""
    # Imported here, so that importing one kind does not import all of them.
    from medveil.registry import discover  # noqa: PLC0415
    from medveil.sources.source import SourceSpec  # noqa: PLC0415

    return discover(sys.modules[__name__], SourceSpec)  # type: ignore[type-abstract]
