"""Made-up patients in a file, to try things on."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv

from medveil.datasets import patients
from medveil.errors import OutputError
from medveil.run import Run, Stage


def generate(rows: int, out: str | Path, *, seed: int | None = None, run: Run | None = None) -> Path:
    """Write a CSV file of generated patients, some of whom come several times."""
    run = run or Run()
    path = Path(out)
    if path.exists():
        raise OutputError(f"'{path}' already exists.", "Name a new file, or remove that one first.")
    run.step(Stage.GENERATE)
    chosen = int(run.random.integers(2**31)) if seed is None else seed
    pyarrow.csv.write_csv(patients(rows, seed=chosen, patient_id=True), path)
    return path
