"""The main job on generated patients, for a first look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.csv

from medveil.datasets import patients
from medveil.release.directory import staged
from medveil.release.release import Release
from medveil.workflow import anonymize

POLICY = """\
# What each column is, what privacy must hold, and by which method.
data: patients.csv
attributes:
  patient_id:     {role: subject}
  age:            {role: quasi, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex:            {role: quasi}
  region:         {role: quasi}
  length_of_stay: {role: quasi, hierarchy: {type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}
  surgery:        {role: plain}
  disease:        {role: sensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, variant: distinct, l: 3, attribute: disease}
method: {name: optimal, suppression: 0.02}
"""


def demonstrate(rows: int, out: Path, progress: Callable[[str, float | None], None]) -> Release:
    """Generated patients, a policy and the release made from both, in one directory."""
    with staged(out) as folder:
        progress("Generating patients", None)
        pyarrow.csv.write_csv(patients(rows, seed=1, patient_id=True), folder / "patients.csv")
        (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
        release = anonymize(folder / "policy.yaml", out=folder / "release", progress=progress)
    return Release(out / "release", release.manifest)
