"""Time and memory of every method by the number of records, and how fast both grow.

    python benchmarks/growth.py [--sizes 10000 100000 1000000] [--methods "optimal;ipa"] [--minutes 20]

The whole command, `medveil anonymize POLICY --out DIR`, on generated patients, from the CSV file to the verified
directory with both reports, imports included, kernels compiled before. Seconds are of processor time (user and
system, of the process and its workers), which other work on the machine changes least; memory is the peak of the
largest process. The slope between two sizes is log(seconds' ratio) / log(records' ratio) of what is above the cost of
a small table: 1 is linear, 2 quadratic; n log n shows as 1.05 to 1.1 at these sizes. Sizes beyond a method's minutes
are left out by name.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.csv

import start_up
from medveil.datasets import patients

SMALL = 1_000
"""Records of the table whose cost is taken to be that of starting, proving and drawing anything at all."""

ON_CELLS = ("optimal", "optimal, t-closeness", "iab", "ipa", "dp-histogram")
"""Methods whose search works on cells: they are also run on ten times as many records."""


@dataclass(frozen=True)
class Cost:
    """Processor seconds and peak megabytes of one command."""

    seconds: float
    memory: float


def command(policy: Path, out: Path, minutes: float) -> Cost | None:
    """One whole command, or None where it was ended after so many minutes on the clock."""
    # What is spent of a budget here is not to be remembered, neither beside the table nor among the user's ledgers.
    ledger = out.parent / "ledger"
    arguments = [sys.executable, "-m", "medveil", "anonymize", policy, "--out", out, "--ledger", ledger]
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60.0 * minutes
    while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            child.kill()
            child.wait()
            return None
        time.sleep(0.05)
    _, status, used = ended
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        assert child.stderr is not None
        raise SystemExit(f"'{policy.stem}' ended with {child.returncode}: {child.stderr.read().decode()}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def slope(smaller: tuple[int, float], larger: tuple[int, float], start: float) -> float | None:
    """The growth from (records, seconds) to more of both; None where the smaller is hardly above the start."""
    (few, little), (many, much) = smaller, larger
    if little - start < 0.25 * start:
        return None
    return math.log((much - start) / (little - start)) / math.log(many / few)


def folder_of(records: int, folder: Path) -> Path:
    """A folder with so many patients and what the policies need."""
    home = folder / str(records)
    if not home.exists():
        home.mkdir()
        table = patients(records, 1, patient_id=True)
        pyarrow.csv.write_csv(table, home / "patients.csv")
        diseases = sorted({str(code) for code in table["disease"].unique().to_pylist()})
        (home / "diseases.csv").write_text("\n".join(diseases))
    return home


def measure(name: str, sizes: Sequence[int], folder: Path, minutes: float) -> None:
    costs: list[tuple[int, Cost]] = []
    for records in [SMALL, SMALL, *sizes]:  # the first run compiles
        with tempfile.TemporaryDirectory() as out:
            home = folder_of(records, folder)
            cost = command(start_up.policy(name, home), Path(out) / "out", minutes)
        if cost is None:
            print(f"| {name} | {records:,} | over {minutes:g} minutes on the clock | | |", flush=True)
            break
        if records == SMALL:
            costs = [(records, cost)]
            continue
        start = costs[0][1].seconds
        grown = slope((costs[-1][0], costs[-1][1].seconds), (records, cost.seconds), start) if costs[1:] else None
        costs.append((records, cost))
        shown = "" if grown is None else f"{grown:.2f}"
        print(f"| {name} | {records:,} | {cost.seconds:.1f} | {cost.memory:.0f} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--methods", default=";".join(start_up.POLICIES), help="separated by semicolons")
    parser.add_argument("--minutes", type=float, default=20.0, help="the most for one run, on the clock")
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next time")
    given = parser.parse_args()
    print("| method | records | processor s | memory MB | slope |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for name in given.methods.split(";"):
            more = [10 * max(given.sizes)] if name in ON_CELLS and given.sizes else []
            measure(name, [*given.sizes, *more], folder, given.minutes)


if __name__ == "__main__":
    main()
