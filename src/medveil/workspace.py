"""Where the paths of a policy start, and how far they may lead; which databases it may name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from medveil.connections import Connections
from medveil.errors import PolicyError

_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Workspace:
    """The folder that relative paths start from, and the root that no path may leave; None where any may be named.

    also: further roots, under which files may lie too.
    connections: the databases that may be named.
    """

    folder: Path = Path()
    root: Path | None = None
    also: tuple[Path, ...] = ()
    connections: Connections = field(default_factory=Connections)

    def resolve(self, path: str | Path) -> Path:
        """The file that a path names. Under a root, links are followed before it is decided where the file is."""
        named = self.folder / path
        if self.root is None:
            return named
        roots = [root.resolve() for root in (self.root, *self.also)]
        for place in (named, *_links_within(named)):
            whole = place.resolve()
            if not any(whole.is_relative_to(root) for root in roots):
                raise PolicyError("A path of the policy leads out of the workspace.", "Name a file inside it.")
        return named


def _links_within(path: Path) -> Iterable[Path]:
    """What a folder or a pattern names may be links that lead elsewhere."""
    if path.is_dir():
        return (one for one in path.rglob("*") if one.is_symlink())
    wild = next((i for i, part in enumerate(path.parts) if _WILD.search(part)), None)
    return () if wild is None else Path(*path.parts[:wild]).glob(Path(*path.parts[wild:]).as_posix())
