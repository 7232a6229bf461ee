"""Differentially private microdata: ipa beside MST, on the same patients and the same epsilon.

    python benchmarks/dp_microdata.py [--rows 50000] [--repeat 3] [--without-mst]

Generated patients with age, sex, length of stay, surgery and one of 832 diseases, epsilon 1. ipa runs on default
settings; its labels and rows of `*` are spread by the marginals that are published with the table, as recipients would.
MST (McKenna, Miklau and Sheldon 2021, Winning the NIST contest) is `dpmm` 0.1.9 from PyPI with delta 1e-6, given every
value of every column as its domain; it runs in an environment of its own, which this script makes in `--environment`.

- pairs: total variation distance between the tables of two columns, mean over the ten pairs; ages in tens, stays in a
  day, to three, a week, two weeks, a month and longer, diseases by the first letter of their code
- by age: for the twenty commonest diseases by ten years of age, sum of absolute errors over sum of true counts
- totals: total variation distance between the numbers of all 832 diseases
- first query: men with stroke and without surgery by five years of age (Lee and Chung 2020, Q1), as `by age`
- seconds: of the method, from the opened table to the published one
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from medveil.app.preparation import opened
from medveil.datasets import patients
from medveil.datasets.diseases import STROKE, diseases
from medveil.engine import Limits
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.spreading import drawn_codes
from medveil.methods.dp.ipa import InformativePreserving
from medveil.policy import load_policy
from medveil.reproduce.ipa_data import attributes
from medveil.run import Run

COLUMNS = ("age", "sex", "length_of_stay", "surgery", "disease")
STAYS = np.array([1, 3, 7, 14, 30])
PACKAGE = "dpmm==0.1.9"
Codes = NDArray[np.int64]
Table = Mapping[str, Codes]

MST = """
import json, sys, time
import numpy as np, pandas as pd
from dpmm.pipelines.mst import MSTPipeline
source, target = sys.argv[1:3]
frame = pd.read_csv(source)
domain = {"age": 100, "sex": 2, "length_of_stay": 400, "surgery": 2, "disease": 832}
begun = time.perf_counter()
model = MSTPipeline(epsilon=1.0, delta=1e-6, disable_processing=True, n_jobs=2)
model.fit(frame, domain=domain)
made = model.generate(n_records=len(frame))
seconds = time.perf_counter() - begun
made[list(domain)].astype("int64").to_csv(target, index=False)
print(json.dumps(seconds))
"""


def as_codes(table: pa.Table) -> dict[str, Codes]:
    """Every column as a number from 0 on."""
    known = {"sex": ("F", "M"), "surgery": ("no", "yes"), "disease": diseases().codes}
    found = {}
    for name in COLUMNS:
        if name in known:
            place = {value: code for code, value in enumerate(known[name])}
            found[name] = np.array([place[value] for value in table[name].to_pylist()], dtype=np.int64)
        else:
            found[name] = table[name].to_numpy().astype(np.int64) - (name == "length_of_stay")
    return found


def measures(original: Table, made: Table) -> dict[str, float]:
    letters = np.unique([code[0] for code in diseases().codes], return_inverse=True)[1]

    def coarse(table: Table) -> list[Codes]:
        stays = np.searchsorted(STAYS, table["length_of_stay"] + 1)
        return [table["age"] // 10, table["sex"], stays, table["surgery"], letters[table["disease"]]]

    sizes = (10, 2, 6, 2, int(letters.max()) + 1)
    before, after = coarse(original), coarse(made)
    pairs = [
        distance(*(table[i] * sizes[j] + table[j] for table in (before, after)), sizes[i] * sizes[j])
        for i, j in itertools.combinations(range(len(sizes)), 2)
    ]
    number = len(diseases().codes)
    common = np.argsort(-np.bincount(original["disease"], minlength=number))[:20]
    by_age = [
        np.bincount(table["disease"] * 10 + table["age"] // 10, minlength=10 * number).reshape(number, 10)[common]
        for table in (original, made)
    ]
    stroke = diseases().codes.index(STROKE)
    query = [
        np.bincount(
            table["age"][(table["disease"] == stroke) & (table["sex"] == 1) & (table["surgery"] == 0)] // 5,
            minlength=20,
        )
        for table in (original, made)
    ]
    return {
        "pairs": float(np.mean(pairs)),
        "by age": relative(*by_age),
        "totals": distance(original["disease"], made["disease"], number),
        "first query": relative(*query),
    }


def distance(first: Codes, second: Codes, size: int) -> float:
    shares = [np.bincount(one, minlength=size) / max(len(one), 1) for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def relative(true: Codes, found: Codes) -> float:
    return float(np.abs(true - found).sum() / max(true.sum(), 1))


def by_ipa(table: pa.Table) -> tuple[dict[str, Codes], float]:
    """The release as recipients would compute with it, and the seconds that it took to make."""
    chosen = {name: about for name, about in attributes().items() if name in COLUMNS}
    privacy = [{"model": "differential-privacy", "epsilon": 1.0}]
    policy, folder = load_policy({"attributes": chosen, "privacy": privacy, "method": "ipa"})
    with opened(policy, folder, table, Run(limits=Limits(threads=2))) as (problem, _):
        begun = time.perf_counter()
        draft = InformativePreserving().anonymize(problem, Run())
        published = draft.published.to_arrow()
        seconds = time.perf_counter() - begun
        comparison = Comparison(problem, published, draft.method, draft.companions)
        random = np.random.default_rng()
        covers = {**comparison.coverage, **comparison.sensitive_coverage}
        made = {name: drawn_codes(cover, cover.codes.astype(np.int64), random) for name, cover in covers.items()}
    return made, seconds


def by_mst(original: Table, python: Path) -> tuple[dict[str, Codes], float]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "original.csv", Path(folder) / "made.csv"
        pa.csv.write_csv(pa.table(dict(original)), source)
        run = subprocess.run(
            [str(python), "-c", MST, str(source), str(target)], check=True, stdout=subprocess.PIPE, text=True
        )
        made = pa.csv.read_csv(target)
    return {name: made[name].to_numpy() for name in COLUMNS}, float(json.loads(run.stdout.splitlines()[-1]))


def environment(folder: Path) -> Path:
    """The interpreter of an environment that has MST and nothing of ours."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    return python


def tell(name: str, found: list[dict[str, float]]) -> None:
    means = {key: np.mean([one[key] for one in found]) for key in found[0]}
    print(f"{name:5s}", "  ".join(f"{key} {value:.3f}" for key, value in means.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--without-mst", action="store_true")
    parser.add_argument("--environment", type=Path, default=Path(tempfile.gettempdir()) / "medveil-mst")
    arguments, _ = parser.parse_known_args()
    table = patients(arguments.rows, seed=1).select(list(COLUMNS))
    original = as_codes(table)
    by_ipa(table.slice(0, 1_000))  # compiles and loads
    print(f"{arguments.rows:,} patients, epsilon 1, Python {sys.version.split()[0]}")
    runs = [by_ipa(table) for _ in range(arguments.repeat)]
    tell("ipa", [{**measures(original, made), "seconds": seconds} for made, seconds in runs])
    if not arguments.without_mst:
        made, seconds = by_mst(original, environment(arguments.environment))
        tell("mst", [{**measures(original, made), "seconds": seconds}])


if __name__ == "__main__":
    main()
