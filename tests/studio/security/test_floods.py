"""Too much of everything: event streams, jobs, slow uploads."""

import socket
from contextlib import ExitStack

import httpx

from medveil.studio.routes import runs

ENDLESS = """\
data: data/table.csv
attributes:
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi, domain: [F, M]}
  region: {role: quasi, type: category}
  length_of_stay: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 400], widths: [10, 20, 40, 80]}}
  disease: {role: sensitive}
privacy: [{model: k-anonymity, k: 5}]
method: {name: exhaustive, generalization: cell, time_limit: 600}
"""


def test_event_streams_are_bounded(studio):
    """As many as a person may open are served, and no more are held than the studio can bear."""
    project = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(project)
    assert studio.client.post(f"/projects/{project}/policy", data={"text": ENDLESS}).status_code == 200
    job = studio.run(project)
    with ExitStack() as stack:
        client = stack.enter_context(
            httpx.Client(
                base_url=studio.base,
                cookies=dict(studio.client.cookies),
                limits=httpx.Limits(max_connections=None),
                timeout=30,
            )
        )
        codes = [
            stack.enter_context(client.stream("GET", f"{job}/events")).status_code for _ in range(runs.MOST_STREAMS + 3)
        ]
        assert codes[: runs.MOST_STREAMS] == [200] * runs.MOST_STREAMS
        assert set(codes[runs.MOST_STREAMS :]) == {503}
        assert studio.client.get("/help").status_code == 200
    studio.client.post(f"{job}/cancel")
    studio.ended(job)


def test_an_upload_that_stops_half_way_leaves_nothing(studio):
    before = set((studio.folder / "projects").glob("*"))
    host, port = studio.host.split(":")
    cookie = "; ".join(f"{name}={value}" for name, value in studio.client.cookies.items())
    head = (
        f"POST /upload HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n"
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nage,sex\n'
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"1,F\n" * 1000)
        # Others are answered while it dawdles.
        assert studio.client.get("/help").status_code == 200
    studio.until(lambda: set((studio.folder / "projects").glob("*")) == before, "the end of the half upload")


def test_a_page_is_answered_while_many_jobs_wait(studio):
    project = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(project)
    jobs = [studio.run(project) for _ in range(15)]
    told = studio.client.get(f"/projects/{project}/run")
    assert told.status_code == 200
    for job in reversed(jobs):
        studio.client.post(f"{job}/cancel")
    states = {studio.ended(job)["state"] for job in jobs}
    assert states <= {"cancelled", "done"}


def test_headers_of_a_form_are_bounded(studio):
    body = b'--x\r\nContent-Disposition: form-data; name="' + b"a" * 100_000 + b'"\r\n\r\nx\r\n--x--\r\n'
    answer = studio.client.post("/upload", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 400


def test_an_unknown_method_is_refused(studio):
    with httpx.Client(base_url=studio.base, cookies=dict(studio.client.cookies)) as client:
        assert client.request("TRACE", "/").status_code in {403, 405}
        assert client.request("PUT", "/", headers={"sec-fetch-site": "same-origin"}).status_code == 405
