"""A whole run on 1.2 million generated patients, file to verified release: time of each stage and peak memory.

python benchmarks/whole_run.py [--rows 1200000] [--method optimal]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stages import StageTimes

POLICY = """\
data: patients.csv
attributes:
  age: {{role: quasi, hierarchy: {{type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}}}
  sex: {{role: quasi}}
  region: {{role: quasi}}
  length_of_stay: {{role: quasi, hierarchy: {{type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}}}
  surgery: {{role: quasi}}
  disease: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: 5}}
  - {{model: l-diversity, l: 2}}
method: {method}
"""


def inner(policy: Path, out: Path) -> None:
    """The run itself, in a process of its own: stages and peak memory as JSON."""
    from medveil.app.anonymize import anonymize  # noqa: PLC0415

    stages = StageTimes("Loading medveil", lambda stage: stage.words)
    anonymize(policy, out=out, progress=stages)
    stages.end()
    print(json.dumps({"stages": stages.seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_200_000)
    parser.add_argument("--method", default="{name: optimal, suppression: 0.02}")
    parser.add_argument("--inner", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        inner(*given.inner)
        return
    import pyarrow.csv  # noqa: PLC0415

    from medveil.datasets import patients  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pyarrow.csv.write_csv(patients(given.rows, 1), folder / "patients.csv")
        (folder / "policy.yaml").write_text(POLICY.format(method=given.method))
        command = [sys.executable, __file__, "--inner", folder / "policy.yaml", folder / "out"]
        started = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
    told = json.loads(done.stdout)
    print(f"{given.rows:,} records, {given.method}, file to verified release")
    for stage, took in told["stages"].items():
        print(f"  {stage:28}{took:7.2f} s")
    print(f"  {'whole process':28}{seconds:7.2f} s")
    print(f"  {'peak memory':28}{told['peak']:7.0f} MB")


if __name__ == "__main__":
    main()
