"""Fixed-interval anonymization of generated patients against DuckDB's sort of the same columns in the same run.

`python benchmarks/fixed_interval.py [--rows N]`: k = 10, four sorts of quasi-identifier, 829 diseases as the sensitive
attribute, for a tenth of N records and for N. `method` is from counted cells to what is to be written, `whole run` from
the file to a proved release with its measures. Times are the best of three, of whole runs the only one. Memory is the
peak of a process that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from medveil.app.anonymize import anonymize
from medveil.app.preparation import opened
from medveil.datasets import patients
from medveil.policy import load_policy
from medveil.run import Run

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5]}},
        "sex": {"role": "quasi"},
        "length_of_stay": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [1, 400], "widths": [20]}},
        "region": {"role": "quasi"},
        "surgery": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 10}],
    "method": {"name": "fixed-interval"},
}


def best(call: Callable[[], Any], times: int = 3) -> float:
    found = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - start)
    return found


def sort(path: Path) -> float:
    """How long DuckDB takes to sort the columns by all of them, loaded beforehand, as text like the engine's."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE source AS SELECT COLUMNS(*)::VARCHAR FROM read_parquet('{path}')")
        return best(lambda: connection.execute("CREATE OR REPLACE TABLE sorted AS FROM source ORDER BY ALL"))


def method(path: Path) -> float:
    policy, folder = load_policy(POLICY)
    with opened(policy, folder, path) as (problem, _):
        return best(lambda: policy.method.anonymize(problem, Run()))


def whole(path: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return best(lambda: anonymize(path, POLICY, out=Path(folder) / "out"), 1)


JOBS = {"sort": sort, "method": method, "whole": whole}


def apart(job: str, path: Path) -> tuple[float, float]:
    """Seconds and gigabytes of a job in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--job", job, "--path", path], check=True, stdout=subprocess.PIPE)
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--job", choices=JOBS)
    parser.add_argument("--path", type=Path)
    chosen = parser.parse_args()
    if chosen.job:
        seconds = JOBS[chosen.job](chosen.path)
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6]))
        return
    print(
        f"{'records':>10}{'sort s':>9}{'method s':>10}{'x sort':>8}{'GB':>6}{'whole run s':>13}{'x sort':>8}{'GB':>6}"
    )
    taken = []
    for rows in (chosen.rows // 10, chosen.rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "patients.parquet"
            pq.write_table(patients(rows, seed=1), path)
            (sorting, _), (alone, memory), (run, most) = (apart(job, path) for job in JOBS)
        taken.append((alone, run))
        print(
            f"{rows:>10,}{sorting:>9.2f}{alone:>10.2f}{alone / sorting:>8.1f}{memory:>6.2f}"
            f"{run:>13.2f}{run / sorting:>8.1f}{most:>6.2f}",
            flush=True,
        )
    (small, small_run), (large, large_run) = taken
    print(f"ten times the records: method {large / small:.1f} x, whole run {large_run / small_run:.1f} x")


if __name__ == "__main__":
    main()
