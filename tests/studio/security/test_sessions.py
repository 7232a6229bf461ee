"""The cookie: one that was planted is never adopted, and tokens are neither guessed nor used twice."""

from pathlib import Path

import httpx
import pytest

from medveil.studio.database import Store
from medveil.studio.security.visits import Visits


@pytest.fixture
def visits(tmp_path):
    store = Store(tmp_path / "studio.sqlite")
    yield Visits(store, 1)
    store.close()


def test_a_cookie_that_was_planted_is_not_adopted(visits):
    token = visits.token()
    given = visits.enter(token)
    assert given not in {None, "planted", token}
    assert visits.enter(token) is None, "the token is used up"


def test_every_browser_gets_a_cookie_of_its_own(visits):
    cookies = {visits.enter(visits.token()) for _ in range(20)}
    assert len(cookies) == 20
    assert all(len(cookie) >= 43 for cookie in cookies), "256 bits each"


def test_a_new_token_voids_the_old_one(visits):
    old, new = visits.token(), visits.token()
    assert visits.enter(old) is None
    assert visits.enter(new) is not None


def test_guesses_let_nobody_in_and_do_not_use_up_the_token(visits):
    token = visits.token()
    for guess in ("", "a", token[:-1], token + "a", token.swapcase(), "é"):
        assert visits.enter(guess) is None
    assert visits.enter(token) is not None


def test_a_planted_cookie_is_not_let_in(studio):
    (name,) = studio.client.cookies
    with httpx.Client(base_url=studio.base, cookies={name: "planted"}) as stranger:
        assert stranger.get("/").status_code == 403
        assert stranger.get("/start", params={"token": "planted"}).status_code == 403


def test_the_token_is_in_no_page_and_in_no_list_of_processes(studio):
    token = studio.address.partition("token=")[2]
    assert token not in studio.client.get("/").text
    assert token not in _commands()
    for path in studio.folder.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def _commands() -> str:
    """The command lines of all processes, as everybody on the machine may see them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(entry.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(found)
