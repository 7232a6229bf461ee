"""Reading a release back as its distinct rows, each with how often it is there.

A release has far fewer of them than rows, so that what is read some rows at a time takes little memory, however long
the release is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.release.manifest import Manifest
from medveil.release.reading import TEXT, convert_options, with_numbers
from medveil.system import return_memory
from medveil.table.arrow import number_array, numpy_of

_BLOCK = 1 << 24
"""How many bytes of a CSV file are read at a time."""
_ROWS = 1 << 18
"""How many rows of a Parquet file are read at a time."""

Counted = tuple[pa.Table, NDArray[np.int64]]


def read_counted(folder: Path, manifest: Manifest) -> Counted:
    """The distinct published rows in the order in which they first appear, columns as `read_release` gives them, and
    how many rows each of them is.
    """
    names = [attribute["name"] for attribute in manifest.attributes]
    whole: Counted | None = None
    waiting: list[Counted] = []
    for path in manifest.published(folder):
        for table in _pieces(path, names):
            waiting.append(_distinct([(table, np.ones(table.num_rows, dtype=np.int64))]))
            known = 0 if whole is None else whole[0].num_rows
            # As long as the pieces hold fewer rows than are known by now, going through these again costs more.
            if sum(piece.num_rows for piece, _ in waiting) > known + _ROWS:
                whole, waiting = _distinct([*([] if whole is None else [whole]), *waiting]), []
    table, times = _distinct([*([] if whole is None else [whole]), *waiting])
    return_memory()
    return with_numbers(table, manifest), times


def _pieces(path: Path, names: list[str]) -> Iterator[pa.Table]:
    """Some rows of a file at a time, in its order. Each piece has dictionaries of its own."""
    if path.suffix == ".parquet":
        with pa.parquet.ParquetFile(path) as file:
            empty = file.schema_arrow.empty_table()
            yield empty
            for batch in file.iter_batches(_ROWS):
                yield pa.Table.from_batches([batch])
        return
    kind = pa.dictionary(pa.int32(), TEXT)
    with pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=_BLOCK),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=convert_options(names, kind),
        memory_pool=pa.system_memory_pool(),
    ) as reader:
        yield reader.schema.empty_table()
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _distinct(pieces: list[Counted]) -> Counted:
    """The distinct rows of some pieces, one after the other; a column of texts is a dictionary."""
    together = pa.concat_tables([table for table, _ in pieces])
    columns = [_encoded(column) for column in together.columns]
    codes = [_codes(column) for column in columns]
    first, number = combine(codes, [len(column.dictionary) + 1 for column in columns], together.num_rows)
    times = np.bincount(number, np.concatenate([times for _, times in pieces]), minlength=len(first))
    order = np.argsort(first)
    chosen = number_array(first[order])
    kept = [
        column.take(chosen) if pa.types.is_string(column.type.value_type) else column.take(chosen).dictionary_decode()
        for column in columns
    ]
    return pa.table(kept, names=together.column_names), times[order].astype(np.int64)


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    return whole if isinstance(whole, pa.DictionaryArray) else whole.chunk(0)


def _codes(column: pa.DictionaryArray) -> NDArray[np.int32]:
    """Numbers from 0, the missing value 0."""
    nothing = number_array(np.array([-1], dtype=np.int32))[0]
    return numpy_of(column.indices.cast(pa.int32()).fill_null(nothing)) + 1
