"""Whether published rows stand in the order of what they publish: any other order may be that of the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.auditor.published import ReleaseFiles
from medveil.table.arrow import number_array, numpy_of

BATCH = 100_000
Flags = NDArray[np.bool_]


def descents(connection: duckdb.DuckDBPyConnection, release: ReleaseFiles, made: Sequence[str] = ()) -> int:
    """How many rows come after one that they should stand before; the file is read once, some rows at a time.

    Rows are ordered column by column in the order of the file: texts by their bytes, missing values last. Columns
    that a method `made`, such as numbers of classes, may be ordered as numbers instead.
    """
    found = _descents(connection, release, ())
    return found and min(found, _descents(connection, release, made) if made else found)


def _descents(connection: duckdb.DuckDBPyConnection, release: ReleaseFiles, numbers: Sequence[str]) -> int:
    columns = [
        f"TRY_CAST(f{i} AS BIGINT) AS f{i}" if name in numbers else f"f{i}" for i, name in enumerate(release.names)
    ]
    reader = connection.sql(f"SELECT {', '.join(columns)} FROM {release.relation}").to_arrow_reader(BATCH)
    return sum(int(np.count_nonzero(_falls(pair, before))) for pair, before in _pairs(reader))


def _pairs(reader: pa.RecordBatchReader) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Rows, and for each the row before it."""
    last: pa.Table | None = None
    for batch in reader:
        here = pa.Table.from_batches([batch])
        rows = here if last is None else pa.concat_tables([last, here]).combine_chunks()
        yield rows.slice(1), rows.slice(0, max(rows.num_rows - 1, 0))
        last = here.slice(max(here.num_rows - 1, 0)) if here.num_rows else last


def _falls(rows: pa.Table, before: pa.Table) -> Flags:
    """Which rows are less than the row before them."""
    falls = np.zeros(rows.num_rows, dtype=np.bool_)
    equal = np.ones(rows.num_rows, dtype=np.bool_)
    for here, there in zip(rows.columns, before.columns, strict=True):
        if not equal.any():
            break
        less = _true(pc.less(here, there)) | (_true(pc.is_valid(here)) & _true(pc.is_null(there)))
        same = _true(pc.equal(here, there)) | (_true(pc.is_null(here)) & _true(pc.is_null(there)))
        falls |= equal & less
        equal &= same
    return falls


def _true(flags: pa.ChunkedArray) -> Flags:
    return numpy_of(pc.fill_null(flags, number_array(np.zeros(1, dtype=np.bool_))[0]))
