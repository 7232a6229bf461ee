"""The machine fails: a process dies after the privacy charge, the disk is full, another program holds the database."""

import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="limits of a process are set by the system")

PRIVATE = """\
data: data/table.csv
attributes:
  sex: {role: quasi, domain: [F, M]}
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 119], widths: [10, 40]}}
  surgery: {role: sensitive, domain: ["yes", "no"]}
privacy:
  - {model: differential-privacy, epsilon: 0.6, budget: 1.0}
method: {name: dp-histogram}
"""


@pytest.fixture
def project(studio):
    made = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(made)
    return made


def workers(process):
    """The processes that a studio has started and that compute."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            command = (entry.parent / "cmdline").read_text()
        except OSError:
            continue
        if parent == process and "medveil.worker" in command and "--answering" not in command:
            found.append(int(entry.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_what_was_charged_before_a_process_died_stays_and_is_told(studio, project):
    pytest.importorskip("opendp", reason="differential privacy needs the extra 'dp'")
    assert studio.client.post(f"/projects/{project}/policy", data={"text": PRIVATE}).status_code == 200
    job = studio.run(project, spend="on")

    def charged():
        told = studio.json(job)
        assert told["state"] in {"queued", "running"}, "the run was over before it could be ended"
        return any(stage == "search" for stage, _ in told["stages"])

    end = time.monotonic() + 60
    while not charged():
        assert time.monotonic() < end
    for process in workers(studio.process.pid):
        os.kill(process, signal.SIGKILL)
    assert studio.ended(job)["state"] == "failed"
    page = studio.client.get(job).text
    assert "Its privacy charge of 0.6 was already written down, and stays" in page
    spent = studio.until(lambda: studio.json(f"/projects/{project}/run/budget").get("spent"), "the ledger")
    assert spent["epsilon"] == 0.6
    # To start it again shows the budget and asks first.
    again = studio.client.post(f"{job}/again")
    assert again.url.path == f"/projects/{project}/run"
    assert "I know that this spends 0.6, for good." in again.text


def test_a_full_disk_is_told_and_leaves_nothing(studio):
    before = set((studio.folder / "projects").glob("*"))
    limit = resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, (6_000_000, limit[1]))
    try:
        answer = studio.client.post("/upload", files={"file": ("a.csv", b"age,sex\n" + b"12,F\n" * 2_000_000)})
    finally:
        resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, limit)
    assert answer.status_code == 400
    assert "disk full" in answer.text
    assert set((studio.folder / "projects").glob("*")) == before
    assert studio.client.get("/").status_code == 200


def test_a_database_that_another_program_holds_is_told_and_pages_are_still_read(studio, project):
    held = sqlite3.connect(studio.folder / "studio.sqlite", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    try:
        assert studio.client.get(f"/projects/{project}/data").status_code == 200
        answer = studio.client.post(f"/projects/{project}/rename", data={"title": "New"})
        assert answer.status_code == 503
        assert "Another program" in answer.text
    finally:
        held.execute("ROLLBACK")
        held.close()
    assert studio.client.post(f"/projects/{project}/rename", data={"title": "New"}).status_code == 200
    assert studio.json(f"/projects/{project}/data")["title"] == "New"
