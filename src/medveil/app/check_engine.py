"""Whether an engine gives what DuckDB gives, on generated patients: to be run against a cluster of one's own."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from medveil.app.anonymize import anonymize
from medveil.datasets import patients
from medveil.engine import Engine, open_engine
from medveil.engine.interface import COUNT
from medveil.engine.links import read_links
from medveil.engine.specification import EngineSpec
from medveil.errors import CancelledError, MedveilError
from medveil.release.reading import TEXT, read_csv
from medveil.run import Run, Stage
from medveil.sources.opening import open_source
from medveil.working_folder import WorkingFolder

ROWS = 3_000
QUASI = ("age", "sex", "region")
_STOPPED_WITHIN = 5.0
"""Seconds."""
_ENDLESS = 5_000_000_000
_POLICY = {
    "attributes": {
        "age": {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "widths": [5, 10, 20]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        "patient_id": {"role": "subject"},
    },
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "optimal", "suppression": 0.05},
    "evaluation": {"advice": False},
    "output": {"report": False},
}


@dataclass(frozen=True)
class EngineCheck:
    """One thing that an engine must do: whether it does, what it said where not, and how long it took."""

    name: str
    ok: bool
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class EngineReport:
    """What came of all checks."""

    engine: str
    checks: tuple[EngineCheck, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def check_engine(engine: EngineSpec, *, folder: str | Path | None = None, run: Run | None = None) -> EngineReport:
    """Compare an engine with DuckDB on generated patients. `folder`: a place that this machine and the engine see
    under the same path; by default the one for temporary files.
    """
    run = run or Run()
    run.step(Stage.COMPARE)
    table = _patients()
    with WorkingFolder(None if folder is None else Path(folder)) as working:
        place = working.path
        data = place / "patients.parquet"
        pa.parquet.write_table(table, data, row_group_size=500)
        # Whether anybody answers at all is said at once, and not with every check.
        engine.open(open_source(data), table.column_names).close()
        done = []
        for number, (name, check) in enumerate(_CHECKS.items()):
            run.step(Stage.COMPARE, number / len(_CHECKS), name)
            done.append(_checked(name, check, _Bench(engine, data, place, table)))
    return EngineReport(engine.name, tuple(done))


def _patients() -> pa.Table:
    """Generated patients, with a column of each type that files write in ways of their own."""
    table = patients(ROWS, seed=1, patient_id=True)
    numbers = np.arange(ROWS)
    return (
        table.append_column("real", pa.array([None if i % 9 == 4 else i % 7 / 3 for i in range(ROWS)]))
        .append_column("day", pa.array(numbers % 40 * 500, pa.int32()).cast(pa.date32()))
        .append_column("note", pa.array([("é😀", ' "x", y', "", None, "*")[i % 5] for i in range(ROWS)]))
    )


@dataclass(frozen=True)
class _Bench:
    engine: EngineSpec
    data: Path
    place: Path
    table: pa.Table

    @contextmanager
    def both(self) -> Iterator[tuple[Engine, Engine]]:
        """The same data in DuckDB and in the engine."""
        source = open_source(self.data)
        with open_engine(source, source.names) as here, self.engine.open(source, source.names) as there:
            yield here, there


def _checked(name: str, check: Callable[[_Bench], str | None], given: _Bench) -> EngineCheck:
    began = time.perf_counter()
    try:
        differs = check(given)
    except CancelledError:
        raise
    except MedveilError as error:
        differs = str(error)
    return EngineCheck(name, differs is None, round(time.perf_counter() - began, 2), differs or "")


def _lines(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _values(given: _Bench) -> str | None:
    with given.both() as (here, there):
        for name in here.columns:
            if _lines(here.values(name, "patient_id")) != _lines(there.values(name, "patient_id")):
                return f"The values of '{name}' differ."
    return None


def _cells(given: _Bench) -> str | None:
    columns = [*QUASI, "disease"]
    with given.both() as (here, there):
        if _lines(here.cells(columns)) != _lines(there.cells(columns)):
            return "The cells differ."
        sets = [["age"], ["sex", "region"], ["real", "day"]]
        together = zip(here.marginals(sets), there.marginals(sets), strict=True)
        return None if all(_lines(one) == _lines(other) for one, other in together) else "The marginals differ."


def _people(given: _Bench) -> str | None:
    with given.both() as (here, there):
        numbers = []
        for engine in (here, there):
            cells = engine.cells(QUASI)
            offsets, _, people = engine.subjects(cells, QUASI, "patient_id")
            sizes = cells.drop_columns([COUNT]).append_column("people", pa.array(np.diff(offsets)))
            numbers.append((_lines(sizes), people))
        if numbers[0] != numbers[1]:
            return "The people in the cells differ."
        gone = [engine.bound_records("patient_id", 1) for engine in (here, there)]
        return None if gone[0] == gone[1] else "The numbers of records that are kept of each person differ."


def _files(file_format: str) -> Callable[[_Bench], str | None]:
    def check(given: _Bench) -> str | None:
        with given.both() as (here, there):
            rows = []
            for name, engine in (("here", here), ("there", there)):
                folder = given.place / f"{name}-{file_format}"
                folder.mkdir()
                cells = engine.cells(QUASI)
                labels = [cells[f"q{j}"].combine_chunks() for j in range(len(QUASI))]
                kept = np.array([age != "30" for age in cells["q0"].to_pylist()])
                parts = engine.publish(cells, QUASI, labels, kept, ["note"], stars=True).write(folder, file_format)
                tables = [_read(folder / part.name) for part in parts]
                if [len(table) for table in tables] != [part.rows for part in parts]:
                    return "Its parts do not hold the rows that it says."
                rows.append([row for table in tables for row in table.to_pylist()])
        if rows[0] == rows[1]:
            return None
        same = sorted(map(str, rows[0])) == sorted(map(str, rows[1]))
        return "The rows are not sorted." if same else "The rows that are written differ."

    return check


def _read(file: Path) -> pa.Table:
    if file.suffix == ".parquet":
        return pa.parquet.read_table(file)
    return read_csv(file, [*QUASI, "note"], TEXT)


def _links(given: _Bench) -> str | None:
    with given.both() as (here, there):
        found = []
        for name, engine in (("here", here), ("there", there)):
            cells = engine.cells(QUASI)
            labels = [cells[f"q{j}"].combine_chunks() for j in range(len(QUASI))]
            path = given.place / f"{name}.links"
            engine.write_links(cells, QUASI, labels, np.ones(len(cells), dtype=np.bool_), path)
            found.append(read_links(path).labels.to_pylist())
    return None if found[0] == found[1] else "What became of each record differs."


def _release(given: _Bench) -> str | None:
    made = [
        anonymize(given.data, _POLICY, out=given.place / name, run=run)
        for name, run in (("one", Run()), ("other", Run(engines=given.engine.open)))
    ]
    if made[0].to_arrow().to_pylist() != made[1].to_arrow().to_pylist():
        return "The releases differ."
    return None if made[0].manifest.claims == made[1].manifest.claims else "The claims differ."


def _cancel(given: _Bench) -> str | None:
    began: list[float] = []
    run = Run(cancelled=lambda: bool(began) and time.monotonic() - began[0] > 1, engines=given.engine.open)
    (given.place / "endless").mkdir()
    try:
        with run.engine(open_source(given.data), QUASI) as engine:
            endless = engine.expand(pa.table({"a": ["x", "y"]}), np.full(2, _ENDLESS))
            began.append(time.monotonic())
            endless.write(given.place / "endless", "csv")
    except CancelledError:
        took = time.monotonic() - began[0] - 1
        return None if took <= _STOPPED_WITHIN else f"It stopped {took:.0f} s after it was asked to."
    return "It did not stop when it was asked to."


_CHECKS: dict[str, Callable[[_Bench], str | None]] = {
    "values of every type, with records and people": _values,
    "cells and marginals": _cells,
    "people in cells, and bounded records": _people,
    "sorted CSV parts": _files("csv"),
    "sorted Parquet parts": _files("parquet"),
    "what became of each record": _links,
    "a release with its audit": _release,
    f"stopping within {_STOPPED_WITHIN:.0f} s": _cancel,
}
