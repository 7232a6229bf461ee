"""A studio of one's own for a module of tests, started as people start it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pyarrow.csv
import pytest

from medveil.datasets import patients

WAIT = 240.0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of one file share a studio: where several processes test at once, a file stays in one of them."""
    for item in items:
        if "studio" in item.path.parts and "tests" in item.path.parts:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@dataclass
class RunningStudio:
    """A studio in a process of its own, and a client that was let in."""

    folder: Path
    data: Path
    state: Path
    process: subprocess.Popen[str] = field(repr=False)
    address: str = ""
    client: httpx.Client = field(default=None, repr=False)
    said: str = ""

    @property
    def base(self) -> str:
        return self.address.partition("/start")[0]

    @property
    def host(self) -> str:
        return self.base.removeprefix("http://")

    def enter(self) -> None:
        self.client = httpx.Client(base_url=self.base, follow_redirects=True, timeout=60)
        self.client.headers["sec-fetch-site"] = "same-origin"
        assert self.client.get(self.address).status_code == 200

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.client is not None:
            self.client.close()
        self.process.send_signal(number)
        code = self.process.wait(20)
        self.process.stdout.close()
        return code

    # What people do, without a browser

    def generated(self) -> str:
        answer = self.client.post("/generated")
        assert answer.status_code == 200
        return project_in(str(answer.url))

    def uploaded(self, content: bytes, name: str = "table.csv") -> str:
        answer = self.client.post("/upload", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text
        return project_in(str(answer.url))

    def json(self, path: str):
        return self.client.get(path, headers={"accept": "application/json"}).json()

    def until(self, look, what="it"):
        """What a look finds, once it finds something."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{what} did not come in {WAIT} seconds")

    def looked(self, project: str):
        """The first look at the data is over."""
        return self.until(lambda: self._over(f"/projects/{project}/data"), "the first look")

    def _over(self, path: str):
        told = self.json(path)
        return told if told["state"] not in {"queued", "running"} else None

    def run(self, project: str, **form) -> str:
        """Start a run; its address."""
        answer = self.client.post(f"/projects/{project}/run", data=form, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def ended(self, path: str):
        return self.until(lambda: self._over(path), "the end of the run")


def project_in(address: str) -> str:
    return re.search(r"/projects/([0-9a-f]{32})", address)[1]


def start_studio(
    folder: Path, data: Path, state: Path, port: int = 0, environment: Mapping[str, str] | None = None
) -> RunningStudio:
    command = [sys.executable, "-m", "medveil", "studio", "--port", str(port), "--no-browser"]
    process = subprocess.Popen(
        [*command, "--folder", str(folder), "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=data,
        env={**os.environ, "MEDVEIL_STATE": str(state), "COLUMNS": "20", **(environment or {})},
    )
    studio = RunningStudio(folder, data, state, process)
    studio.address = process.stdout.readline().strip()
    assert studio.address.startswith("http://127.0.0.1:"), studio.address + process.stdout.read()
    studio.enter()
    return studio


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The state, the data and the user's own folder of a studio."""
    folder = tmp_path_factory.mktemp("studio")
    data = tmp_path_factory.mktemp("data")
    pyarrow.csv.write_csv(patients(600, seed=3, patient_id=True), data / "patients.csv")
    return folder, data, tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def studio(places):
    started = start_studio(*places)
    yield started
    if started.process.poll() is None:
        started.stop()


@pytest.fixture(scope="session")
def start():
    """Starts a studio: for tests that end one and start it again."""
    return start_studio
