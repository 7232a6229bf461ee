"""numba, loaded without what no kernel of medveil uses.

Of a command of two seconds numba's start was a sixth: it looks for BLAS, which loads scipy.linalg, and for `coverage`,
where that is installed. Only a process that is medveil's own may leave these out: another program's kernels may need
them, so the command line and workers call this, and the Python API does not.
"""

from __future__ import annotations

import sys
from importlib import import_module

UNUSED = ("scipy.linalg.cython_blas", "coverage")
"""What is not loaded; numba asks for each and goes on without."""


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
