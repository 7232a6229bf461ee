"""The tour on generated patients: what their columns leak, every method of the papers, and all of them compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv

from medveil.app.compare import ComparedRun, Trial, run_trials, write_comparison
from medveil.app.leakage import leakage
from medveil.datasets import patients
from medveil.datasets.calibration import REGIONS
from medveil.errors import UnreachableError
from medveil.methods import methods
from medveil.policy_file import read_policy_file
from medveil.release.directory import staged
from medveil.release.manifest import read_manifest
from medveil.release.release import Release
from medveil.risk.leakage import Leakage
from medveil.run import Run, Stage

COLUMNS = f"""\
data: ../patients.csv
attributes:
  patient_id:     {{role: subject}}
  age:            {{role: quasi, hierarchy: {{type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}}}
  sex:            {{role: quasi, domain: [F, M]}}
  region:         {{role: quasi, domain: [{", ".join(name for name, _, _ in REGIONS)}]}}
  length_of_stay: {{role: quasi, hierarchy: {{type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}}}
  disease:        {{role: sensitive}}
"""

PROTECTION = """\
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, variant: distinct, l: 3, attribute: disease}
"""

K_ALONE = """\
privacy:
  - {model: k-anonymity, k: 5}
"""

PRIVATE = """\
privacy:
  - {model: differential-privacy, epsilon: 1.0, delta: 1.0e-6, max_records_per_subject: 2}
"""

MAIN = "optimal"
POLICIES: Mapping[str, tuple[str, str]] = {
    MAIN: (PROTECTION, "{name: optimal, suppression: 0.02}"),
    "h-ceiling": (PROTECTION, "{name: h-ceiling, max_counterfeits: 0.1}"),
    "ipa": (PRIVATE, "{name: ipa}"),
    "fixed-interval": (K_ALONE, "{name: fixed-interval}"),
    "iab": (PROTECTION, "{name: iab, time_limit: 10}"),
    "diversity-aware": (K_ALONE, "{name: diversity-aware, sensitive_value: J00, rounds: 2}"),
}
"""What each method is asked for: the first is a well-known one, the others are those of the papers."""


@dataclass(frozen=True)
class Tour:
    """What was shown: the release of the first method, what its columns leaked before, and all methods compared."""

    release: Release
    leakage: Leakage
    outcomes: Sequence[ComparedRun]

    def to_dict(self) -> dict[str, Any]:
        return {"manifest": self.release.manifest, "leakage": self.leakage.to_list(), "comparison": self.outcomes}


def demo(rows: int, out: str | Path, *, run: Run | None = None) -> Tour:
    """Generated patients, a policy for each method, the releases made from them, and a comparison, in one directory."""
    run, out = run or Run(), Path(out)
    with staged(out) as folder, run.stoppable():
        run.step(Stage.GENERATE)
        pyarrow.csv.write_csv(patients(rows, seed=1, patient_id=True), folder / "patients.csv")
        (folder / "policies").mkdir()
        (folder / "releases").mkdir()
        names = [name for name in POLICIES if name in methods()]
        for name in names:
            (folder / "policies" / f"{name}.yaml").write_text(_policy(name), encoding="utf-8")
        leaked = leakage(folder / "policies" / f"{MAIN}.yaml", up_to=2, top=3, run=run)
        (folder / "leakage.json").write_text(json.dumps(leaked.to_list(), indent=2) + "\n", encoding="utf-8")
        trials = [Trial(name, _read(folder / "policies" / f"{name}.yaml")) for name in names]
        outcomes = run_trials(
            trials, folder / "releases", owned=folder, base=folder / "policies", seconds=120.0, run=run, keep=True
        )
        if outcomes[0].reason is not None:
            raise UnreachableError(f"The first method made no release: {outcomes[0].reason}", "Take more rows.")
        run.step(Stage.COMPARE)
        write_comparison(outcomes, folder, private=False, run=run)
        (folder / "releases" / MAIN).rename(folder / "release")
        manifest = read_manifest(folder / "release")
    return Tour(Release(out / "release", manifest), leaked, outcomes)


def _policy(name: str) -> str:
    privacy, method = POLICIES[name]
    return f"{COLUMNS}{privacy}method: {method}\nevaluation: {{attacks: true}}\n"


def _read(path: Path) -> Mapping[str, Any]:
    content, _ = read_policy_file(path)
    return content
