"""medveil publishes health records so that patients stay hidden and the data stay useful."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from medveil.kernels import find_place_for_kernels

if TYPE_CHECKING:
    from medveil.app.anonymize import anonymize
    from medveil.app.audit import audit
    from medveil.app.compare import compare
    from medveil.app.inspect import inspect
    from medveil.app.leakage import leakage
    from medveil.app.measure import measure
    from medveil.engine import Limits
    from medveil.errors import (
        CancelledError,
        InputError,
        MedveilError,
        OutputError,
        PolicyError,
        UnreachableError,
        VerificationError,
    )
    from medveil.policy import Policy
    from medveil.release.release import Release

__version__ = "0.2.0"

__all__ = [
    "CancelledError",
    "InputError",
    "Limits",
    "MedveilError",
    "OutputError",
    "Policy",
    "PolicyError",
    "Release",
    "UnreachableError",
    "VerificationError",
    "anonymize",
    "audit",
    "compare",
    "inspect",
    "leakage",
    "measure",
]

_HOMES = {
    **{name: "medveil.errors" for name in __all__ if name.endswith("Error")},
    **{name: f"medveil.app.{name}" for name in __all__ if name.islower()},
    "Limits": "medveil.engine",
    "Policy": "medveil.policy",
    "Release": "medveil.release.release",
}

find_place_for_kernels()


def __getattr__(name: str) -> Any:
    """The public names, each loaded when it is first used, so that `medveil --version` loads nothing heavy."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'medveil' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
