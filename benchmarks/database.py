"""The same release from a PostgreSQL database and from a Parquet file: seconds of each, and how many times as long.

python benchmarks/database.py postgresql://user@host/database [--records 1000000] [--repeat 3]

A table `medveil_benchmark` is made in that database and dropped again. The server's own processor time is not counted,
since nobody can tell it here; the time on the clock has it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TABLE = "medveil_benchmark"
GOAL = 2.0
POLICY = """\
data: {data}
attributes:
  age: {{role: quasi, hierarchy: {{type: intervals, widths: [5, 10, 20], domain: [0, 119]}}}}
  sex: {{role: quasi}}
  region: {{role: quasi}}
  disease: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: 5}}
output: {{report: false}}
"""
COLUMNS = ("age", "sex", "region", "disease")
SCHEMA = pa.schema([("age", pa.int16()), *((name, pa.string()) for name in COLUMNS[1:])])


def measured(policy: Path, out: Path) -> tuple[float, float]:
    """Seconds on the clock and of the processor, of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [sys.executable, "-m", "medveil", "anonymize", str(policy), "--out", str(out)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    from adbc_driver_postgresql import dbapi  # noqa: PLC0415

    from medveil.datasets import patients  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    os.environ["MEDVEIL_CONNECTION_BENCHMARK"] = given.address
    table = patients(given.records, seed=1).select(list(COLUMNS)).cast(SCHEMA)
    with tempfile.TemporaryDirectory() as temporary, dbapi.connect(given.address) as opened, opened.cursor() as cursor:
        folder = Path(temporary)
        pq.write_table(table, folder / "records.parquet")
        cursor.adbc_ingest(TABLE, table, mode="replace")
        opened.commit()
        query = f"select {', '.join(COLUMNS)} from {TABLE}"
        database = {"type": "sql", "connection": "benchmark", "query": query}
        for name, data in (("parquet", "records.parquet"), ("postgresql", database)):
            (folder / f"{name}.yaml").write_text(POLICY.format(data=json.dumps(data)))
        try:
            took: dict[str, list[tuple[float, float]]] = {"parquet": [], "postgresql": []}
            for turn in range(given.repeat):
                for name, found in took.items():
                    found.append(measured(folder / f"{name}.yaml", folder / f"{name}_{turn}"))
        finally:
            cursor.execute(f"drop table {TABLE}")
            opened.commit()
    medians = {name: [statistics.median(one) for one in zip(*found, strict=True)] for name, found in took.items()}
    print(f"{given.records:,} records to a verified release, the median of {given.repeat} in turns")
    for name, (seconds, processor) in medians.items():
        print(f"  {name:12}{seconds:7.2f} s on the clock  {processor:7.2f} processor s")
    times = medians["postgresql"][0] / medians["parquet"][0]
    print(f"  PostgreSQL takes {times:.2f} x the time of Parquet on the clock (goal: at most {GOAL:.0f} x)")


if __name__ == "__main__":
    main()
