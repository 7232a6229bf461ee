"""Without the cookie there is nothing to see: on no address, by no method, and the one-time address works once."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from medveil.studio.application import OPEN, make_application
from medveil.studio.routes.start import enter
from medveil.studio.settings import StudioSettings
from medveil.studio.site import make_studio


def addresses():
    """Every address of the application with its methods, filled with something."""
    studio = make_studio_here()
    application = make_application(studio, frozenset())
    for route in application.routes:
        if not hasattr(route, "methods"):
            continue
        path = route.path
        for name, value in (("{project}", "a" * 32), ("{job}", "b" * 32), ("{number:int}", "0"), ("{place:int}", "0")):
            path = path.replace(name, value)
        for name in ("{name}", "{kind}", "{model}", "{method}", "{section}", "{who}", "{tool}", "{profile}"):
            path = path.replace(name, "x")
        assert "{" not in path, path
        yield from ((method, path) for method in sorted(route.methods - {"HEAD"}))
    studio.store.close()


def make_studio_here():
    folder = Path(tempfile.mkdtemp())
    return make_studio(StudioSettings(folder, folder, folder / "ledgers"), 1)


ADDRESSES = list(addresses())


def test_every_address_is_tried():
    assert len(ADDRESSES) > 50
    assert {"/start"} == OPEN


@pytest.mark.parametrize(("method", "path"), ADDRESSES, ids=[f"{method} {path}" for method, path in ADDRESSES])
def test_nobody_without_the_cookie_gets_an_answer(studio, method, path):
    with httpx.Client(base_url=studio.base) as stranger:
        for cookies in ({}, dict.fromkeys(studio.client.cookies, "guessed")):
            stranger.cookies = cookies
            answer = stranger.request(method, path, headers={"sec-fetch-site": "same-origin"})
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


def test_the_one_time_address_works_once(studio):
    with httpx.Client() as stranger:
        assert stranger.get(studio.address).status_code == 403
        assert stranger.get(f"{studio.base}/start?token=").status_code == 403
        assert stranger.get(f"{studio.base}/start").status_code == 403
        assert stranger.head(studio.address).status_code in {403, 405}


def test_a_look_at_the_headers_does_not_use_it_up(tmp_path):
    studio = make_studio(StudioSettings(tmp_path, tmp_path, tmp_path / "ledgers"), 1)
    query = f"token={studio.visits.token()}".encode()
    state = SimpleNamespace(state=SimpleNamespace(studio=studio))

    def asked(method):
        scope = {"type": "http", "method": method, "path": "/start", "query_string": query, "headers": [], "app": state}
        return enter(Request(scope))

    with pytest.raises(HTTPException) as refused:
        asked("HEAD")
    assert refused.value.status_code == 405
    assert asked("GET").status_code == 303
    with pytest.raises(HTTPException) as refused:
        asked("GET")
    assert refused.value.status_code == 403
    studio.store.close()


def test_the_cookie_is_for_this_browser_and_this_studio_alone(start, tmp_path):
    for name in ("folder", "data", "state"):
        (tmp_path / name).mkdir()
    other = start(tmp_path / "folder", tmp_path / "data", tmp_path / "state")
    try:
        port = other.base.rsplit(":", 1)[1]
        (cookie,) = other.client.cookies.jar
        assert cookie.name.endswith(port)
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite").lower() == "strict"
        stored = (tmp_path / "folder" / "studio.sqlite").read_bytes()
        assert cookie.value.encode() not in stored, "only its hash is kept"
    finally:
        assert other.stop() in {0, -15, 130}


def test_the_address_is_one_line_and_the_studio_listens_on_the_loopback_alone(studio):
    assert studio.address.startswith("http://127.0.0.1:")
    assert " " not in studio.address
