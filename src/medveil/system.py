"""What differs from one operating system to another, and nothing else does: locks, processes, memory, places."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_PEAK = "VmHWM:"


def lock(descriptor: int) -> bool:
    """Hold an open file, or a folder where that can be opened, for this process alone; False where another has it.

    The lock ends with the process, however that ends, or when the descriptor is closed.
    """
    if sys.platform == "win32":  # pragma: no cover - not on this system
        import msvcrt  # noqa: PLC0415

        take, arguments = msvcrt.locking, (descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415

        take, arguments = fcntl.flock, (descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        take(*arguments)
    except OSError:
        return False
    return True


def lock_folder(folder: Path) -> int | None:
    """A folder, opened and locked; None where another process holds it, or where folders cannot be opened."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    if not lock(opened):
        os.close(opened)
        return None
    return opened


def own_group() -> dict[str, Any]:
    """How a child process is started so that it can be ended with all that it starts: options of Popen."""
    if sys.platform == "win32":  # pragma: no cover - not on this system
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def end_group(process: int) -> None:
    """End a process that was started as `own_group` says, with all that it has started, at once."""
    if sys.platform == "win32":  # pragma: no cover - not on this system
        command = ["taskkill", "/F", "/T", "/PID", str(process)]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a tool of the system
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def lower_priority() -> None:
    """Let every other program go first."""
    if sys.platform != "win32":
        os.nice(10)


def raise_in_thread(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in another thread when it next runs Python, as Ctrl-C does in the main one; None takes it back."""
    what = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)


def return_memory() -> None:
    """Give memory that was freed back to the machine: the C library keeps it for this process, in pieces that larger
    arrays do not fit into. Does nothing where the C library has no such call.
    """
    if sys.platform != "linux":  # pragma: no cover - not on this system
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes; 0 where the system does not say."""
    # The kernel's own figure of this program; getrusage may still count the parent that it was started from.
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith(_PEAK):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":  # pragma: no cover - not on this system
        return 0
    import resource  # noqa: PLC0415

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def state_folder() -> Path:
    """Where a user's programs keep what they must not forget."""
    places = {"win32": "AppData/Local/medveil", "darwin": "Library/Application Support/medveil"}
    return Path.home() / places.get(sys.platform, ".local/state/medveil")
