"""Every engine passes the same tests: one that is added here is held to all of them."""

import pytest

from medveil.engine import open_engine

ENGINES = {"duckdb": open_engine}


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engines(request):
    """What opens the engine under test."""
    return ENGINES[request.param]
