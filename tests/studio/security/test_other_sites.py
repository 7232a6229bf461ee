"""Other pages of the same browser: names that were pointed here, posts from elsewhere, frames, sniffing, caches."""

import pytest

POSTS = ["/generated", "/upload", "/tools/audit", "/here/x/use", "/projects/x/run"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""]
)
def test_another_name_is_not_answered(studio, host):
    """DNS rebinding: the browser believes that evil.example is here, and sends its name."""
    assert studio.client.get("/", headers={"host": host}).status_code == 403


def test_its_own_names_are_answered(studio):
    port = studio.base.rsplit(":", 1)[1]
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert studio.client.get("/help", headers={"host": f"{name}:{port}"}).status_code == 200


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {},
    ],
)
def test_nothing_is_changed_for_another_site(studio, path, headers):
    request = studio.client.build_request("POST", path, headers=headers)
    if "sec-fetch-site" not in headers:
        del request.headers["sec-fetch-site"]
    assert studio.client.send(request).status_code == 403


def test_an_old_browser_is_known_by_its_origin(studio):
    request = studio.client.build_request("POST", "/tools/audit", headers={"origin": studio.base})
    del request.headers["sec-fetch-site"]
    assert studio.client.send(request).status_code == 422


def test_no_get_changes_anything(studio):
    project = studio.uploaded(b"age,sex\n1,F\n2,M\n")
    for path in ("delete", "rename", "peek", "data/stop", "data/read"):
        assert studio.client.get(f"/projects/{project}/{path}").status_code == 405
    assert studio.client.get(f"/projects/{project}/data").status_code == 200


@pytest.mark.parametrize("path", ["/", "/help", "/nothing", "/static/studio.css", "/tools/audit"])
def test_every_answer_says_what_the_browser_may_do(studio, path):
    headers = studio.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
