"""Whole commands of this version against those of an earlier revision, in turns, in one run.

    python benchmarks/against.py REVISION [--repeat 5] [--rows 20000] [--data FOLDER]

Both run `medveil anonymize POLICY --out DIR` in a process of its own, from the file to the verified directory with both
reports, imports included, by the same Python and the same libraries; the revision's files are checked out beside this
one. Each runs once before anything is measured, so that kernels are compiled. Then they take turns: what else the
machine does meets both. Told are medians of wall-clock seconds, of processor seconds (which a busy machine changes
least) and of peak memory, with the ratio of this version to the revision.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.csv

from medveil.datasets import patients

HERE = Path(__file__).parents[1]
PATIENTS = """\
data: patients.csv
attributes:
  age: {role: quasi, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi}
  region: {role: quasi}
  length_of_stay: {role: quasi, hierarchy: {type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}
  surgery: {role: quasi}
  disease: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, l: 2}
method: {name: optimal, suppression: 0.02}
"""


@dataclass(frozen=True)
class Cost:
    """What one process took: seconds on the clock, seconds of processors, megabytes at its peak."""

    wall: float
    processor: float
    memory: float


def command(source: Path, policy: Path) -> Cost:
    """One whole command with the modules of `source`."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-m", "medveil", "anonymize", policy, "--out", Path(folder) / "out"]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        started = time.perf_counter()
        child = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
    if child.returncode:
        raise SystemExit(f"{source}: the command ended with {child.returncode}.")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def median(costs: list[Cost]) -> Cost:
    taken = zip(*((cost.wall, cost.processor, cost.memory) for cost in costs), strict=True)
    return Cost(*(statistics.median(column) for column in taken))


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The modules of a revision in a folder of their own, for as long as they are needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "revision"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", tree, revision], check=True)
        try:
            yield tree / "src"
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)


def adult_policy(folder: Path) -> str:
    """All nine columns of Adult are quasi-identifiers, with the hierarchies that are published with them."""
    files = sorted(folder.glob("adult_hierarchy_*.csv"))
    names = [file.stem.removeprefix("adult_hierarchy_") for file in files]
    attributes = "".join(
        f"  {name}: {{role: quasi, hierarchy: {{type: file, path: '{file}'}}}}\n"
        for name, file in zip(names, files, strict=True)
    )
    method = "method: {name: optimal, suppression: 0.02}\n"
    return (
        f"data: '{folder / 'adult.csv.gz'}'\nattributes:\n{attributes}privacy: [{{model: k-anonymity, k: 5}}]\n{method}"
    )


def compare(title: str, policy: Path, sources: dict[str, Path], repeat: int) -> None:
    for source in sources.values():
        command(source, policy)
    costs: dict[str, list[Cost]] = {name: [] for name in sources}
    for _ in range(repeat):
        for name, source in sources.items():
            costs[name].append(command(source, policy))
    print(f"{title}, medians of {repeat}")
    print(f"  {'':14}{'wall s':>9}{'processor s':>13}{'memory MB':>11}")
    (_, earlier), (_, now) = found = [(name, median(taken)) for name, taken in costs.items()]
    for name, cost in found:
        print(f"  {name:14}{cost.wall:9.2f}{cost.processor:13.2f}{cost.memory:11.0f}")
    ratios = now.wall / earlier.wall, now.processor / earlier.processor, now.memory / earlier.memory
    print(f"  {'ratio':14}{ratios[0]:9.2f}{ratios[1]:13.2f}{ratios[2]:11.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument(
        "--rows", type=int, nargs="*", default=[20_000], help="Generated patients; none leaves them out."
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared" / "data")
    given = parser.parse_args()
    adult = given.data / "adult" / "arx"
    with checked_out(given.revision) as earlier, tempfile.TemporaryDirectory() as temporary:
        sources = {given.revision: earlier, "this version": HERE / "src"}
        for rows in given.rows:
            folder = Path(temporary) / str(rows)
            folder.mkdir()
            pyarrow.csv.write_csv(patients(rows, 1), folder / "patients.csv")
            (folder / "policy.yaml").write_text(PATIENTS)
            compare(f"{rows:,} generated patients", folder / "policy.yaml", sources, given.repeat)
        if adult.is_dir():
            policy = Path(temporary) / "adult.yaml"
            policy.write_text(adult_policy(adult))
            compare("Adult, nine quasi-identifiers", policy, sources, given.repeat)


if __name__ == "__main__":
    main()
