"""What is accepted of data that nobody vouches for: files that are small on the disk and endless when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from medveil.errors import InputError
from medveil.run import Run

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
CHUNK = 1 << 22


@dataclass(frozen=True)
class Bounds:
    """How much is accepted.

    columns: the most columns. ratio: how many times a compressed file may expand, once it has expanded to more than
    `free` bytes, or how many cells a columnar file may have for each of its bytes, once it has more than `free`. cells:
    the most cells of a columnar file at all.
    """

    columns: int = 2_000
    ratio: float = 200.0
    free: int = 1 << 28
    cells: int = 20_000_000_000


def check_size(path: Path, bounds: Bounds, run: Run) -> None:
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
