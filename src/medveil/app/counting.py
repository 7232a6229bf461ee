"""Cells of a frame in memory, counted where its columns lie: no row is copied, and nothing is written to disk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.cells import Cells, make_cells
from medveil.codes.rank import rank_combinations
from medveil.engine import as_texts
from medveil.errors import InputError
from medveil.run import Run, Stage
from medveil.sources.frame import FrameSource
from medveil.table.arrow import number_array, numpy_of


def count_frame(source: FrameSource, quasi: Sequence[str], sensitive: Sequence[str], run: Run) -> Cells:
    """The distinct tuples of these columns with their counts.

    Columns are numbered as they are typed. Only their distinct values are made texts, as an engine makes them of any
    other data; values that are the same text then have the same code.
    """
    names = (*quasi, *sensitive)
    run.step(Stage.COUNT)
    columns = [_numbered(source.table.column(source.position(name))) for name in names]
    codes = [numpy_of(column.indices) for column in columns]
    ranks, first = rank_combinations(codes, None, source.table.num_rows)
    texts = _texts([column.dictionary for column in columns], source, run)
    cells = {
        f"q{place}": text.take(number_array(mine[first]))
        for place, (text, mine) in enumerate(zip(texts, codes, strict=True))
    }
    counts: NDArray[np.int64] = np.bincount(ranks, minlength=len(first)).astype(np.int64)
    return make_cells(pa.table({**cells, "records": number_array(counts)}), quasi, sensitive, {})


def _numbered(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column as numbers of its distinct values, the missing one among them."""
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_nested(whole.type):
        raise InputError("A column of the frame holds lists or records.", "Flatten it, or name other columns.")
    if not pa.types.is_dictionary(whole.type):
        return whole.dictionary_encode(null_encoding="encode")
    if not whole.null_count:
        return whole if pa.types.is_int32(whole.indices.type) else _with_int32(whole)
    codes = whole.indices.cast(pa.int32()).fill_null(len(whole.dictionary))
    values = pa.concat_arrays([whole.dictionary, pa.nulls(1, whole.dictionary.type)])
    return pa.DictionaryArray.from_arrays(codes, values)


def _with_int32(column: pa.DictionaryArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), column.dictionary)


def _texts(values: Sequence[pa.Array], source: FrameSource, run: Run) -> list[pa.Array]:
    """The texts of the distinct values of each column, as an engine reads them; the shorter ones are filled up."""
    longest = max((len(one) for one in values), default=0)
    names = [f"c{place}" for place in range(len(values))]
    filled = [pa.concat_arrays([one, pa.nulls(longest - len(one), one.type)]) for one in values]
    small = FrameSource(tuple(names), source.missing, pa.table(filled, names=names))
    read = as_texts(small, names, run.interrupting)
    return [read[name].combine_chunks().slice(0, len(one)) for name, one in zip(names, values, strict=True)]
