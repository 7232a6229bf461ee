"""Every engine passes the same tests: one that is added here is held to all of them."""

import json

import pytest
from tests.engine import spark

from medveil.engine import open_engine

ENGINES = {"duckdb": open_engine}


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engines(request):
    """What opens the engine under test."""
    return ENGINES[request.param]


@pytest.fixture(scope="session")
def connect_server():
    with spark.connect_server(settings=json.dumps(spark.SETTINGS)) as address:
        yield address


@pytest.fixture(scope="session", params=["classic", "connect"])
def remote(request):
    """The address of a Spark: in this process, or by Connect in another."""
    return spark.LOCAL if request.param == "classic" else request.getfixturevalue("connect_server")
