"""Cells that a spreadsheet would take for formulas and run when a file is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.table.arrow import number_array, numpy_of, text_array

_BEGINS = "^[=@\t\r]"
_SIGNED = "^[+-]"
_NUMBER = "^[+-][0-9.,]*([eE][+-]?[0-9]+)?$"


def formula_cells(table: pa.Table, times: NDArray[np.int64] | None = None) -> int:
    """How many cells of a table of texts, names included, begin as formulas do: with `=`, `@`, a tab or a line end, or
    with a sign and no number. `times`: how many rows each line stands for, where that is not one.

    >>> table = pa.table({"a": ["=1+1", "-5", "+x", None, "=1+1"], "=b": ["1", "2", "3", "4", "5"]})
    >>> formula_cells(table), formula_cells(table.set_column(0, "a", table["a"].dictionary_encode()))
    (4, 4)
    >>> formula_cells(table.slice(0, 3), np.array([10, 1, 1]))
    12
    """
    names = _number(_are_formulas(text_array(table.column_names)))
    if times is None:
        return names + sum(_number(found) for column in table.columns for found in _found(column))
    return names + sum(_weighed(list(_found(column)), times) for column in table.columns)


def _found(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Which entries begin as formulas do, chunk by chunk. Of a dictionary every value is looked at once."""
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            yield _are_formulas(chunk)
            continue
        found = _are_formulas(chunk.dictionary)
        yield found.take(chunk.indices) if _number(found) else pa.nulls(len(chunk), pa.bool_())


def _weighed(found: Sequence[pa.Array], times: NDArray[np.int64]) -> int:
    if not any(map(_number, found)):
        return 0
    flags = pc.fill_null(pa.chunked_array(found, pa.bool_()), number_array(np.zeros(1, dtype=np.bool_))[0])
    return int(times[numpy_of(flags)].sum())


def _number(found: pa.Array | pa.ChunkedArray) -> int:
    return int(pc.sum(found).as_py() or 0)


def _are_formulas(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return pa.nulls(len(texts), pa.bool_())
    signed = pc.and_(pc.match_substring_regex(texts, _SIGNED), pc.invert(pc.match_substring_regex(texts, _NUMBER)))
    return pc.or_(pc.match_substring_regex(texts, _BEGINS), signed)
