"""Mondrian against anonypy on the same table, and on 1.2 million generated rows.

    python benchmarks/mondrian.py [--quick] [--data FOLDER] [--rows N]

The loss of both is computed by the same code from what they publish: the mean over records and attributes of
(highest - lowest) / (highest - lowest of the column) for numbers, (|set| - 1) / (|domain| - 1) for categories.
Times of medveil run from the table in memory to the published Arrow table; compilation is done before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import table as lines
from medveil.cells import make_cells
from medveil.datasets import patients
from medveil.engine import open_engine
from medveil.hierarchy.hierarchy import build
from medveil.methods.mondrian import Mondrian
from medveil.methods.mondrian.ends import find_ends
from medveil.methods.problem import Problem
from medveil.privacy.count import reference_of
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.model import Requirement
from medveil.run import Run
from medveil.sources.opening import open_source
from medveil.table.labels import parse_label
from medveil.table.schema import Attribute, Kind, Role, Schema
from peers import python_with

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
K = 5
QUICK_ROWS = 3000

RELEASE = "anonypy==0.2.1"
PEER = """
import json, sys, time
import pandas as pd
import anonypy
path, quasi, numbers, k = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
frame = pd.read_csv(path, dtype={name: "int64" if name in numbers else "category" for name in quasi})
frame["nothing"] = pd.Series("x", index=frame.index, dtype="category")
anonypy.Preserver(frame.head(200), quasi, "nothing").anonymize_k_anonymity(k=k)
started = time.perf_counter()
rows = anonypy.Preserver(frame, quasi, "nothing").anonymize_k_anonymity(k=k)
seconds = time.perf_counter() - started
text = lambda label: label[0] if isinstance(label, list) else str(label)
told = [(int(row["count"]), [text(row[name]) for name in quasi]) for row in rows]
print(json.dumps({"seconds": seconds, "rows": told}))
"""
Label = tuple[float, float] | frozenset[str]
"""What a published cell covers: a range of numbers, or a set of categories."""


def medveil_table(table: pa.Table, quasi: Sequence[str], method: Mondrian) -> tuple[pa.Table, Mapping[str, Any]]:
    """The published table, and what the method reports of itself."""
    model = KAnonymity(k=K)
    with open_engine(open_source(table), quasi) as engine:
        raw = engine.cells(quasi)
        cells = make_cells(raw, quasi, (), {})
        problem = Problem(
            schema=Schema(tuple(Attribute(name, Role.QUASI) for name in quasi)),
            engine=engine,
            raw=raw,
            cells=cells,
            hierarchies={
                name: build(cells.domains[name].values, (), None, float(len(cells.domains[name])), name)
                for name in quasi
            },
            models=[model],
            requirements=[Requirement(model, tuple(range(len(quasi))))],
            reference=reference_of(cells),
        )
        draft = method.anonymize(problem, Run())
        return draft.published.to_arrow(), draft.method


def medveil_labels(published: pa.Table, numbers: Sequence[str]) -> Iterable[tuple[int, list[Label]]]:
    """The number of records of each class, and what is published for it."""
    counted = published.group_by(published.column_names).aggregate([([], "count_all")])
    for row in counted.to_pylist():
        size = row.pop("count_all")
        covers = {name: parse_label(label) for name, label in row.items()}
        yield (
            size,
            [
                (
                    (float(cover.spans[0].low or 0), float(cover.spans[0].high or 0))
                    if cover.spans
                    else (float(cover.values[0]),) * 2
                )
                if name in numbers
                else frozenset(cover.values)
                for name, cover in covers.items()
            ],
        )


def anonypy_labels(
    rows: pa.Table, quasi: Sequence[str], numbers: Sequence[str]
) -> tuple[float, list[tuple[int, list[Label]]]]:
    """Seconds of anonypy and the same of it, which publishes `20-34` and `a,b`."""
    with tempfile.TemporaryDirectory() as temporary:
        given = Path(temporary) / "rows.csv"
        pa.csv.write_csv(rows.select(list(quasi)), given)
        command = [python_with(RELEASE, "pandas<3"), "-c", PEER, given, json.dumps(quasi), json.dumps(numbers), str(K)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def read(name: str, text: str) -> Label:
        if name not in numbers:
            return frozenset(text.split(","))
        low, _, high = text.partition("-")
        return float(low), float(high or low)

    found = [(count, [read(*pair) for pair in zip(quasi, labels, strict=True)]) for count, labels in told["rows"]]
    return told["seconds"], found


def loss_of(
    table: pa.Table,
    quasi: Sequence[str],
    numbers: Sequence[str],
    classes: Iterable[tuple[int, list[Label]]],
    spans: Mapping[str, float] | None = None,
) -> tuple[float, int, int]:
    """The loss of what was published; and the number of classes, and the records of the smallest one.

    spans: how wide the domains of numbers are; from the lowest to the highest value where none are given.
    """
    columns = [table[name].to_pylist() for name in quasi]
    domains = [
        (spans or {}).get(name, max(map(float, column)) - min(map(float, column)))
        if name in numbers
        else len(set(column)) - 1.0
        for name, column in zip(quasi, columns, strict=True)
    ]
    total, records, sizes = 0.0, 0, []
    for size, labels in classes:
        widths = [label[1] - label[0] if isinstance(label, tuple) else len(label) - 1 for label in labels]
        total += size * float(np.mean([width / domain for width, domain in zip(widths, domains, strict=True)]))
        records += size
        sizes.append(size)
    assert records == table.num_rows
    return total / records, len(sizes), min(sizes)


def timed(action: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """The best time, and the last result."""
    best, result = float("inf"), None
    for _ in range(times):
        started = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - started)
    return best, result


def read_adult(folder: Path) -> pa.Table:
    options = pa.csv.ParseOptions(delimiter=";")
    text = pa.csv.ConvertOptions(column_types={name: pa.string() for name in QUASI}, include_columns=list(QUASI))
    return pa.csv.read_csv(folder / "adult" / "arx" / "adult.csv.gz", parse_options=options, convert_options=text)


def against_anonypy(table: pa.Table) -> None:
    print(f"Adult, {table.num_rows:,} rows, {len(QUASI)} quasi-identifiers, k = {K}")
    print(f"{'':28}{'seconds':>10}{'loss':>10}{'classes':>10}{'least k':>10}")
    medveil_table(table.slice(0, 100), QUASI, Mondrian())
    ours = float("nan")
    # The method measures by how far its ranges can reach, which end at round numbers beyond the outermost ages.
    ages = np.unique([float(age) for age in table["age"].to_pylist()])
    ends = find_ends(Kind.NUMBER, [str(age) for age in ages], ages, None)
    reach = float(ends.stops[-1] - ends.starts[0])
    for cuts, mode in (("loss", "strict"), ("loss", "relaxed"), ("median", "strict"), ("median", "relaxed")):
        method = Mondrian.model_validate({"cuts": cuts, "mode": mode})
        seconds, (published, report) = timed(lambda method=method: medveil_table(table, QUASI, method), 3)
        classes_made = list(medveil_labels(published, ("age",)))
        loss, classes, least = loss_of(table, QUASI, ("age",), classes_made)
        by_reach, _, _ = loss_of(table, QUASI, ("age",), classes_made, {"age": reach})
        assert abs(by_reach - report["loss"]) < 1e-9
        ours = seconds if (cuts, mode) == ("loss", "strict") else ours
        print(f"{f'medveil, {cuts}, {mode}':28}{seconds:10.3f}{loss:10.4f}{classes:10,}{least:10}")
    seconds, rows = anonypy_labels(table, QUASI, ("age",))
    loss, classes, least = loss_of(table, QUASI, ("age",), rows)
    print(f"{'anonypy':28}{seconds:10.3f}{loss:10.4f}{classes:10,}{least:10}")
    lines.line(f"Mondrian, Adult, {table.num_rows:,} rows, k = {K}", "table to classes", ours, seconds, RELEASE)


def many_rows(rows: int) -> None:
    table = patients(rows, seed=1)
    quasi = tuple(table.column_names)
    for mode in ("strict", "relaxed"):
        seconds, (published, report) = timed(
            lambda mode=mode: medveil_table(table, quasi, Mondrian.model_validate({"mode": mode}))
        )
        print(
            f"{published.num_rows:,} generated patients, {len(quasi)} quasi-identifiers, {mode}: "
            f"{seconds:.2f} s, loss {report['loss']:.4f}, {report['classes']:,} classes"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK_ROWS:,} rows of Adult only")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rows", type=int, default=1_200_000, help="how many patients to generate")
    given = parser.parse_args()
    adult = read_adult(given.data)
    against_anonypy(adult.slice(0, QUICK_ROWS) if given.quick else adult)
    many_rows(given.rows)


if __name__ == "__main__":
    main()
