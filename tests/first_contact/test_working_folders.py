"""What a killed run left in the temporary directory is removed by the next; what another run holds is not."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from medveil.working_folder import WorkingFolder

HOLD = """
import sys
from medveil.working_folder import WorkingFolder
held = WorkingFolder()
(held.path / "rows").write_text("x")
print(held.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def hold(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def old(folder):
    for path in folder.iterdir():
        os.utime(path, (time.time() - 3600,) * 2)


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_the_next_run_sweeps_what_a_killed_one_left(temporary):
    process = hold(temporary)
    try:
        old(temporary)
        with WorkingFolder():
            assert len(list(temporary.iterdir())) == 2, "what a living run holds stays"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        old(temporary)
        with WorkingFolder() as own:
            assert list(temporary.iterdir()) == [own.path]
    finally:
        process.kill()
        process.communicate()
    assert not list(temporary.iterdir())


def test_a_young_folder_and_others_are_left_alone(temporary):
    (temporary / "medveil-work-young").mkdir()
    (temporary / "something-else").mkdir()
    os.utime(temporary / "something-else", (0, 0))
    with WorkingFolder():
        pass
    assert sorted(path.name for path in temporary.iterdir()) == ["medveil-work-young", "something-else"]
