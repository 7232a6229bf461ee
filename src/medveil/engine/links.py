"""Links: what became of each record of the source, for the steward's own checks alone: they tie release to input.

A Parquet file with a row for each record: whether it was kept, its line in the source, and the label of each column.
The first two columns have names that no column of a source can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.table.arrow import number_array, numpy_of

KEPT = " "
LINE = "  "


@dataclass(frozen=True)
class Links:
    """What became of each record, in the order of the source: whether it was kept, and its `labels`."""

    kept: NDArray[np.bool_]
    labels: pa.Table

    @property
    def published(self) -> pa.Table:
        """The labels of the records that were kept."""
        return self.labels.filter(number_array(self.kept))


def write_links(path: Path, kept: NDArray[np.bool_], labels: pa.Table, lines: NDArray[np.int64] | None = None) -> None:
    """Write links; `lines` says which record each row is about where they are not in the source's order."""
    lines = np.arange(len(kept), dtype=np.int64) if lines is None else lines
    columns = [number_array(kept), number_array(lines), *labels.columns]
    table = pa.table(columns, names=[KEPT, LINE, *labels.column_names])
    pyarrow.parquet.write_table(table, path, compression="zstd")


def read_links(path: Path) -> Links:
    """Links as they were written. Those of medveil 0.1 have no lines: they are in the source's order."""
    table = pyarrow.parquet.read_table(path)
    names = table.column_names
    numbered = names[1:2] == [LINE]
    if numbered:
        lines = numpy_of(table.column(1))
        if not np.array_equal(lines, np.arange(len(lines))):
            table = table.take(number_array(np.argsort(lines, kind="stable")))
    labels = table.select(list(range(2 if numbered else 1, len(names))))
    return Links(numpy_of(table.column(0)), labels)
