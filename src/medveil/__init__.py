"""medveil publishes health records so that patients stay hidden and the data stay useful."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medveil.errors import MedveilError
    from medveil.inspection import inspect, leakage
    from medveil.policy import Policy, load_policy
    from medveil.release.release import Release
    from medveil.workflow import anonymize, audit_release

__version__ = "0.1.0"

_HOMES = {
    "MedveilError": "medveil.errors",
    "Policy": "medveil.policy",
    "Release": "medveil.release.release",
    "anonymize": "medveil.workflow",
    "audit_release": "medveil.workflow",
    "inspect": "medveil.inspection",
    "leakage": "medveil.inspection",
    "load_policy": "medveil.policy",
}

__all__ = ["MedveilError", "Policy", "Release", "anonymize", "audit_release", "inspect", "leakage", "load_policy"]


def __getattr__(name: str) -> Any:
    """The public names, each loaded when it is first used, so that `medveil --version` loads nothing heavy."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'medveil' has no attribute '{name}'")
