"""What is published for cells, as it goes to a cluster: as maps of single columns wherever a label depends on one
column alone, as it does where a whole column is generalized to one level. Maps are small, however many cells there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.interface import COUNT
from medveil.table.arrow import number_array, numpy_of

_AT_ONCE = 10_000
"""How often one line of a table is repeated at most: a line that stands for more is split before it travels."""


def places(columns: Sequence[object]) -> list[str]:
    """Internal names of published columns: p0, p1, ..."""
    return [f"p{j}" for j in range(len(columns))]


@dataclass(frozen=True)
class ColumnMap:
    """What is published for each value of a column, columns k and p; None where it is the value itself."""

    table: pa.Table | None


def column_maps(cells: pa.Table, labels: Sequence[pa.Array], kept: NDArray[np.bool_]) -> list[ColumnMap] | None:
    """A map for each column; None where the label of a kept cell does not depend on one column alone."""
    maps = []
    chosen = np.flatnonzero(kept)
    for j, label in enumerate(labels):
        key = cells[f"q{j}"]
        keys, shown = _numbers(key)[chosen], _numbers(label)[chosen]
        _, first = np.unique(keys, return_index=True)
        pairs = keys.astype(np.int64) * (int(shown.max(initial=0)) + 1) + shown
        if len(np.unique(pairs)) != len(first):
            return None
        lines = number_array(chosen[first])
        table = pa.table({f"k{j}": _plain(key.take(lines)), f"p{j}": _plain(label.take(lines))})
        same = table[f"k{j}"].type == table[f"p{j}"].type and table[f"k{j}"].to_pylist() == table[f"p{j}"].to_pylist()
        maps.append(ColumnMap(None if same else table))
    return maps


def _numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
    """Values as numbers from 0, the missing one 0."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    known = coded.indices.cast(pa.int32())
    return numpy_of(known.fill_null(number_array(np.array([-1], dtype=np.int32))[0])) + 1


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def labelled(cells: pa.Table, columns: Sequence[str], labels: Sequence[pa.Array], kept: NDArray[np.bool_]) -> pa.Table:
    """Cells with what is published for them."""
    keys = [f"q{j}" for j in range(len(columns))]
    return pa.table(
        [*(cells[key] for key in keys), *labels, number_array(kept)], names=[*keys, *places(labels), "kept"]
    )


def in_pieces(table: pa.Table, counts: NDArray[np.int64]) -> pa.Table:
    """A table with how often each line is to be repeated, no line more often than is good for one worker."""
    pieces = -(-counts // _AT_ONCE)
    line = np.repeat(np.arange(len(counts)), pieces)
    first = np.repeat(np.cumsum(pieces) - pieces, pieces)
    times = np.minimum(counts[line] - (np.arange(len(line)) - first) * _AT_ONCE, _AT_ONCE).astype(np.int64)
    return table.take(number_array(line)).append_column(COUNT, number_array(times))
