"""Cells of a frame in memory, counted where its columns lie: no row is copied, and nothing is written to disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.cells import Cells, make_cells
from medveil.codes.rank import rank_combinations
from medveil.engine import as_texts
from medveil.errors import InputError
from medveil.run import Run, Stage
from medveil.sources.frame import FrameSource
from medveil.sources.source import SPACES
from medveil.table.arrow import number_array, numpy_of, text_array


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
    """The texts of the distinct values of each column, as an engine reads them."""
    others = [one for one in values if not _is_text(one)]
    written = iter(_written(others, source, run) if others else ())
    return [_trimmed(one, source.missing) if _is_text(one) else next(written) for one in values]


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _trimmed(texts: pa.Array, missing: Collection[str]) -> pa.Array:
    """What an engine makes of texts, which it need not be started for: that takes longer than to count a small frame.

    >>> _trimmed(text_array([" a", "?", None]), {"?"}).to_pylist()
    ['a', None, None]
    """
    trimmed = pc.utf8_trim(texts.cast(pa.string()), characters=SPACES)
    markers = pc.is_in(trimmed, value_set=text_array(sorted(missing)))
    return pc.if_else(markers, pa.nulls(len(trimmed), pa.string()), trimmed)


def _written(values: Sequence[pa.Array], source: FrameSource, run: Run) -> list[pa.Array]:
    """What an engine writes of other values; columns are filled up to the longest of them."""
    longest = max(len(one) for one in values)
    names = [f"c{place}" for place in range(len(values))]
    filled = [pa.concat_arrays([one, pa.nulls(longest - len(one), one.type)]) for one in values]
    small = FrameSource(tuple(names), source.missing, pa.table(filled, names=names))
    read = as_texts(small, names, run.interrupting)
    return [read[name].combine_chunks().slice(0, len(one)) for name, one in zip(names, values, strict=True)]
