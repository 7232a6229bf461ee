"""Use cases in a process of their own: what they answer, and that they die with whoever asked."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.csv
import pytest

from medveil.app.elsewhere import run_elsewhere
from medveil.datasets import patients
from medveil.errors import CancelledError, OutputError
from medveil.run import Run, Stage
from medveil.worker import USE_CASES

POLICY = {
    "data": "patients.csv",
    "attributes": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "disease": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"report": False},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pyarrow.csv.write_csv(patients(500, seed=1), folder / "patients.csv")
    (folder / "policy.json").write_text(json.dumps(POLICY), encoding="utf-8")
    return folder


def test_a_use_case_answers_as_it_would_here(folder, tmp_path):
    told = []
    answer = run_elsewhere(
        "anonymize",
        {"data": None, "policy": POLICY, "out": tmp_path / "out"},
        run=Run(),
        listen=told.append,
        folder=folder,
        owned=tmp_path,
    )
    assert answer.reason is None
    assert answer.result["folder"] == str(tmp_path / "out")
    assert answer.program > 0
    assert {one.event.stage for one in told} >= {Stage.READ, Stage.SEARCH, Stage.PROVE, Stage.MEASURE}
    assert [one.seconds for one in told] == sorted(one.seconds for one in told)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    again = run_elsewhere(
        "anonymize", {"data": None, "policy": POLICY, "out": tmp_path / "out"}, run=Run(), folder=folder
    )
    assert isinstance(again.error, OutputError)


def test_any_use_case_can_be_asked_for(folder):
    answer = run_elsewhere("inspect", {"data": "patients.csv"}, run=Run(), folder=folder)
    assert answer.result["rows"] == 500
    assert set(USE_CASES) >= {"anonymize", "audit", "compare", "inspect", "leakage", "measure", "demo", "budget"}


def test_a_cancelled_run_ends_the_process(folder, tmp_path):
    began = time.monotonic()
    seen = []
    run = Run(cancelled=lambda: bool(seen))
    with pytest.raises(CancelledError):
        run_elsewhere(
            "demo",
            {"rows": 10_000, "out": tmp_path / "demo"},
            run=run,
            listen=lambda _told: seen.append(time.monotonic()),
            folder=folder,
        )
    assert time.monotonic() - seen[0] < 2.0
    assert time.monotonic() - began < 60
    assert list(tmp_path.iterdir()) == []


def _children(process: int) -> list[int]:
    """The processes that one has started, and those that they have."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            child = int(path.parent.name)
            found += [child, *_children(child)]
    return found


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed under /proc on Linux alone")
def test_a_killed_comparison_leaves_no_child_and_no_folder(folder, tmp_path):
    command = [sys.executable, "-m", "medveil", "compare", str(folder / "policy.json"), "--out", str(tmp_path / "out")]
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
    try:
        deadline = time.monotonic() + 60
        while not (children := _children(parent.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert children, "a trial runs in a child"
        # Until it has begun to write: then there is something to be left behind.
        while not list(tmp_path.glob(".out*/.trial*")) and time.monotonic() < deadline and parent.poll() is None:
            time.sleep(0.05)
        children = _children(parent.pid)
        parent.send_signal(signal.SIGKILL)
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 10
    while (any(map(_alive, children)) or list(tmp_path.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [child for child in children if _alive(child)]
    assert list(tmp_path.iterdir()) == []


def test_who_is_told_to_end_with_the_task_leaves_the_folder_of_the_one_who_told(tmp_path):
    """Only a process whose other end is gone removes the folder that they share."""
    owned = tmp_path / "owned"
    owned.mkdir()
    task = {"use_case": "anonymize", "arguments": {"data": None, "policy": {}, "out": "out"}, "owned": str(owned)}
    told = json.dumps(task) + "\nend\n"
    worker = [sys.executable, "-m", "medveil.worker"]
    subprocess.run(worker, input=told, text=True, capture_output=True, cwd=tmp_path, check=True)
    assert list(owned.iterdir()) == []
