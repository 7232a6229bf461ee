"""Requests forged through the studio: no policy, form or query makes it ask another machine, or read another file."""

import socket
import threading

import pytest

ATTRIBUTES = "attributes: {age: {role: quasi}}\nprivacy: [{model: k-anonymity, k: 1}]\n"


class Trap:
    """A port of this machine that counts who comes."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.visitors = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            self.visitors += 1
            caller.close()


@pytest.fixture(scope="module")
def trap():
    made = Trap()
    yield made
    made.listener.close()


@pytest.fixture(scope="module")
def project(studio):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(made)
    return made


@pytest.mark.parametrize(
    "data",
    [
        "http://127.0.0.1:{port}/table.csv",
        "{{path: 'http://127.0.0.1:{port}/table.parquet'}}",
        "{{type: json-lines, path: 'http://127.0.0.1:{port}/x.ndjson'}}",
        "{{type: fhir, path: 'http://127.0.0.1:{port}/fhir'}}",
        "s3://127.0.0.1:{port}/bucket/x.parquet",
        "{{type: sql, connection: 'postgresql://127.0.0.1:{port}/x', query: SELECT 1}}",
    ],
)
def test_a_policy_asks_nobody(studio, project, trap, data):
    text = f"data: {data.format(port=trap.port)}\n{ATTRIBUTES}"
    answer = studio.client.post(f"/projects/{project}/policy", data={"text": text})
    if answer.status_code == 200:
        ended = studio.ended(studio.run(project))
        assert ended["state"] == "failed"
        assert ended["error"]["kind"] != "fault", ended["error"]
    assert trap.visitors == 0


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("sql", {"connection": "elsewhere", "query": "SELECT 1"}),
        ("file", {"path": "http://127.0.0.1:{port}/table.csv"}),
        ("fhir", {"path": "/etc"}),
    ],
)
def test_a_source_that_is_described_asks_nobody(studio, trap, kind, form):
    form = {name: text.format(port=trap.port) for name, text in form.items()}
    answer = studio.client.post(f"/source/{kind}/look", data=form)
    if answer.status_code == 200:
        told = studio.looked(str(answer.url).split("/projects/")[1].split("/")[0])
        assert told["state"] == "failed"
        assert told["error"]["kind"] != "fault"
    else:
        assert answer.status_code == 400
    assert trap.visitors == 0


def test_a_tool_asks_nobody(studio, trap):
    answer = studio.client.post("/tools/measure", data={"folder": f"http://127.0.0.1:{trap.port}/release"})
    if answer.status_code == 200:
        assert studio.ended(answer.url.path)["state"] == "failed"
    assert trap.visitors == 0
