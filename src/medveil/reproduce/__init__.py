"""The papers' tables and figures, one file a paper, found by being there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medveil.reproduce.reproduction import Reproduction


def reproductions() -> Mapping[str, type[Reproduction]]:
    """Every paper that can be reproduced, by its short name."""
    from medveil.registry import discover  # noqa: PLC0415
    from medveil.reproduce.reproduction import Reproduction  # noqa: PLC0415

    return discover(sys.modules[__name__], Reproduction)  # type: ignore[type-abstract]
