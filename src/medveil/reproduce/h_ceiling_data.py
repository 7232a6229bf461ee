"""The data sets of the h-ceiling paper, one of people with several records, and releases of all three."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from medveil.app.anonymize import anonymize
from medveil.app.preparation import opened
from medveil.datasets import load, patients
from medveil.evaluation.comparison import Comparison, Score
from medveil.methods.h_ceiling import HCeiling
from medveil.methods.method import Method
from medveil.methods.optimal import Optimal
from medveil.methods.problem import Problem
from medveil.policy import load_policy
from medveil.run import Run
from medveil.utility.loss_metric import LossMetric
from medveil.utility.query_error import QueryError
from medveil.utility.rce import ReconstructionError
from medveil.workspace import Workspace

ADULT_QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
JOINS = {"workclass": "Non-Government", "native-country": "North America"}
"""With which group the missing value goes: the most frequent one, whose label then says so."""

REGIONS = {
    "North": {"Capital area": ["Seoul", "Incheon", "Gyeonggi"], "East area": ["Gangwon"]},
    "Middle": {"Chungcheong area": ["Daejeon", "North Chungcheong", "South Chungcheong"]},
    "South": {
        "Jeolla area": ["Gwangju", "North Jeolla", "South Jeolla", "Jeju"],
        "Gyeongsang area": ["Busan", "Daegu", "Ulsan", "North Gyeongsang", "South Gyeongsang"],
    },
}
STAYS: Mapping[str, Mapping[str, Any]] = {
    "stays of 10 and 100 days": {"widths": [10, 100]},
    "stays in bands: a day, three, a week, two, a month": {"cuts": [[2, 4, 8, 15, 31], [15]]},
}
"""Two hierarchies of four levels: the paper does not print its own."""
PATIENTS: Mapping[str, Any] = {
    "age": {
        "role": "quasi",
        "type": "number",
        "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 20]},
    },
    "sex": {"role": "quasi"},
    "length_of_stay": {"role": "quasi"},
    "region": {"role": "quasi", "hierarchy": {"type": "taxonomy", "tree": REGIONS}},
    "surgery": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}


AGES = {
    "below 40": {"below 20": ["[0-10)", "[10-20)"], "20 to 39": ["[20-30)", "[30-40)"]},
    "40 to 69": {"40 to 59": ["[40-50)", "[50-60)"], "60 to 69": ["[60-70)"]},
    "70 and above": {"70 to 89": ["[70-80)", "[80-90)"], "90 and above": ["[90-100)"]},
}
DIABETES: Mapping[str, Any] = {
    "patient_nbr": {"role": "subject"},
    "race": {"role": "quasi"},
    "gender": {"role": "quasi"},
    "age": {"role": "quasi", "hierarchy": {"type": "taxonomy", "tree": AGES}},
    "admission_type_id": {"role": "quasi", "type": "category"},
    "time_in_hospital": {
        "role": "quasi",
        "type": "number",
        "hierarchy": {"type": "intervals", "domain": [1, 14], "widths": [2, 4, 8]},
    },
    "diag_1": {"role": "sensitive"},
    "readmitted": {"role": "plain"},
}
"""Diabetes-130: 101,766 stays of 71,518 patients, of whom a fifth have several."""


@dataclass(frozen=True)
class MadeRelease:
    """A release that was made for comparison: LM and RCE, the counterfeits, and what recipients see."""

    comparison: Comparison
    lm: float
    rce: float
    query_error: float
    counterfeits: int
    figures: Mapping[str, Any]


def make(problem: Problem, method: Method, run: Run) -> MadeRelease:
    """Run a method and measure what it would publish."""
    draft = method.anonymize(problem, run)
    published = draft.published.to_arrow()
    comparison = Comparison(problem, published, draft.method, draft.companions)
    loss, error, queries = (m.compute(comparison) for m in (LossMetric(), ReconstructionError(), QueryError()))
    assert isinstance(loss, Score)
    assert isinstance(error, Score)
    assert isinstance(queries, Score)
    return MadeRelease(
        comparison,
        loss.value,
        error.value,
        queries.parts["median"],
        int(draft.rows.get("counterfeit", 0)),
        dict(draft.internal.get("h_ceiling", {})),
    )


def h_ceiling(h: float, cap: float, **options: Any) -> HCeiling:
    """The method as the figures use it: at the default price of a counterfeit."""
    return HCeiling(h=h, max_counterfeits=cap, **options)


def k_anonymity() -> Optimal:
    """k-anonymity alone: the least LM without suppression."""
    return Optimal(suppression=0.0)


@contextmanager
def adult(data: Path, k: int, *, majority: bool = False) -> Iterator[Problem]:
    """Adult, 32,561 rows: seven quasi-identifiers, occupation sensitive, hierarchies extended by the missing value.

    majority: categories go by another taxonomy, which keeps the most frequent value apart from all others.
    """
    table = load("adult", data)
    with tempfile.TemporaryDirectory(prefix="medveil-") as folder:
        content = _adult_policy(data, Path(folder), k)
        if majority:
            for name in ADULT_QUASI[1:]:
                content["attributes"][name] = {"role": "quasi", "hierarchy": _majority(table[name])}
        policy, _ = load_policy(content)
        with opened(policy, Workspace(Path(folder)), table) as (problem, _):
            yield problem


def _majority(column: pa.ChunkedArray) -> dict[str, Any]:
    """The most frequent value, and the others together."""
    counted = Counter(value for value in column.to_pylist() if value is not None)
    first, *others = [value for value, _ in counted.most_common()]
    tree = [first, {"other": others}] if len(others) > 1 else [first, *others]
    return {"type": "taxonomy", "tree": tree, **({"missing": "other"} if column.null_count else {})}


@contextmanager
def diabetes(data: Path, k: int) -> Iterator[Problem]:
    """Diabetes-130: five quasi-identifiers, the first diagnosis sensitive, patients as people."""
    policy, folder = load_policy({"attributes": DIABETES, "privacy": [{"model": "k-anonymity", "k": k}]})
    with opened(policy, folder, load("diabetes130", data)) as (problem, _):
        yield problem


def attacked(data: Path, k: int, method: HCeiling) -> Mapping[str, Any]:
    """What the auditor's attacker finds in a release of Adult, written and proved."""
    with tempfile.TemporaryDirectory(prefix="medveil-") as folder:
        content = _adult_policy(data, Path(folder).resolve(), k)
        parameters = method.model_dump(exclude_unset=True)
        release = anonymize(load("adult", data), {**content, "method": {"name": method.name, **parameters}, "seed": 1})
        claim = next(claim for claim in release.manifest.claims if claim["model"] == "counterfeit-catalog")
        found: Mapping[str, Any] = claim["achieved"]
        return found


def _adult_policy(data: Path, folder: Path, k: int) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name in ADULT_QUASI:
        path = folder / f"{name}.csv"
        _extend(data / "adult" / "arx" / f"adult_hierarchy_{name}.csv", path, JOINS.get(name))
        attributes[name] = {"role": "quasi", "hierarchy": {"type": "file", "path": str(path)}}
    attributes["age"]["type"] = "number"
    attributes["occupation"] = {"role": "sensitive"}
    return {"attributes": attributes, "privacy": [{"model": "k-anonymity", "k": k}]}


def _extend(source: Path, target: Path, group: str | None) -> None:
    """A hierarchy file with a line for the missing value in a group, whose label tells that."""
    text = source.read_text(encoding="utf-8").strip()
    if group is not None:
        joined = f"{group} or unknown"
        text = text.replace(f";{group};", f";{joined};") + f"\n;{joined};*"
    target.write_text(text + "\n", encoding="utf-8")


@contextmanager
def generated(number: int, k: int, stays: Mapping[str, Any]) -> Iterator[tuple[Problem, pa.Table]]:
    """Generated patients with the six attributes and the numbers of levels of the paper: 4, 2, 4, 4 and 2."""
    table = patients(number, seed=1)
    stay = {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "domain": [1, 400], **stays}}
    attributes = {name: stay if name == "length_of_stay" else told for name, told in PATIENTS.items()}
    policy, folder = load_policy({"attributes": attributes, "privacy": [{"model": "k-anonymity", "k": k}]})
    with opened(policy, folder, table) as (problem, _):
        yield problem, table
