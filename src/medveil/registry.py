"""How methods, models, measures and hierarchies are found: medveil's own by being there, others' by entry points."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

from medveil.errors import InputError

Found = TypeVar("Found")


class Parts(Mapping[str, type[Found]]):
    """Parts of medveil and of installed packages by their `name`, sorted, each loaded when it is asked for.

    A part whose module is called like it (`t-closeness` in `t_closeness`) is loaded alone; all are, where one is not
    found that way, where they are listed, and where another distribution declares any: a taken name is told at once.
    """

    def __init__(self, package: ModuleType, base: type[Found], points: Sequence[EntryPoint]) -> None:
        self.package = package
        self.base = base
        self.points = points

    def __getitem__(self, name: str) -> type[Found]:
        alone = None if self.points else _alone(self.package, self.base, name)
        return alone or self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, type[Found]]:
        found: dict[str, type[Found]] = dict(_in_package(self.package, self.base))  # type: ignore[arg-type]
        bringers: dict[str, str] = {}
        for point in self.points:
            part, distribution = _load(point, self.base), _distribution(point)
            name = part.__dict__["name"]
            if name in found:
                owner = f"'{bringers[name]}'" if name in bringers else "medveil"
                raise InputError(
                    f"The installed package '{distribution}' brings '{name}' into {self.package.__name__}, a name that "
                    f"{owner} already has.",
                    f"Uninstall '{distribution}', or have its part renamed.",
                )
            found[name], bringers[name] = part, distribution
        return dict(sorted(found.items()))


def built_in(package: ModuleType, base: type[Found]) -> Parts[Found]:
    """Every concrete subclass of `base` in the package's modules, at any depth: medveil's own and no other.

    A subclass of several layers counts where it has a `name` of its own and nothing left abstract.
    """
    return Parts(package, base, ())


def discover(package: ModuleType, base: type[Found]) -> Parts[Found]:
    """What is built in, and what other distributions declare under the entry point group of the package's name (such
    as `medveil.methods`).

    A name that is taken is an error: no installed package replaces a part of medveil or of another package.
    """
    found = Parts(package, base, _declared(entry_points, package.__name__, tuple(sys.path)))
    if found.points:
        # A taken name, or a part that does not load, is told before anything is asked for.
        len(found)
    return found


@cache
def _declared(read: Callable[..., Iterable[EntryPoint]], group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group. What is installed is read once, as long as it is looked for in the same places."""
    return tuple(sorted(read(group=group), key=lambda point: (_distribution(point), point.name)))


def _alone(package: ModuleType, base: type[Found], name: str) -> type[Found] | None:
    """The part of this name, where a module of the package is called like it."""
    place = f"{package.__name__}.{name.replace('-', '_')}"
    if not name.replace("-", "_").isidentifier() or importlib.util.find_spec(place) is None:
        return None
    members = vars(importlib.import_module(place)).values()
    return next((one for one in members if _counts(one, base) and one.__dict__["name"] == name), None)


@cache
def _in_package(package: ModuleType, base: type[Any]) -> dict[str, type[Any]]:
    inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = [importlib.import_module(info.name) for info in inside]
    found: dict[str, type[Any]] = {}
    for module in modules:
        for _, member in inspect.getmembers(module, inspect.isclass):
            if _counts(member, base) and found.setdefault(member.__dict__["name"], member) is not member:
                raise TypeError(f"two classes of {package.__name__} are called '{member.__dict__['name']}'")
    return found


def _load(point: EntryPoint, base: type[Found]) -> type[Found]:
    described = f"The installed package '{_distribution(point)}' declares '{point.name}' for {point.group}"
    try:
        part: Any = point.load()
    except Exception as error:  # noqa: BLE001 - whatever another package's code raises
        raise InputError(
            f"{described}, which cannot be loaded ({type(error).__name__}).", "Fix or uninstall it."
        ) from None
    if not _counts(part, base):
        raise InputError(
            f"{described}, which is not a complete {base.__name__} with a name of its own.", "Fix or uninstall it."
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
