"""A release on Spark beside the same release of DuckDB: time of each stage, memory of the driver, and whether both are
equal to the row. A standalone cluster with two workers is started from the pip package; data are Parquet parts.

python benchmarks/spark.py [--rows 1000000] [--repeat-rows 4] [--remote local[2]]

--repeat-rows N: once more with every record N times, which leaves the cells as they are: how time and memory grow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from spark_cluster import StandaloneCluster
from stages import StageTimes

PART = 1_000_000
POLICY: dict[str, Any] = {
    "data": "patients",
    "attributes": {
        "age": {
            "role": "quasi",
            "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20, 40]},
        },
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "length_of_stay": {
            "role": "quasi",
            "hierarchy": {"type": "intervals", "domain": [1, 400], "cuts": [[8, 15, 31, 61], [31]]},
        },
        "disease": {"role": "sensitive"},
        "surgery": {"role": "plain"},
    },
    "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
    "method": {"name": "optimal", "suppression": 0.02},
    "evaluation": {"advice": False},
    "output": {"report": False},
}


def inner(policy: Path, out: Path) -> None:
    """The run itself, in a process of its own: stages, peak memory and what came out, as JSON."""
    from medveil.app.anonymize import anonymize  # noqa: PLC0415

    stages = StageTimes("loading", lambda stage: stage.value)
    release = anonymize(policy, out=out, progress=stages)
    stages.end()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {
        "stages": stages.seconds,
        "peak": peak,
        "java": java_peak(),
        "rows": release.manifest.rows,
        "sha256": content_hash(out),
    }
    print(json.dumps(told))


def java_peak() -> float:
    """The most memory, in MB, that the Java beside this process held; 0 where there is none."""
    if "pyspark" not in sys.modules:
        return 0.0
    from pyspark import SparkContext  # noqa: PLC0415

    gateway = SparkContext._gateway  # noqa: SLF001
    if gateway is None:
        return 0.0
    lines = Path(f"/proc/{gateway.proc.pid}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def content_hash(out: Path) -> str:
    """Of all published rows in their order, without headers."""
    manifest = json.loads((out / "manifest.json").read_text())
    together = hashlib.sha256()
    for name in manifest.get("parts") or [manifest["release"]]:
        with (out / name).open("rb") as stream:
            stream.readline()
            for block in iter(lambda: stream.read(1 << 20), b""):
                together.update(block)
    return together.hexdigest()


def measured(folder: Path, name: str, engine: dict[str, Any]) -> dict[str, Any]:
    """One release in a process of its own; prints and returns what it told."""
    (folder / f"{name}.json").write_text(json.dumps({**POLICY, **engine}))
    command = [sys.executable, __file__, "--inner", str(folder / f"{name}.json"), str(folder / name)]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: the run failed")
    told: dict[str, Any] = {**json.loads(done.stdout.splitlines()[-1]), "seconds": time.perf_counter() - began}
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in told["stages"].items() if seconds >= 0.1)
    memory = f"{told['peak']:.0f} MB" + (f" and {told['java']:.0f} MB of Java" if told["java"] else "")
    print(f"  {name:8}{told['seconds']:8.1f} s  {memory}  ({stages})", flush=True)
    return told


def compared(folder: Path, rows: int, times: int, engine: dict[str, Any]) -> dict[str, Any]:
    """DuckDB and Spark on the same parts."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    from medveil.datasets import patients  # noqa: PLC0415

    (folder / "patients").mkdir(parents=True)
    for number, start in enumerate(range(0, rows, PART)):
        table = patients(min(PART, rows - start), seed=number)
        for again in range(times):
            pq.write_table(table, folder / "patients" / f"{again}-{number:04}.parquet")
    print(f"{rows * times:,} records in {-(-rows // PART) * times} Parquet parts", flush=True)
    here, there = measured(folder, "duckdb", {}), measured(folder, "spark", {"engine": engine})
    same = here["sha256"] == there["sha256"] and here["rows"] == there["rows"]
    print(f"  releases equal to the row: {'yes' if same else 'NO'}; {here['rows']}")
    print(f"  Spark takes {there['seconds'] / here['seconds']:.2f} x the time of DuckDB")
    if not same:
        sys.exit(1)
    return there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat-rows", type=int, default=0)
    parser.add_argument("--remote", help="a Spark that is there, instead of a cluster that is started")
    parser.add_argument("--inner", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        inner(*given.inner)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        started = StandaloneCluster(folder, memory="2g") if given.remote is None else nullcontext()
        with started as cluster:
            engine: dict[str, Any] = {"type": "spark", "remote": given.remote}
            if cluster is not None:
                settings = {**cluster.settings, "spark.executor.memory": "1536m", "spark.sql.shuffle.partitions": "8"}
                engine = {"type": "spark", "remote": cluster.address, "settings": settings}
            one = compared(folder / "one", given.rows, 1, engine)
            if given.repeat_rows > 1:
                more = compared(folder / "more", given.rows, given.repeat_rows, engine)
                memory = [told["peak"] + told["java"] for told in (one, more)]
                print(
                    f"{given.repeat_rows} x the records: {more['seconds'] / one['seconds']:.2f} x the time and "
                    f"{memory[1] / memory[0]:.2f} x the memory of the driver on Spark"
                )


if __name__ == "__main__":
    main()
