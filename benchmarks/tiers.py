"""The same release by cells in memory and by an engine that counts the classes of each node, with k in people.

    python benchmarks/tiers.py [--rows 5000000] [--suppression 0,0.02] [--k 5] [--l 2]

Each run is a whole one, file to verified release, in a process of its own. Both releases must be the same to the byte,
and the engine must not be asked about more nodes than the search in memory checks, plus a tenth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from stages import StageTimes

POLICY = """\
data: patients.parquet
attributes:
  patient_id: {{role: subject}}
  age: {{role: quasi, hierarchy: {{type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}}}
  sex: {{role: quasi}}
  region: {{role: quasi}}
  length_of_stay: {{role: quasi, hierarchy: {{type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}}}
  surgery: {{role: quasi}}
  disease: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: {k}}}
  - {{model: l-diversity, variant: distinct, l: {l}}}
method: {{name: optimal, suppression: {suppression}}}
engine: {{type: duckdb, cells_at_most: {most}}}
output: {{format: parquet, report: false}}
evaluation: {{advice: false}}
"""
TIERS = {"cells in memory": 10**12, "asked of the engine": 1}
MORE = 1.1


def inner(policy: Path, out: Path) -> None:
    """The run itself: what was released, the time of each stage, and peak memory, as JSON."""
    from medveil.app.anonymize import anonymize  # noqa: PLC0415

    stages = StageTimes("load", lambda stage: stage.value)
    manifest = anonymize(policy, out=out, progress=stages).manifest
    stages.end()
    searched = json.loads((out / "internal" / "search.json").read_text())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "same": {
            "files": dict(manifest.files),
            "rows": dict(manifest.rows),
            "loss": manifest.method["loss"],
            "levels": {a["name"]: a["level"] for a in manifest.attributes},
            "optimal": manifest.method["optimal"],
        },
        "checks": searched["checks"],
        "nodes": searched["nodes"],
        "stages": stages.seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024 / 1e6,
    }
    print(json.dumps(told))


def measure(folder: Path, most: int, k: int, values: int, suppression: str) -> dict[str, Any]:
    (folder / "policy.yaml").write_text(POLICY.format(k=k, l=values, suppression=suppression, most=most))
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, __file__, "--inner", str(folder / "policy.yaml"), str(Path(out) / "release")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--suppression", default="0,0.02", help="shares of records, with commas between them")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--l", type=int, default=2)
    parser.add_argument("--inner", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        inner(*given.inner)
        return
    import pyarrow.parquet  # noqa: PLC0415

    from medveil.datasets import patients  # noqa: PLC0415

    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pyarrow.parquet.write_table(patients(given.rows, 1, patient_id=True), folder / "patients.parquet")
        for suppression in given.suppression.split(","):
            found = {name: measure(folder, most, given.k, given.l, suppression) for name, most in TIERS.items()}
            print(f"{given.rows:,} records, k = {given.k} people, l = {given.l}, suppression {suppression}")
            for name, told in found.items():
                stages = ", ".join(f"{stage} {took:.1f}" for stage, took in told["stages"].items() if took >= 0.1)
                print(
                    f"  {name:20} {told['checks']:4} of {told['nodes']:,} nodes, {told['processor']:.0f} processor s, "
                    f"peak {told['peak']:,.0f} MB; seconds: {stages}"
                )
            here, there = found.values()
            same, few = here["same"] == there["same"], there["checks"] <= here["checks"] * MORE
            failed |= not (same and few)
            print(f"  {'the same release' if same else 'THE RELEASES DIFFER'}: {json.dumps(here['same'])}")
            print(f"  nodes asked about: {there['checks'] / here['checks']:.2f} of those checked in memory")
    sys.exit(failed)


if __name__ == "__main__":
    main()
