"""Where compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os
os.access = lambda *_: False  # a container whose files cannot be written to
import medveil.codes.sorting
import numpy as np
folder = os.environ["NUMBA_CACHE_DIR"]
medveil.codes.sorting.ascending(np.zeros(1))
assert list(os.scandir(folder)), "kernels are kept there"
print(folder, oct(os.stat(folder).st_mode & 0o777))
"""


def test_kernels_are_kept_for_as_long_as_a_process_lasts_where_nothing_else_can_be_written():
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], env=given, capture_output=True, text=True, check=True)
    folder, mode = ended.stdout.split()
    assert mode == "0o700"
    assert not Path(folder).exists()


def test_kernels_stay_where_they_can_be_kept():
    program = "import os, medveil; print(os.environ.get('NUMBA_CACHE_DIR'))"
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    ended = subprocess.run([sys.executable, "-c", program], env=given, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "None"
