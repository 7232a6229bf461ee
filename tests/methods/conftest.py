from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_place = importlib.util.spec_from_file_location("support", Path(__file__).parents[1] / "support.py")
assert _place is not None
assert _place.loader is not None
_support = importlib.util.module_from_spec(_place)
_place.loader.exec_module(_support)


@pytest.fixture(scope="session")
def make_problem():
    """`with make_problem(table, quasi=..., models=...) as problem`: see support.py."""
    return _support.make_problem
