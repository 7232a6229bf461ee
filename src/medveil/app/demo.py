"""The tour on generated patients: what their columns leak, every method of the papers, and all of them compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.csv

from medveil.app.compare import ComparedRun, Trial, run_trials, write_comparison
from medveil.app.leakage import leakage
from medveil.datasets import patients
from medveil.datasets.diseases import diseases
from medveil.errors import UnreachableError
from medveil.methods import methods
from medveil.policy_file import read_policy_file
from medveil.release.directory import staged
from medveil.release.manifest import read_manifest
from medveil.release.release import Release
from medveil.risk.leakage import Leakage
from medveil.run import Run, Stage

AREAS = {
    "capital area": ("Gyeonggi", "Incheon", "Seoul"),
    "centre": ("Daejeon", "Gangwon", "North Chungcheong", "South Chungcheong"),
    "south-east": ("Busan", "Daegu", "North Gyeongsang", "South Gyeongsang", "Ulsan"),
    "south-west": ("Gwangju", "Jeju", "North Jeolla", "South Jeolla"),
}
TREE = "\n".join(f"      - {name}: [{', '.join(regions)}]" for name, regions in AREAS.items())
DISEASES = "diseases.csv"
COLUMNS = f"""\
data: ../patients.csv
attributes:
  patient_id:     {{role: subject}}
  age:            {{role: quasi, hierarchy: {{type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}}}
  sex:            {{role: quasi, domain: [F, M]}}
  region:
    role: quasi
    hierarchy:
      type: taxonomy
      tree:
{TREE}
  length_of_stay: {{role: quasi, hierarchy: {{type: intervals, domain: [1, 400], cuts: [[8, 15, 31, 61], [31]]}}}}
  disease:        {{role: sensitive, domain: {{path: {DISEASES}}}}}
"""
"""The columns are the same to every method: domains are declared, and hierarchies have a few steps each."""

PROTECTION = """\
privacy:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, variant: distinct, l: 3, attribute: disease}
"""

PRIVATE = """\
privacy:
  - {model: differential-privacy, epsilon: 1.0}
"""


@dataclass(frozen=True)
class TourRun:
    """One run of the tour: a method with its parameters under the same models, and what the method is for."""

    method: str
    purpose: str
    parameters: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)
    privacy: str = PROTECTION

    @property
    def folder(self) -> str:
        return "-".join([self.method, *(f"{key}-{value:g}" for key, value in self.setting.items())])

    @property
    def policy(self) -> str:
        given = [f"{key}: {value}" for key, value in self.setting.items()]
        method = ", ".join([f"name: {self.method}", *([self.parameters] if self.parameters else []), *given])
        return f"{COLUMNS}{self.privacy}method: {{{method}}}\nevaluation: {{attacks: true}}\n"


TOUR = (
    TourRun("optimal", "one level a column, with the least loss that there can be", setting={"suppression": 0.02}),
    TourRun("optimal", "the same with nobody left out", setting={"suppression": 0}),
    TourRun("h-ceiling", "detail for all: small classes are filled with counterfeits, which a catalog counts"),
    TourRun("ipa", "a guarantee against everybody: noise, and rare combinations hidden", privacy=PRIVATE),
    TourRun("fixed-interval", "numbers stay numbers, each the mean of an interval"),
    TourRun("iab", "as many distinct rows as can be kept, with nobody left out", "time_limit: 10"),
    TourRun(
        "diversity-aware",
        "clusters of near people, published as means for learning from",
        "sensitive_value: J00, rounds: 2, starts: 1",
    ),
)
"""A well-known method with and without suppression, then those of the papers, on the same columns and models. The first
is shown in full.
"""


@dataclass(frozen=True)
class Tour:
    """What was shown: the release of the first method, what its columns leaked before, and all methods compared."""

    release: Release
    leakage: Leakage
    outcomes: Sequence[ComparedRun]

    def to_dict(self) -> dict[str, Any]:
        return {
            "manifest": self.release.manifest,
            "leakage": self.leakage.to_list(),
            "purposes": self.purposes,
            "comparison": self.outcomes,
        }

    @property
    def purposes(self) -> dict[str, str]:
        """What each method that was shown is for."""
        shown = {outcome.name for outcome in self.outcomes}
        return {one.method: one.purpose for one in TOUR if one.method in shown and one.setting.get("suppression") != 0}


def demo(rows: int, out: str | Path, *, run: Run | None = None) -> Tour:
    """Generated patients, a policy for each method, the releases made from them, and a comparison, in one directory."""
    run, out = run or Run(), Path(out)
    with staged(out) as folder, run.stoppable():
        run.step(Stage.GENERATE)
        pyarrow.csv.write_csv(patients(rows, seed=1, patient_id=True), folder / "patients.csv")
        policies = folder / "policies"
        policies.mkdir()
        (folder / "releases").mkdir()
        (policies / DISEASES).write_text("\n".join(diseases().codes) + "\n", encoding="utf-8")
        tour = [shown for shown in TOUR if shown.method in methods()]
        for shown in tour:
            (policies / f"{shown.folder}.yaml").write_text(shown.policy, encoding="utf-8")
        leaked = leakage(policies / f"{tour[0].folder}.yaml", up_to=2, top=3, run=run)
        (folder / "leakage.json").write_text(json.dumps(leaked.to_list(), indent=2) + "\n", encoding="utf-8")
        trials = [Trial(s.method, _read(policies / f"{s.folder}.yaml"), s.setting, s.folder) for s in tour]
        outcomes = run_trials(
            trials, folder / "releases", owned=folder, base=policies, seconds=180.0, run=run, keep=True
        )
        if outcomes[0].reason is not None:
            raise UnreachableError(f"The first method made no release: {outcomes[0].reason}", "Generate more rows.")
        run.step(Stage.COMPARE)
        write_comparison(outcomes, folder, private=False, run=run)
        (folder / "releases" / tour[0].folder).rename(folder / "release")
        manifest = read_manifest(folder / "release")
    return Tour(Release(out / "release", manifest), leaked, outcomes)


def _read(path: Path) -> Mapping[str, Any]:
    content, _ = read_policy_file(path)
    return content
