"""Leakage of sets of columns, as a multiple of one DuckDB `group by`, and the IAB searches on Adult.

    python benchmarks/leakage.py [--data FOLDER] [--rows 1200000] [--repeat 3] [--skip-adult]

`G` is the best of `repeat` of `select count(*) from (select <columns>, count(*) from t group by all)` on an in-memory
table of VARCHAR columns with two threads. Ours starts from the same loaded table and counts distinct records, codes
them, and measures all 129 sets of up to three columns; its best time is divided by G. Then the search for the ten
most leaking sets of up to four, and how many of the 255 it counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from large_sets import ihis_like
from medveil.app.leakage import leakage
from medveil.engine import Limits, open_engine
from medveil.reproduce.leakage_iab import adult
from medveil.risk.leakage import leakage_of
from medveil.risk.leakage_entries import entries_of
from medveil.run import Run
from medveil.sources.opening import open_source

Result = TypeVar("Result")


def best(repeat: int, work: Callable[[], Result]) -> tuple[float, Result]:
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begun)
    return min(times), result


def sets(folder: Path, rows: int, repeat: int) -> None:
    made = ihis_like(folder, rows)
    columns = zip(made.names, made.codes, made.leaves, strict=True)
    texts = {n: pa.DictionaryArray.from_arrays(pa.array(c), pa.array(v)).cast(pa.string()) for n, c, v in columns}
    table = pa.table(texts)
    with open_engine(open_source(table), made.names, Limits(threads=2)) as engine:
        leakage_of(entries_of(engine, made.names), up_to=3)  # compiles
        group_by, _ = best(repeat, lambda: engine.unique_share(made.names))
        whole, measured = best(repeat, lambda: leakage_of(entries_of(engine, made.names), up_to=3))
        entries = entries_of(engine, made.names)
    alone, _ = best(repeat, lambda: leakage_of(entries, up_to=3))
    print(f"{rows:,} rows, nine columns; one group by G = {group_by:.2f} s")
    print(f"all {len(measured.sets)} sets up to three: {whole:.2f} s = {whole / group_by:.2f} G (goal: at most 5)")
    print(f"  of which the sets themselves, from coded records: {alone:.2f} s = {alone / group_by:.2f} G")
    loaded, _ = best(repeat, lambda: leakage(table, columns=made.names, up_to=3, limits=Limits(threads=2)))
    print(f"  medveil.leakage from an Arrow table, loading included: {loaded:.2f} s = {loaded / group_by:.2f} G")
    taken, top = best(repeat, lambda: leakage_of(entries, up_to=4, top=10))
    share = f"{top.examined} of {top.possible} sets counted = {top.examined / top.possible:.0%}"
    print(f"top ten up to four: {share} (goal: under 50%), {taken:.2f} s")


def searches(folder: Path) -> None:
    seconds = {}
    for method in ("iab-fast", "greedy", "iab", "exhaustive"):
        told = adult(folder, method, Run())
        seconds[method] = told["seconds"]
        effort = told.get("tables_generated", told.get("tables_checked"))
        print(f"Adult, k = 5, {method}: {effort:,} tables, {told['rows']} rows, {told['seconds']:.2f} s")
    print(f"iab-fast / exhaustive = {seconds['iab-fast'] / seconds['exhaustive']:.4f} (goal: at most 0.2)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=1_200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--skip-adult", action="store_true")
    given = parser.parse_args()
    sets(given.data, given.rows, given.repeat)
    if not given.skip_adult:
        searches(given.data)


if __name__ == "__main__":
    main()
