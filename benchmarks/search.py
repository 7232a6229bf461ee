"""How long the optimal search takes, as a multiple of one DuckDB `group by` on the same rows, with each optimum.

    python benchmarks/search.py [--data FOLDER] [--sets adult,fars,atus,ihis] [--repeat 3]

`G` is the best of three of `select count(*) from (select <columns>, count(*) from t group by all)` on an in-memory
table of VARCHAR columns with two threads. The search runs from cells in memory to the proved optimum, k = 5.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import large_sets
from large_sets import LargeSet
from medveil.cells import Cells
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.search import FoundNode, search
from medveil.lattice.space import Space
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.model import Requirement

LIMITS = (0.0, 0.02, 1.0)

PEER_SECONDS = {
    "adult": (0.06, 1.2, 4.6),
    "fars": (0.12, 5.5, None),
    "atus": (5.1, 68.0, None),
    "ihis": (8.8, 262.0, 1063.0),
}
"""What ARX took, by the limits above, warm, from coded rows to the proved optimum."""

PEER_RUN = (
    "ARX's seconds are kept since 15 November 2026 (commit 504bf26), from a machine of two cores like that of "
    "docs/benchmarks.md, and not of this run. Its version, and the date of the run itself, were not written down; "
    "atus and ihis are the generated rows of large_sets.py, as far as is known. benchmarks/arx/run.py measures Adult "
    "anew."
)
"""Where these come from, printed with every table: a reader may hold them for no more than that."""


def read_set(data: Path, hierarchies: Path) -> LargeSet:
    """A `;` separated file with a header, and the hierarchy file of each of its columns."""
    raw = data.read_bytes()
    text = (gzip.decompress(raw) if data.suffix == ".gz" else raw).decode("utf-8")
    header, *rows = [line for line in csv.reader(text.splitlines(), delimiter=";") if line]
    read = [large_sets.read_hierarchy(Path(str(hierarchies).format(name))) for name in header]
    codes = []
    for position, (leaves, _) in enumerate(read):
        code_of = {leaf: code for code, leaf in enumerate(leaves)}
        codes.append(np.array([code_of[row[position]] for row in rows], dtype=np.int32))
    return LargeSet(tuple(header), tuple(codes), tuple(leaves for leaves, _ in read), tuple(h for _, h in read))


def loaders(folder: Path) -> dict[str, Callable[[], LargeSet]]:
    adult, fars = folder / "adult" / "arx", folder / "fars"
    return {
        "adult": lambda: read_set(adult / "adult.csv.gz", adult / "adult_hierarchy_{}.csv"),
        "fars": lambda: read_set(fars / "fars_int.csv.gz", fars / "fars_int_hierarchy_{}.csv"),
        "atus": lambda: large_sets.atus_like(folder),
        "ihis": lambda: large_sets.ihis_like(folder),
    }


def best_of(times: int, run: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def group_by_seconds(rows: LargeSet) -> float:
    texts = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(leaves)).cast(pa.string())
        for name, codes, leaves in zip(rows.names, rows.codes, rows.leaves, strict=True)
    }
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    connection.register("rows", pa.table(texts))
    connection.execute("create table t as select * from rows")
    columns = ", ".join(f'"{name}"' for name in rows.names)
    query = f"select count(*) from (select {columns}, count(*) from t group by all)"
    return best_of(3, lambda: connection.execute(query).fetchall())


def cells_of(rows: LargeSet) -> Cells:
    connection = duckdb.connect()
    connection.register("rows", pa.table(dict(zip(rows.names, rows.codes, strict=True))))
    counted = connection.execute('select *, count(*) as "how many" from rows group by all').fetchnumpy()
    codes = np.ascontiguousarray(np.stack([counted[name] for name in rows.names]), dtype=np.int32)
    return Cells(rows.names, codes, counted["how many"].astype(np.int64), {}, {})


def run_search(cells: Cells, space: Space, limit: float) -> FoundNode:
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=5), tuple(range(len(space))))])
    return search(evaluator, space, make_loss("lm", space, evaluator.columns), limit)


def measure(name: str, rows: LargeSet, repeat: int) -> None:
    group_by = group_by_seconds(rows)
    cells, space = cells_of(rows), Space.of(rows.hierarchies)
    print(f"{name}: {cells.records} rows, {len(cells)} cells, {space.size} nodes, G = {group_by:.3f} s")
    for limit, peer in zip(LIMITS, PEER_SECONDS[name], strict=True):
        found = run_search(cells, space, limit)
        seconds = best_of(repeat, lambda limit=limit: run_search(cells, space, limit))
        faster = "" if peer is None else f"{peer / seconds:7.0f} x faster"
        print(
            f"  {limit:5.0%}  {seconds:7.3f} s  {seconds / group_by:6.2f} G  {faster:>16}  loss {found.loss:.6f}  "
            f"suppressed {found.suppressed:6d}  checks {found.checks:4d}  levels {found.levels}"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--sets", default="adult,fars,atus,ihis")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args(arguments)
    known = loaders(given.data)
    print(PEER_RUN)
    for name in given.sets.split(","):
        measure(name, known[name](), given.repeat)


if __name__ == "__main__":
    main()
