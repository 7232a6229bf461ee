"""How methods, models, measures and hierarchies are found: medveil's own by being there, others' by entry points."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

from medveil.errors import InputError

Found = TypeVar("Found")


def built_in(package: ModuleType, base: type[Found]) -> dict[str, type[Found]]:
    """Every concrete subclass of `base` in the package's modules, at any depth, by its `name`, sorted: medveil's own
    and no other.

    A subclass of several layers counts where it has a `name` of its own and nothing left abstract.
    """
    inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = [importlib.import_module(info.name) for info in inside]
    found: dict[str, type[Found]] = {}
    for module in modules:
        for _, member in inspect.getmembers(module, inspect.isclass):
            if _counts(member, base) and found.setdefault(member.__dict__["name"], member) is not member:
                raise TypeError(f"two classes of {package.__name__} are called '{member.__dict__['name']}'")
    return dict(sorted(found.items()))


def discover(package: ModuleType, base: type[Found]) -> dict[str, type[Found]]:
    """What is built in, and what other distributions declare under the entry point group of the package's name (such
    as `medveil.methods`), by name, sorted.

    A name that is taken is an error: no installed package replaces a part of medveil or of another package.
    """
    found = built_in(package, base)
    bringers: dict[str, str] = {}
    for point in sorted(entry_points(group=package.__name__), key=lambda point: (_distribution(point), point.name)):
        part, distribution = _load(point, base), _distribution(point)
        name = part.__dict__["name"]
        if name in found:
            owner = f"'{bringers[name]}'" if name in bringers else "medveil"
            raise InputError(
                f"The installed package '{distribution}' brings '{name}' into {package.__name__}, a name that {owner} "
                "has already.",
                f"Uninstall '{distribution}', or have its part renamed.",
            )
        found[name], bringers[name] = part, distribution
    return dict(sorted(found.items()))


def _load(point: EntryPoint, base: type[Found]) -> type[Found]:
    described = f"The installed package '{_distribution(point)}' declares '{point.name}' for {point.group}"
    try:
        part: Any = point.load()
    except Exception as error:  # noqa: BLE001 - whatever another package's code raises
        raise InputError(
            f"{described}, which cannot be loaded ({type(error).__name__}).", "Mend or uninstall it."
        ) from None
    if not _counts(part, base):
        raise InputError(
            f"{described}, which is not a complete {base.__name__} with a name of its own.", "Mend or uninstall it."
        )
    return part


def _counts(candidate: Any, base: type[Found]) -> TypeGuard[type[Found]]:
    return (
        inspect.isclass(candidate)
        and issubclass(candidate, base)
        and "name" in candidate.__dict__
        and not inspect.isabstract(candidate)
    )


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
