"""How long `medveil --version` takes, and what compilation costs the first run of each method.

python benchmarks/start_up.py [--methods ipa,mondrian]

Each method anonymizes the same generated patients, first with an empty folder of compiled kernels, then again with
the folder that the first run left. Seconds are of processor time, which other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow.csv

from medveil.datasets import patients

MOST_LOST = 3.0
"""Seconds that a first run may lose to compilation."""

SUBJECT = "  patient_id: {role: subject}\n"

ATTRIBUTES = """\
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi, domain: [F, M]}
  surgery: {role: quasi, domain: ["no", "yes"]}
  region: {role: identifier}
  length_of_stay: {role: identifier}
"""

DISEASE = "  disease: {role: sensitive}\n"

K = "privacy: [{model: k-anonymity, k: 5}]\n"
K_AND_L = "privacy: [{model: k-anonymity, k: 5}, {model: l-diversity, l: 2}]\n"
K_AND_T = "privacy: [{model: k-anonymity, k: 5}, {model: t-closeness, t: 0.9}]\n"
PRIVATE = "privacy: [{model: differential-privacy, epsilon: 1.0, budget: 1000}]\n"

POLICIES = {
    "optimal": (SUBJECT, K_AND_L, "{name: optimal, suppression: 0.02}"),
    "optimal, t-closeness": ("  patient_id: {role: identifier}\n", K_AND_T, "{name: optimal, suppression: 0.2}"),
    "mondrian": (SUBJECT, K_AND_L, "mondrian"),
    "h-ceiling": (SUBJECT, K, "{name: h-ceiling, h: 0.5, max_counterfeits: 0.5}"),
    "fixed-interval": (SUBJECT, K_AND_L, "{name: fixed-interval, width: {age: 5}, outliers: iqr}"),
    "iack": ("  patient_id: {role: identifier}\n", K, "iack"),
    "iab": ("  patient_id: {role: identifier}\n", K, "iab"),
    "diversity-aware": ("  patient_id: {role: identifier}\n", K, "diversity-aware"),
    "ipa": ("  patient_id: {role: identifier}\n", PRIVATE, "ipa"),
    "dp-histogram": ("  patient_id: {role: identifier}\n", PRIVATE, "dp-histogram"),
}


def seconds(command: Sequence[str | Path], **environment: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def policy(name: str, folder: Path) -> Path:
    subject, privacy, method = POLICIES[name]
    disease = DISEASE
    if privacy == PRIVATE:
        disease = f"  disease: {{role: sensitive, domain: {{path: {folder / 'diseases.csv'}}}}}\n"
    path = folder / f"{name}.yaml"
    path.write_text(f"data: patients.csv\nattributes:\n{subject}{ATTRIBUTES}{disease}{privacy}method: {method}\n")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=";".join(POLICIES), help="separated by semicolons")
    given = parser.parse_args(arguments)
    version = min(seconds([sys.executable, "-m", "medveil", "--version"]) for _ in range(3))
    print(f"medveil --version                {version:6.2f} s")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        table = patients(2000, 1, patient_id=True)
        pyarrow.csv.write_csv(table, folder / "patients.csv")
        (folder / "diseases.csv").write_text("\n".join(sorted({str(code) for code in table["disease"].to_pylist()})))
        for name in given.methods.split(";"):
            command = [sys.executable, "-m", "medveil", "anonymize", policy(name, folder), "--out"]
            kernels = str(folder / f"kernels of {name}")
            # What is spent of a budget here is not to be remembered among the user's own ledgers.
            apart = {"NUMBA_CACHE_DIR": kernels, "MEDVEIL_STATE": str(folder / "state")}
            runs = [seconds([*command, folder / f"{name} {i}"], **apart) for i in range(3)]
            lost = runs[0] - min(runs[1:])
            verdict = "" if lost <= MOST_LOST else f"   more than {MOST_LOST:g} s"
            print(
                f"{name:25} first {runs[0]:6.2f} s  later {min(runs[1:]):6.2f} s  lost {lost:6.2f} s{verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
