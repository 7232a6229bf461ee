"""FHIR both ways on a generated bulk export: resources a second of one processor, read into tables, written again and
read back by the auditor.

python benchmarks/fhir.py [--people 5000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv

from medveil.auditor.fhir import _fault
from medveil.auditor.published import open_release
from medveil.datasets import cohort
from medveil.release.fhir import WrittenColumn, WrittenResource, write_fhir
from medveil.release.fhir_elements import element_of
from medveil.sources.fhir import FhirSpec
from medveil.sources.fhir_views import VIEWS
from medveil.workspace import Workspace

KINDS = ("Patient", "Encounter", "Condition")
POINTS = {"patient": "Patient", "encounter": "Encounter"}
GOAL = 10_000
SIZE = 1_000


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--people", type=int, default=5_000)
    people = arguments.parse_args().people
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place) / "bulk", Path(place) / "out"
        out.mkdir()
        cohort(people, seed=1).write_fhir(folder)
        for file in folder.iterdir():
            _lengthen(file)
        size = sum(file.stat().st_size for file in folder.iterdir())
        tables, read = _timed(lambda: {kind: _read(folder, kind) for kind in KINDS})
        number = sum(table.num_rows for table in tables.values())
        resources = {kind: _resource(kind, tables[kind]) for kind in KINDS}
        _, wrote = _timed(lambda: [write_fhir(tables[kind], out, resources[kind]) for kind in KINDS])
        for kind in KINDS:
            pa.csv.write_csv(tables[kind].select([c.name for c in resources[kind].columns]), out / f"{kind}.csv")
        faults, audited = _timed(lambda: [_audit(out, resources[kind]) for kind in KINDS])
        if any(faults):
            raise SystemExit(f"the auditor found: {faults}")
    print(f"{number:,} resources of {size / number:,.0f} bytes on average")
    for what, seconds in (("read into tables", read), ("written", wrote), ("read back by the auditor", audited)):
        print(f"{what:<25} {seconds:6.2f} processor s, {number / seconds:9,.0f} resources a second (goal {GOAL:,})")


def _timed(work: Any) -> tuple[Any, float]:
    started = time.process_time()
    return work(), time.process_time() - started


def _lengthen(file: Path) -> None:
    """Give every resource a narrative, so that it has about 1,000 bytes, as those of real exports have."""
    lines = file.read_text(encoding="utf-8").splitlines()
    with file.open("w", encoding="utf-8") as stream:
        for line in lines:
            told = "x" * max(0, SIZE - len(line) - 50)
            stream.write(f'{line[:-1]}, "text": {{"status": "generated", "div": "<div>{told}</div>"}}}}\n')


def _read(folder: Path, kind: str) -> pa.Table:
    return FhirSpec(path=str(folder), view=kind).open(Workspace()).batches().read_all()


def _resource(kind: str, table: pa.Table) -> WrittenResource:
    names = [name for name in VIEWS[kind] if name != "display" and table[name].null_count < table.num_rows]
    columns = [WrittenColumn(name, element_of(kind, VIEWS[kind][name]), POINTS.get(name, "")) for name in names]
    return WrittenResource(kind, columns)


def _audit(out: Path, resource: WrittenResource) -> str:
    """What the auditor says of a file beside the table that it was written from."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        files = {resource.kind: open_release([out / f"{resource.kind}.csv"])}
        release: Any = SimpleNamespace(connection=connection, files=files)
        table: Any = SimpleNamespace(name=resource.kind, content={"fhir": resource.described()})
        return _fault(release, table, out)


if __name__ == "__main__":
    main()
