"""A linked release of patients, visits and diagnoses, files to verified release: time of each stage and peak memory.

python benchmarks/linked.py [--people 100000] [--visits 10] [--diagnoses 2]

The default is 100,000 people, about 1 million visits and 2 million diagnoses, under k-anonymity and k^2-anonymity.
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
tables:
  patients:
    data: patients.csv
    attributes:
      Id:        {role: key}
      BIRTHDATE:
        role: quasi
        derive: {age_at: 2021-01-01, name: age}
        hierarchy: {type: intervals, widths: [5, 10, 20], top: 90}
      GENDER:    {role: quasi}
      REGION:    {role: quasi}
      ZIP:       {role: quasi, type: code, hierarchy: {type: mask, length: 5}}
  encounters:
    data: encounters.csv
    key: {PATIENT: patients.Id}
    attributes:
      Id:    {role: key}
      START: {role: date, shift: {days: 183}}
      STOP:  {role: plain, derive: {days_after: START, name: stay}}
      CLASS: {role: plain}
  conditions:
    data: conditions.csv
    key: {PATIENT: patients.Id, ENCOUNTER: encounters.Id}
    attributes:
      START: {role: date, shift: {days: 183}}
      CODE:  {role: sensitive, set: true, hierarchy: {type: icd-10}}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: km-anonymity, k: 5, m: 2, attribute: conditions.CODE}
method: {name: optimal, suppression: 0.02}
"""


def inner(policy: Path, out: Path) -> None:
    """The run itself, in a process of its own: stages, processor time and peak memory as JSON."""
    from medveil.app.anonymize import anonymize  # noqa: PLC0415

    stages = StageTimes("Loading medveil", lambda stage: stage.words)
    anonymize(policy, out=out, progress=stages)
    stages.end()
    both = {name: (seconds, stages.processor[name]) for name, seconds in stages.seconds.items()}
    print(json.dumps({"stages": both, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--visits", type=float, default=10.0)
    parser.add_argument("--diagnoses", type=float, default=2.0)
    parser.add_argument("--inner", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        inner(*given.inner)
        return
    from medveil.datasets import cohort  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        people = cohort(given.people, 1, visits=given.visits, diagnoses=given.diagnoses)
        people.write(folder)
        sizes = ", ".join(f"{table.num_rows:,} {name}" for name, table in people.tables.items())
        del people
        (folder / "policy.yaml").write_text(POLICY)
        command = [sys.executable, __file__, "--inner", folder / "policy.yaml", folder / "out"]
        started = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
    told = json.loads(done.stdout)
    print(f"{sizes}: files to verified release, k = 5 and k^2 = 5")
    for stage, (took, worked) in told["stages"].items():
        print(f"  {stage:28}{took:7.2f} s  {worked:7.2f} processor s")
    worked = sum(worked for _, worked in told["stages"].values())
    print(f"  {'whole process':28}{seconds:7.2f} s  {worked:7.2f} processor s")
    print(f"  {'peak memory':28}{told['peak']:7.0f} MB")


if __name__ == "__main__":
    main()
