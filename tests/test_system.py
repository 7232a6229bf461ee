"""What differs between systems stands in one file."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import medveil
from medveil import system

ROOT = Path(medveil.__file__).parent
MODULES = {"fcntl", "resource", "msvcrt", "pwd", "grp", "termios", "pty", "winreg", "ctypes"}
CALLS = {
    "fork",
    "forkpty",
    "getpgid",
    "getuid",
    "geteuid",
    "kill",
    "killpg",
    "setsid",
    "start_new_session",
    "mkfifo",
    "SIGKILL",
    "SIGALRM",
    "SIGHUP",
    "SIGUSR1",
    "sched_setaffinity",
}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_of_one_system_alone_stands_elsewhere(path):
    if path.name == "system.py" and path.parent == ROOT:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not MODULES & {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] not in MODULES
            assert not CALLS & {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"os", "signal"}:
            assert node.attr not in CALLS
        elif isinstance(node, ast.keyword):
            assert node.arg not in CALLS


def test_a_lock_is_held_by_one_process_alone(tmp_path):
    path = tmp_path / "held"
    path.touch()
    taken = "import os, sys; from medveil.system import lock; print(lock(os.open(sys.argv[1], os.O_RDWR)))"

    def elsewhere():
        return subprocess.run(
            [sys.executable, "-c", taken, str(path)], check=True, capture_output=True, text=True
        ).stdout.strip()

    mine = os.open(path, os.O_RDWR)
    assert system.lock(mine)
    assert elsewhere() == "False"
    os.close(mine)
    assert elsewhere() == "True"


def test_memory_is_told_in_bytes():
    assert system.peak_memory() > 10_000_000


def test_a_group_is_ended_with_all_that_it_has_started():
    program = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1); "
        "print(child.pid, flush=True); input()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **system.own_group()
    )
    assert parent.stdout is not None
    int(parent.stdout.readline())
    system.end_group(parent.pid)
    # The grandchild holds the pipe open for as long as it lives.
    assert parent.stdout.read() == ""
    parent.communicate()
    system.end_group(parent.pid)
