"""From a table that nobody knows yet to a first policy for it: what each column seems to be, and a starter's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from medveil.app.inspect import Inspection, inspect
from medveil.app.measure import NO_MODEL
from medveil.app.preparation import data_path, open_data
from medveil.errors import InputError
from medveil.policy import load_policy
from medveil.run import Run, Stage

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
CHUNK = 1 << 22


@dataclass(frozen=True)
class Bounds:
    """What is accepted of data that nobody vouches for.

    columns: the most columns. ratio: how many times a compressed file may expand, once it has expanded to more than
    `free` bytes, or how many cells a columnar file may have for each of its bytes, once it has more than `free`. cells:
    the most cells of a columnar file at all.
    """

    columns: int = 2_000
    ratio: float = 200.0
    free: int = 1 << 28
    cells: int = 20_000_000_000


@dataclass(frozen=True)
class Started:
    """What a table is, and the text of a policy to begin with."""

    inspection: Inspection
    policy: str

    def to_dict(self) -> dict[str, Any]:
        return {"inspection": self.inspection.to_dict(), "policy": self.policy}


def starter(
    data: str | Mapping[str, Any], *, bounds: Mapping[str, Any] | None = None, run: Run | None = None
) -> Started:
    """Look at the data that a policy would name so, within bounds, and propose a policy for them."""
    run = run or Run()
    asked, within = {"data": data, "attributes": {}, "privacy": [NO_MODEL]}, Bounds(**(bounds or {}))
    policy, workspace = load_policy(asked, run.workspace)
    path = data_path(policy, workspace)
    run.step(Stage.READ)
    if path is not None and path.is_file():
        _check_size(path, within, run)
    source = open_data(policy, workspace)
    if len(source.names) > within.columns:
        raise InputError(
            f"The table has {len(source.names):,} columns, which is more than {within.columns:,}.",
            "Take out those that nobody needs, or use the command line.",
        )
    found = inspect(source, run=run)
    return Started(found, found.policy(data if isinstance(data, str) else "data"))


def _check_size(path: Path, bounds: Bounds, run: Run) -> None:
    """Refuse a file that is small on the disk and endless when it is read."""
    with path.open("rb") as opened:
        start = opened.read(4)
    if start == b"PAR1":
        _check_parquet(path, bounds)
        return
    compression = next((name for mark, name in COMPRESSED.items() if start.startswith(mark)), None)
    if compression is None:
        return
    most, read = max(bounds.free, int(path.stat().st_size * bounds.ratio)), 0
    try:
        with pa.input_stream(str(path), compression=compression) as stream:
            while part := stream.read(CHUNK):
                read += len(part)
                run.check()
                if read > most:
                    raise _too_large()
    except (OSError, pa.ArrowException):
        raise InputError(f"'{path.name}' is damaged: it does not decompress.", "Compress it again.") from None


def _check_parquet(path: Path, bounds: Bounds) -> None:
    try:
        told = pa.parquet.read_metadata(path)
    except (OSError, pa.ArrowException):
        return  # whoever opens it says what is wrong
    if told.num_rows * max(told.num_columns, 1) > min(
        bounds.cells, max(int(path.stat().st_size * bounds.ratio), bounds.free)
    ):
        raise _too_large()


def _too_large() -> InputError:
    return InputError("The file expands to far more than its size.", "Give it uncompressed, or use the command line.")
