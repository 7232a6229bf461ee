"""Between Arrow, numpy and Python without pandas.

pyarrow's own conversions (`pa.array`, `pa.scalar`, `to_numpy`) import pandas wherever it is installed, to recognize its
missing values: 0.2 s of every command, which holds none. These go by Arrow's buffers instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def text_array(values: Iterable[str | None]) -> pa.Array:
    """An Arrow array of texts; None is null.

    >>> text_array(["a", None, "déjà"]).to_pylist(), text_array([]).type
    (['a', None, 'déjà'], DataType(string))
    """
    given = list(values)
    encoded = [b"" if value is None else value.encode() for value in given]
    offsets = np.zeros(len(given) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(given)), out=offsets[1:])
    known = np.fromiter((value is not None for value in given), np.bool_, len(given))
    buffers = [_bitmap(known), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(given), buffers).cast(pa.string())


def number_array(values: NDArray[Any], *, missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """An Arrow array of numbers or truth values, not copied where it need not be; null where `missing`.

    >>> number_array(np.arange(3), missing=np.array([False, True, False])).to_pylist()
    [0, None, 2]
    """
    known = None if missing is None or not missing.any() else _bitmap(~missing)
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(values), [known, _packed(values)])
    kept = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kept.dtype), len(kept), [known, pa.py_buffer(kept)])


def numpy_of(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The numbers or truth values of an Arrow array that has no nulls, not copied where it need not be.

    >>> numpy_of(number_array(np.array([True, False, True]))[1:]).tolist()
    [False, True]
    """
    if isinstance(values, pa.ChunkedArray):
        if values.num_chunks != 1:
            parts = [numpy_of(chunk) for chunk in values.chunks]
            return np.concatenate(parts) if parts else np.zeros(0, dtype=values.type.to_pandas_dtype())
        values = values.chunk(0)
    if values.null_count:
        raise TypeError("an Arrow array with nulls has no numpy array of the same type")
    if pa.types.is_boolean(values.type):
        return numpy_of(values.cast(pa.uint8())).astype(np.bool_)
    dtype = np.dtype(values.type.to_pandas_dtype())
    buffer = values.buffers()[1]
    if not len(values) or buffer is None:
        return np.zeros(0, dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=len(values), offset=values.offset * dtype.itemsize)


def encoded_texts(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str | None]]:
    """A column of texts, plain or in a dictionary, as codes and the texts that they stand for: those that occur, None
    among them where one is missing.

    >>> codes, texts = encoded_texts(pa.chunked_array([text_array(["b", None, "b"]).dictionary_encode()]))
    >>> codes.tolist(), texts
    ([0, 1, 0], ['b', None])
    """
    if not pa.types.is_dictionary(column.type):
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        return numpy_of(encoded.indices), encoded.dictionary.to_pylist()
    encoded = column.unify_dictionaries().combine_chunks()
    texts = [*encoded.dictionary.to_pylist(), None]
    nothing = number_array(np.array([len(texts) - 1], dtype=np.int32))[0]
    codes = numpy_of(encoded.indices.cast(pa.int32()).fill_null(nothing))
    # What a filter has left nothing of is not a value of this column.
    used, found = np.unique(codes, return_inverse=True)
    return found.astype(np.int32), [texts[code] for code in used.tolist()]


def _bitmap(known: NDArray[np.bool_]) -> pa.Buffer | None:
    """Arrow's bitmap of what is not null; None where nothing is."""
    return None if known.all() else _packed(known)


def _packed(bits: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(bits, bitorder="little"))
