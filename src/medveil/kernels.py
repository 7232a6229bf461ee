"""numba: where it keeps compiled kernels, and its start without what no kernel of medveil uses.

Of a command of two seconds numba's start was a sixth: it looks for BLAS, which loads scipy.linalg, and for `coverage`,
where that is installed. Only a process that is medveil's own may leave these out: another program's kernels may need
them, so the command line and workers call this, and the Python API does not.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import import_module
from pathlib import Path

UNUSED = ("scipy.linalg.cython_blas", "coverage")
"""What is not loaded; numba asks for each and goes on without."""


def find_place_for_kernels() -> None:
    """Where numba can keep kernels neither beside the package nor in the user's home, give it a folder that ends with
    this process: it refuses to compile what it cannot keep. The folder is nobody else's, since what is kept is code.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    if "NUMBA_CACHE_DIR" in os.environ or _can_write(Path(__file__).parent) or _can_write(Path(home).expanduser()):
        return
    from medveil.working_folder import WorkingFolder  # noqa: PLC0415 - few need it, and everybody loads this file

    folder = WorkingFolder()
    atexit.register(folder.close)
    os.environ["NUMBA_CACHE_DIR"] = str(folder.path)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder.path)


def _can_write(folder: Path) -> bool:
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
    return there is not None and os.access(there, os.W_OK | os.X_OK)


def load_numba() -> None:
    """Load numba and what its first kernel would load. What is hidden from it can be loaded by others afterwards."""
    hidden = [name for name in UNUSED if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        for name in hidden:
            del sys.modules[name]
