"""Whether figures that a manifest states are those that were counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from medveil.auditor.context import ROUNDING


def same_figures(stated: Mapping[str, Any], achieved: Mapping[str, Any]) -> bool:
    """Whether both name the same figures, up to rounding.

    >>> same_figures({"k": 5}, {"k": 5.0}), same_figures({"k": 5}, {"k": 6})
    (True, False)
    """
    return stated.keys() == achieved.keys() and all(_close(stated[key], achieved[key]) for key in stated)


def _close(stated: Any, achieved: Any) -> bool:
    if isinstance(stated, bool) or isinstance(achieved, bool):
        return stated is achieved
    if isinstance(stated, int | float) and isinstance(achieved, int | float):
        try:
            return math.isclose(stated, achieved, rel_tol=ROUNDING, abs_tol=ROUNDING)
        except OverflowError:  # an integer beyond all floats
            return False
    return bool(stated == achieved)
