"""What every test may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.first_contact.elsewhere import elsewhere

from medveil.cli import main

settings.register_profile(
    "medveil", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("medveil")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that is named as the one in which a piece of advice appears must make it appear."""
    owed = elsewhere().get(item.nodeid)
    if owed is None:
        return (yield)
    from tests.first_contact.following import noticed  # noqa: PLC0415 - few tests need it

    with noticed() as given:
        result = yield
    assert owed <= given, f"this test is to make advice appear that it did not: {owed - given}"
    return result


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of public data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("MEDVEIL_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the public data sets are not here: put them into a folder and name it in MEDVEIL_DATA")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_session(tmp_path_factory):
    """Fixtures that serve several tests keep nothing in the folder of the user's programs either."""
    state = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("medveil.system.state_folder", lambda: state)
        patch.setenv("MEDVEIL_STATE", str(state))
        yield


@pytest.fixture(autouse=True)
def _own_state(monkeypatch, tmp_path_factory):
    """What a user's programs must not forget is forgotten after each test."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setattr("medveil.system.state_folder", lambda: state)
    monkeypatch.setenv("MEDVEIL_STATE", str(state))


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line within this process: its exit code, what it prints and what it says of errors."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["medveil", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
