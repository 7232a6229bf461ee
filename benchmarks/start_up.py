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

import pyarrow.csv

from medveil.datasets import patients

POLICY = """\
data: patients.csv
attributes:
  patient_id: {role: subject}
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi}
  region: {role: quasi}
  disease: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, l: 2}
method: {name: optimal, suppression: 0.02}
"""


def seconds(command: list[str | Path], **environment: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - started


def main() -> None:
    version = min(seconds([sys.executable, "-m", "medveil", "--version"]) for _ in range(5))
    print(f"medveil --version           {version:6.2f} s")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pyarrow.csv.write_csv(patients(5000, 1, patient_id=True), folder / "patients.csv")
        (folder / "policy.yaml").write_text(POLICY)
        command = [sys.executable, "-m", "medveil", "anonymize", folder / "policy.yaml", "--out"]
        kernels = str(folder / "kernels")
        runs = [seconds([*command, folder / f"out{i}"], NUMBA_CACHE_DIR=kernels) for i in range(4)]
    print(f"first run, kernels compiled {runs[0]:6.2f} s")
    print(f"later runs                  {min(runs[1:]):6.2f} s")
    print(f"lost to compilation         {runs[0] - min(runs[1:]):6.2f} s")


if __name__ == "__main__":
    main()
