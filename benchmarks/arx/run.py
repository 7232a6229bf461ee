"""ARX on the cases that `closeness.py` and `search.py` time, where a jar of it is at hand.

    python benchmarks/arx/run.py --jar libarx-3.9.2.jar [--data FOLDER] [--runs 4]

Needs a Java development kit. Each case is a process of its own on one processor; the first run warms up and is not
counted. Told are medians of the seconds that ARX itself reports, and the levels of its optimum, in the columns' order.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CASES = (
    ("-", "-", 0.0, 5, 0.0),
    ("-", "-", 0.0, 5, 0.02),
    ("-", "-", 0.0, 5, 1.0),
    ("occupation", "t-closeness", 0.3, 5, 0.02),
    ("occupation", "t-closeness", 0.2, 5, 0.02),
    ("occupation", "t-closeness", 0.2, 5, 1.0),
    ("occupation", "entropy", 4.0, 10, 0.05),
    ("occupation", "distinct", 3.0, 5, 0.02),
)
"""Sensitive column, model, its parameter, k and the limit of suppression; all on Adult."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--runs", type=int, default=4, help="the first is not counted")
    given = parser.parse_args()
    java, javac = shutil.which("java"), shutil.which("javac")
    if java is None or javac is None or not given.jar.is_file():
        raise SystemExit("A Java development kit (java, javac) and the jar of ARX are required.")
    adult = given.data / "adult" / "arx"
    print(f"{given.jar.name}, {dt.datetime.now(dt.UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([javac, "-cp", given.jar, "-d", folder, HERE / "Search.java"], check=True)
        rows = Path(folder) / "adult.csv"
        rows.write_bytes(gzip.decompress((adult / "adult.csv.gz").read_bytes()))
        start = [java, "-XX:ActiveProcessorCount=1", "-cp", os.pathsep.join((str(given.jar), folder)), "Search"]
        for sensitive, model, parameter, k, limit in CASES:
            asked = [sensitive, model, str(parameter), str(k), str(limit), str(given.runs)]
            done = subprocess.run(
                [*start, rows, str(adult / "adult_hierarchy_{}.csv"), *asked],
                check=True,
                capture_output=True,
                text=True,
            )
            told = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
            seconds = statistics.median(float(line[0]) for line in told[1:] or told)
            print(f"  k = {k}, {model} {parameter:g}, {limit:.0%}: {seconds:.3f} s  levels {told[-1][1]}", flush=True)


if __name__ == "__main__":
    main()
