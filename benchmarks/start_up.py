"""How long `medveil --version` takes, and what compilation costs a first run.

python benchmarks/start_up.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(command: list[str | Path], **environment: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - started


def main() -> None:
    version = min(seconds([sys.executable, "-m", "medveil", "--version"]) for _ in range(5))
    print(f"medveil --version           {version:6.2f} s")
    with tempfile.TemporaryDirectory() as temporary:
        runs = [
            seconds(
                [sys.executable, "-m", "medveil", "demo", "--rows", "5000", "--out", Path(temporary) / f"demo{i}"],
                NUMBA_CACHE_DIR=str(Path(temporary) / "kernels"),
            )
            for i in range(4)
        ]
    print(f"first run, kernels compiled {runs[0]:6.2f} s")
    print(f"later runs                  {min(runs[1:]):6.2f} s")
    print(f"lost to compilation         {runs[0] - min(runs[1:]):6.2f} s")


if __name__ == "__main__":
    main()
