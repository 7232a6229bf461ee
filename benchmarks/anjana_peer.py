"""`optimal` against anjana 1.2.3 on Adult, six quasi-identifiers, k = 5, 5 % suppression: time and loss in one run.

    python benchmarks/anjana_peer.py [--data FOLDER]

Both are timed from a frame in memory to an anonymous one in a running process, through the public functions, and as
whole processes from file to file. Every time is the median of three runs; in a running process after one that is not
counted. anjana runs in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv

import medveil
import table
from medveil.app.preparation import opened
from medveil.policy import load_policy
from medveil.utility.loss_metric import LossMetric
from medveil.utility.measure import Comparison, Score
from peers import python_with

if TYPE_CHECKING:
    import pandas as pd

QUASI = ("age", "education", "marital-status", "occupation", "sex", "native-country")
RELEASE = "anjana==1.2.3"
RUNS = 3
PEER = """
import json, statistics, sys, time
import pandas as pd
from anjana.anonymity import k_anonymity
data, folder, out, quasi = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
frame = pd.read_csv(data, sep=";", dtype=str)[quasi]
hierarchies = {}
for name in quasi:
    read = pd.read_csv(f"{folder}/adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    hierarchies[name] = {level: read[level].to_numpy() for level in read.columns}
seconds = []
for _ in range(int(sys.argv[5]) + 1):
    started = time.perf_counter()
    result = k_anonymity(frame.copy(), [], quasi, 5, 5, hierarchies)
    seconds.append(time.perf_counter() - started)
print(statistics.median(seconds[1:] or seconds))
result.to_csv(out, index=False)
"""


def policy(folder: Path) -> dict[str, object]:
    attributes = {
        name: {"role": "quasi", "hierarchy": {"type": "file", "path": str(folder / f"adult_hierarchy_{name}.csv")}}
        for name in QUASI
    }
    return {
        "data": {"path": str(folder / "adult.csv.gz")},
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.05},
    }


def loss_of(folder: Path, published: pa.Table) -> float:
    checked, base = load_policy(policy(folder))
    with opened(checked, base) as (problem, _):
        score = LossMetric().compute(Comparison(problem, published))
    assert isinstance(score, Score)
    return score.value


def peer(folder: Path, runs: int) -> tuple[float, float, float]:
    """anjana's seconds from frame to frame, warm where it runs several times, those of its process, and its loss."""
    python = python_with(RELEASE)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "out.csv"
        arguments = [folder / "adult.csv.gz", folder, out, json.dumps(QUASI), str(runs)]
        started = time.perf_counter()
        done = subprocess.run([python, "-c", PEER, *arguments], check=True, capture_output=True, text=True)
        whole = time.perf_counter() - started
        options = pa.csv.ConvertOptions(column_types=dict.fromkeys(QUASI, pa.string()))
        published = pa.csv.read_csv(out, convert_options=options)
    return float(done.stdout.strip().splitlines()[-1]), whole, loss_of(folder, published)


def median_of(runs: int, run: Callable[[], object]) -> float:
    """The median of warm runs: the first, which loads kernels, does not count."""
    seconds = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def command(folder: Path) -> None:
    """The whole command: from the file to the verified directory with both reports, imports included."""
    with tempfile.TemporaryDirectory() as temporary:
        described = Path(temporary) / "policy.yaml"
        described.write_text(json.dumps(policy(folder)))
        called = [sys.executable, "-m", "medveil", "anonymize", described, "--out", Path(temporary) / "out"]
        subprocess.run(called, check=True, capture_output=True)


def adult_frame(folder: Path) -> pd.DataFrame:
    parse = pa.csv.ParseOptions(delimiter=";")
    options = pa.csv.ConvertOptions(column_types=dict.fromkeys(QUASI, pa.string()), include_columns=QUASI)
    return pa.csv.read_csv(folder / "adult.csv.gz", parse_options=parse, convert_options=options).to_pandas()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    folder = parser.parse_args().data / "adult" / "arx"
    theirs, _, their_loss = peer(folder, RUNS)
    their_process = statistics.median(peer(folder, 0)[1] for _ in range(RUNS))
    frame, described = adult_frame(folder), policy(folder)
    ours = median_of(RUNS, lambda: medveil.anonymize(frame, described))
    our_loss = loss_of(folder, medveil.anonymize(frame, described).to_arrow())
    process = median_of(RUNS, lambda: command(folder))
    case = "Adult, six quasi-identifiers, k = 5, 5 % suppression"
    print(f"{case}: loss {our_loss:.4f}, of {RELEASE} {their_loss:.4f}")
    print("medveil proves its release from what it wrote and measures it in each of these times; anjana does not.")
    table.line(case, "frame to frame, in a running process", ours, theirs, RELEASE)
    table.line(case, "file to file, the whole process", process, their_process, RELEASE)


if __name__ == "__main__":
    main()
