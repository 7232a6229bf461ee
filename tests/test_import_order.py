"""Data go one way: each package imports only from those before it."""

import ast
from pathlib import Path

import pytest

import medveil

ROOT = Path(medveil.__file__).parent
ORDER = (
    "errors",
    "markup",
    "system",
    "processes",
    "connections",
    "clusters",
    "workspace",
    "working_folder",
    "kernels",
    "registry",
    "table",
    "sources",
    "hierarchy",
    "guessing",
    "profiles",
    "codes",
    "engine",
    "cells",
    "declared_cells",
    "privacy",
    "loss",
    "lattice",
    "release",
    "auditor",
    "run",
    "methods",
    "evaluation",
    "risk",
    "utility",
    "advising",
    "report",
    "policy_file",
    "policy",
    "datasets",
    "app",
    "reproduce",
    "app/reproduce",
    "worker",
    "testing",
    "terminal",
    "studio",
    "cli",
)
AUDITOR_KNOWS_NOTHING_OF = {"kernels", "codes", "cells", "declared_cells", "privacy", "loss", "lattice", "methods"}
FILES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """The room that a file is in. The use case that computes papers anew comes after the papers, which use others."""
    inside = path.relative_to(ROOT).with_suffix("").as_posix()
    return inside if inside in ORDER else inside.partition("/")[0]


def imported(path: Path) -> set[str]:
    """The parts of medveil that a file imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            if node.module == "medveil":
                found |= {alias.name for alias in node.names}
            elif (node.module or "").startswith("medveil."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("medveil.")}
    return found - {"__version__"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_file_imports_only_from_what_comes_before_it(path):
    if path.name in {"__init__.py", "__main__.py"} and path.parent == ROOT:
        return
    here = part(path)
    assert here in ORDER, f"{here} has no place in the order"
    later = {name for name in imported(path) if ORDER.index(name) > ORDER.index(here)}
    assert not later, f"{here} imports from {sorted(later)}, which come after it"


def test_the_auditor_shares_no_code_with_what_it_checks():
    files = [path for path in FILES if part(path) == "auditor"]
    assert files
    for path in files:
        assert not imported(path) & {"engine", *AUDITOR_KNOWS_NOTHING_OF}, path.name


def test_the_auditor_loads_nothing_of_what_it_checks():
    """Also not by a detour through other parts."""
    seen, queue = set(), [path for path in FILES if part(path) == "auditor"]
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("medveil."):
                target = ROOT.joinpath(*node.module.split(".")[1:])
                queue += [p for p in (target.with_suffix(".py"), target / "__init__.py") if p.exists()]
    parts = {part(path) for path in seen}
    assert not parts & AUDITOR_KNOWS_NOTHING_OF, sorted(parts)


def test_no_class_has_the_name_of_another():
    """A name that two classes share says what neither is."""
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice, twice
