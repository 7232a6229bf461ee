"""How methods, models, measures and hierarchies are found: by being there."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

Found = TypeVar("Found")


def discover(package: ModuleType, base: type[Found]) -> dict[str, type[Found]]:
    """Every concrete subclass of `base` in the package's modules, at any depth, and those that other distributions
    declare under the entry point group of the package's name (such as `medveil.methods`), by their `name`, sorted.

    A subclass of several layers counts where it has a `name` of its own and nothing left abstract.
    """
    inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = [importlib.import_module(info.name) for info in inside]
    candidates = [member for module in modules for _, member in inspect.getmembers(module, inspect.isclass)]
    candidates += [point.load() for point in entry_points(group=package.__name__)]
    found = {
        candidate.__dict__["name"]: candidate
        for candidate in candidates
        if issubclass(candidate, base) and "name" in candidate.__dict__ and not inspect.isabstract(candidate)
    }
    return dict(sorted(found.items()))
