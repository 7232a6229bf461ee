"""Sets of rules that a policy may name: each fills in what is left out, refuses what it forbids, and says what is left
for people to attest. None of them is a legal verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medveil.profiles.profile import Profile


def profiles() -> Mapping[str, type[Profile]]:
    """Every profile that a policy may name, by the word it writes under `profile:`."""
    from medveil.profiles.profile import Profile  # noqa: PLC0415
    from medveil.registry import discover  # noqa: PLC0415

    return discover(sys.modules[__name__], Profile)  # type: ignore[type-abstract]
