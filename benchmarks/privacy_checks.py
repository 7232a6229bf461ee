"""The privacy checks on a million generated patients, against pycanon on the same data frame in the same run.

`python benchmarks/privacy_checks.py [--rows N]`: k-anonymity, distinct l-diversity and t-closeness (equal distance) of
`disease` on age in bands of ten years, sex, region and surgery. Each is timed on its own, and the last line has all
three. Ours: `from frame` reads the data frame, groups, counts and checks; `from codes` begins with a table of integer
codes, a row a record, and groups, counts and checks. Every time is the best of three, pycanon's of one.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from medveil.cells import Cells, make_cells
from medveil.datasets import patients
from medveil.engine import Limits, open_engine
from medveil.privacy.count import count_classes, reference_of
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import PrivacyModel
from medveil.privacy.t_closeness import TCloseness
from medveil.sources.opening import open_source
from medveil.table.schema import Kind

if TYPE_CHECKING:
    import pandas as pd

QUASI = ("age", "sex", "region", "surgery")
SENSITIVE = "disease"
CHECKS: dict[str, PrivacyModel] = {
    "k": KAnonymity(k=1),
    "l": LDiversity(l=1, attribute=SENSITIVE),
    "t": TCloseness(t=1, attribute=SENSITIVE),
}


def release_like(rows: int) -> pd.DataFrame:
    """Generated patients with ages in bands, as text, with a default index: what pycanon wants."""
    frame = patients(rows, seed=1).to_pandas()
    frame["age"] = (frame["age"] // 10 * 10).astype(str)
    return frame[[*QUASI, SENSITIVE]].astype(str)


def cells_of(frame: pd.DataFrame, sensitive: Sequence[str]) -> Cells:
    columns = [*QUASI, *sensitive]
    with open_engine(open_source(frame), columns, Limits(threads=2)) as engine:
        return make_cells(engine.cells(columns), QUASI, sensitive, dict.fromkeys(columns, Kind.CATEGORY))


def codes_of(frame: pd.DataFrame) -> Cells:
    """The rows as codes, none of them counted together yet: each is a cell of one record."""
    table = pa.table({f"q{position}": frame[name] for position, name in enumerate((*QUASI, SENSITIVE))})
    each = table.append_column("records", pa.array(np.ones(len(table), dtype=np.int64)))
    return make_cells(each, QUASI, [SENSITIVE], dict.fromkeys((*QUASI, SENSITIVE), Kind.CATEGORY))


def check(cells: Cells, models: Sequence[PrivacyModel]) -> dict[str, float]:
    """What the models achieve: group by a mixed-radix key, count, check."""
    keys, space = np.zeros(len(cells), dtype=np.int64), 1
    for position, name in enumerate(QUASI):
        keys, space = keys * len(cells.domains[name]) + cells.codes[position], space * len(cells.domains[name])
    taken = np.bincount(keys, minlength=space) > 0
    class_of_cell = (np.cumsum(taken) - 1)[keys]
    if not any(model.needs_sensitive for model in models):
        cells = dataclasses.replace(cells, sensitive={})
    classes, reference = count_classes(cells, class_of_cell, int(taken.sum())), reference_of(cells)
    return {name: figure for model in models for name, figure in model.achieved(classes, reference).items()}


def timed(call: Callable[[], dict[str, float]], times: int) -> tuple[float, dict[str, float]]:
    """The best time of several calls, and what the last returned."""
    best, answer = np.inf, {}
    for _ in range(times):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def peer(name: str, frame: pd.DataFrame) -> dict[str, float]:
    from pycanon import anonymity  # noqa: PLC0415 - only the benchmark has it

    if name == "k":
        return {"k": float(anonymity.k_anonymity(frame, list(QUASI)))}
    measure = {"l": anonymity.l_diversity, "t": anonymity.t_closeness}[name]
    return {name: float(measure(frame, list(QUASI), [SENSITIVE]))}


def line(name: str, theirs: float, whole: float, coded: float, figures: dict[str, float]) -> str:
    achieved = ", ".join(f"{parameter} = {figure:g}" for parameter, figure in figures.items())
    ours = f"{whole:>14.3f}{theirs / whole:>8.0f}x{coded:>14.4f}{theirs / coded:>8.0f}x"
    return f"{name:<10}{theirs:>10.2f}{ours}   {achieved}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    frame = release_like(parser.parse_args().rows)
    codes = codes_of(frame)
    number_of_classes = frame.groupby(list(QUASI)).ngroups
    print(f"{len(frame):,} rows, {number_of_classes:,} classes, {frame[SENSITIVE].nunique()} sensitive values")
    print(f"{'check':<10}{'pycanon s':>10}{'from frame s':>14}{'ratio':>9}{'from codes s':>14}{'ratio':>9}   achieved")
    of_peer = 0.0
    for name, model in CHECKS.items():
        sensitive = [SENSITIVE] if model.needs_sensitive else []
        whole, achieved = timed(lambda one=model, also=sensitive: check(cells_of(frame, also), [one]), 3)
        coded, again = timed(lambda one=model: check(codes, [one]), 3)
        theirs, expected = timed(lambda name=name: peer(name, frame), 1)
        if not np.allclose([achieved[name], again[name]], expected[name], atol=1e-9):
            raise SystemExit(f"The two disagree on {name}: {achieved[name]} and {expected[name]}.")
        of_peer += theirs
        print(line(name, theirs, whole, coded, achieved), flush=True)
    models = list(CHECKS.values())
    whole, achieved = timed(lambda: check(cells_of(frame, [SENSITIVE]), models), 3)
    coded, _ = timed(lambda: check(codes, models), 3)
    print(line("all three", of_peer, whole, coded, achieved))


if __name__ == "__main__":
    main()
