"""What is imported is declared: another package's dependency is not there on a user's machine."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import medveil

ROOT = Path(medveil.__file__).parent
PROJECT = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_FOR_USERS = {"dev", "peers"}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def declared():
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(d for name, one in extras.items() if name not in NOT_FOR_USERS for d in one)]
    return {canonical(re.split(r"[\s<>=!~\[;]", one, maxsplit=1)[0]) for one in wanted}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def test_every_imported_distribution_is_declared_for_users():
    homes = packages_distributions()
    names = {name for path in ROOT.rglob("*.py") for name in imported(path)} - {"medveil"}
    outside = names - set(sys.stdlib_module_names)
    assert len(outside) > 5
    undeclared = [name for name in sorted(outside) if not {canonical(d) for d in homes.get(name, [name])} & declared()]
    assert not undeclared
