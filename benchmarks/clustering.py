"""Equal clusters against k-means-constrained: the same points, sizes and starting centers, in one run; then by size.

    python benchmarks/clustering.py [--data FOLDER] [--records 5000 100000 1000000]

The points are measurements of NHANES (age, weight, height, body mass, pulse, blood pressure), standardized. Both begin
at the same records as centers, k = 10, and are judged alike: the Manhattan distances of all records to the medians of
their clusters. k-means-constrained minimizes squared distances to means. It needs versions of its own, so it runs in a
virtual environment of its own beside this one.

`--records`: the method from points to clusters, with a cap on a sensitive value that goes with the first column, on
generated points; how far from the optimum for its centers it is, proved or measured; seconds and memory. `--diseases`:
on generated patients, with caps on all of their disease codes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import table
from medveil.datasets import patients
from medveil.datasets.loaders import load
from medveil.methods.diversity_aware.assigning import Solvers
from medveil.methods.diversity_aware.caps import even_caps, halve, make_caps
from medveil.methods.diversity_aware.points import Points, cost, make_points, medians
from medveil.methods.diversity_aware.rounds import Effort, alternate, cluster_points
from medveil.run import Run
from peers import python_with

COLUMNS = ("Age", "Weight", "Height", "BMI", "Pulse", "BPSysAve", "BPDiaAve")
K = 10
RELEASE = "k-means-constrained==0.9.1"
PEER = """
import sys, time, warnings
import numpy as np
from k_means_constrained import KMeansConstrained
warnings.simplefilter("ignore")
points, centers, out, k = *(np.load(path) for path in sys.argv[1:3]), sys.argv[3], int(sys.argv[4])
model = KMeansConstrained(len(centers), size_min=k, size_max=k, init=centers, n_init=1, n_jobs=1)
started = time.perf_counter()
model.fit(points)
print(time.perf_counter() - started, model.n_iter_)
np.save(out, model.labels_.astype(np.int32))
"""


def nhanes(folder: Path, records: int) -> NDArray[np.float64]:
    """So many complete records, every column of variance 1."""
    table = load("nhanes", folder)
    columns = [np.array([np.nan if v is None else float(v) for v in table[name].to_pylist()]) for name in COLUMNS]
    numbers = np.array(columns).T
    numbers = numbers[~np.isnan(numbers).any(axis=1)][:records]
    return np.asarray((numbers - numbers.mean(axis=0)) / numbers.std(axis=0))


def peer(points: NDArray[np.float64], centers: NDArray[np.float64]) -> tuple[float, int, NDArray[np.int32]]:
    """Seconds, rounds and clusters of k-means-constrained."""
    python = python_with(RELEASE)
    with tempfile.TemporaryDirectory() as temporary:
        given, begun, out = (Path(temporary) / name for name in ("points.npy", "centers.npy", "labels.npy"))
        np.save(given, points)
        np.save(begun, centers)
        command = [str(part) for part in (python, "-c", PEER, given, begun, out, K)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, number = done.stdout.split()[-2:]
        return float(seconds), int(number), np.load(out)


def against_peer(folder: Path, records: int, starts: int) -> None:
    numbers = nhanes(folder, records)
    points, n = make_points(numbers), len(numbers)
    caps = even_caps(n, K)
    values = np.zeros(n, dtype=np.int32)

    def judged(cluster: NDArray[np.int32]) -> float:
        return cost(points, medians(points, cluster, caps.clusters), cluster)

    print(f"{n:,} records of NHANES, {len(COLUMNS)} columns, clusters of {K}, the same starting centers")
    with Solvers() as solvers:
        start = halve(points, values, caps, Run())
        alternate(points, values, caps, medians(points, start, caps.clusters), start, 1, solvers, Run())  # kernels
        for seed in range(1, starts + 1):
            centers = numbers[np.random.default_rng(seed).choice(n, caps.clusters, replace=False)]
            seconds, rounds, labels = peer(numbers, centers)
            began = time.perf_counter()
            found = alternate(points, values, caps, make_points(centers), start, 300, solvers, Run())
            ours = time.perf_counter() - began
            print(f"  k-means-constrained {seconds:8.2f} s  {rounds:3} rounds  Manhattan cost {judged(labels):12.3f}")
            print(
                f"  medveil             {ours:8.2f} s  {len(found.costs) // 2:3} rounds  Manhattan cost "
                f"{judged(found.cluster):12.3f}  {seconds / ours:5.1f} x faster",
                flush=True,
            )
            case = f"clusters of {K}, {n:,} records of NHANES, start {seed}"
            table.line(case, "points to clusters, one thread", ours, seconds, RELEASE)


def generated(records: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points in thirty groups, with a sensitive value that goes with the first column."""
    chance = np.random.default_rng(0)
    groups = chance.normal(size=(30, 6)) * 2
    numbers = groups[chance.integers(30, size=records)] + chance.normal(size=(records, 6))
    return numbers, (numbers[:, 0] + chance.normal(size=records) > 0.8).astype(np.int32)


def diseased(records: int) -> tuple[Points, NDArray[np.int32]]:
    """Generated patients by age, sex, length of stay, region and surgery, with their disease codes."""
    table = patients(records, seed=1)
    codes = {name: np.unique(table[name].to_pylist(), return_inverse=True)[1] for name in table.column_names}
    numbers = np.array([table[name].to_numpy() for name in ("age", "length_of_stay")], dtype=np.float64).T
    categories = np.array([codes[name] for name in ("sex", "region", "surgery")]).T.astype(np.int32)
    differ = [1.0 - np.square(np.bincount(column) / records).sum() for column in categories.T]
    standardized = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    return make_points(standardized, categories, np.sqrt(2.0 / np.array(differ))), codes["disease"].astype(np.int32)


def by_size(records: int, *, diseases: bool) -> None:
    if diseases:
        points, values = diseased(records)
    else:
        numbers, values = generated(records)
        points = make_points(numbers)
    counts = np.bincount(values).tolist()
    caps = make_caps(counts, K, None, capped=[True] * len(counts))
    began = time.perf_counter()
    with Solvers() as solvers:
        found = cluster_points(points, values, caps, Effort(starts=1), solvers, Run(np.random.default_rng(1)))
    seconds = time.perf_counter() - began
    memory = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 2**20
    if found.bound is not None:
        gap = f"cost {found.cost:.3f}, bound {found.bound:.3f}: within {(found.cost - found.bound) / found.cost:.1e}"
    else:
        gap = f"cost {found.cost:.3f}, measured gap {found.measured_gap:.2%}"
    print(f"  {records:>9,} records {seconds:8.1f} s {memory:5.2f} GB  {gap}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--records", type=int, nargs="*", default=[5_000, 100_000])
    parser.add_argument("--starts", type=int, default=2, help="Starting centers to compare from.")
    parser.add_argument("--only-sizes", action="store_true", help="Leave k-means-constrained out.")
    parser.add_argument("--diseases", action="store_true", help="Patients with hundreds of capped disease codes.")
    given = parser.parse_args()
    if not given.only_sizes:
        against_peer(given.data, 5_000, given.starts)
    what = "all disease codes, generated patients in 5" if given.diseases else "both values, generated points in 6"
    print(f"Clusters of {K} under caps on {what} columns")
    for records in given.records:
        by_size(records, diseases=given.diseases)


if __name__ == "__main__":
    main()
