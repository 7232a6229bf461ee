"""Data frames of any library that narwhals knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from medveil.errors import InputError
from medveil.sources.source import MISSING, Source, SourceSpec, check_names
from medveil.workspace import Workspace


@dataclass(frozen=True)
class FrameSource(Source):
    """A table in memory."""

    table: pa.Table

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        return dict(zip(self.names, self.table.schema.types, strict=True))

    def batches(self) -> pa.RecordBatchReader:
        return self.table.rename_columns(list(self.names)).to_reader()


def open_frame(
    frame: Any, missing: Collection[str], columns: Collection[str] | None = None, *, numbered: bool = False
) -> FrameSource:
    """A frame as a source; with `columns` only these are read, as far as the frame has them. `numbered`: a column of
    Python's texts may come as numbers of its distinct values, which is quicker than copying every text.
    """
    table = to_arrow(frame, columns, numbered=numbered)
    return FrameSource(check_names(table.column_names, "The frame"), MISSING | frozenset(missing), table)


class FrameSpec(SourceSpec):
    """A data frame: pandas, polars, Arrow or any other that narwhals knows. For policies made in Python."""

    name: ClassVar[str] = "frame"
    frame: Annotated[Any, Field(exclude=True, description="The frame; it is not saved with the policy.")]

    def open(self, workspace: Workspace) -> Source:  # noqa: ARG002 - it has no path
        return open_frame(self.frame, self.missing)


def to_arrow(frame: Any, columns: Collection[str] | None = None, *, numbered: bool = False) -> pa.Table:
    """A frame as an Arrow table, or these columns of it; a row index is not part of the data."""
    import narwhals as nw  # noqa: PLC0415

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, Mapping):
        _refuse_odd_names(list(frame))
        return pa.table({name: _array(values) for name, values in frame.items()})
    if not hasattr(frame, "collect"):  # narwhals refuses equal names in words of its own
        names = list(getattr(frame, "columns", ()))
        _refuse_odd_names(names)
        check_names(names, "The frame")
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a table that medveil can read.",
            "Give a path, or a pandas, polars or Arrow table.",
        ) from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    wanted = [name for name in eager.columns if columns is None or name in columns]
    made = [(_numbered(eager[name]) if numbered else None) for name in wanted]
    arrays = [_column(eager[name]) if one is None else one for name, one in zip(wanted, made, strict=True)]
    return pa.table(arrays, names=wanted)


def _refuse_odd_names(names: Sequence[Any]) -> None:
    """Names that are no texts, such as the numbers that pandas gives a file without header, or cannot be written."""
    odd = [str(i + 1) for i, name in enumerate(names) if not isinstance(name, str) or _SURROGATE.search(name)]
    if odd:
        raise InputError(
            f"The frame has columns whose names are not texts (number {', '.join(odd)}).",
            "Give every column a text as its name. If a record became the header, read the file again without one.",
        )


_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character: no file can hold it."""


def _numbered(series: Any) -> pa.DictionaryArray | None:
    """A column of Python's texts as numbers of its distinct values; None where it holds anything else, since objects
    that are equal, such as 1 and True, may be written differently.
    """
    native = series.to_native()
    if str(getattr(native, "dtype", "")) != "object" or not hasattr(native, "factorize"):
        return None
    try:
        codes, values = native.factorize()
        if all(isinstance(value, str) for value in values):
            absent = codes < 0
            numbers = pa.array(codes.astype(np.int32), mask=absent if absent.any() else None)
            return pa.DictionaryArray.from_arrays(numbers, pa.array(values, pa.string()))
    except (TypeError, UnicodeError):  # a value that cannot be hashed, or half a character
        pass
    return None


def _column(series: Any) -> pa.Array:
    # An error would show a value: of mixed Python objects, or of a text that holds half a character.
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        return _texts(series.to_list())


def _array(values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        return _texts(values)


def _texts(values: Iterable[Any]) -> pa.Array:
    """Mixed Python objects as text. Half a character becomes the sign for what cannot be read, and nothing is refused:
    a refusal would tell what the data hold.
    """
    texts = (None if item is None or str(item) in {"nan", "NaT", "<NA>"} else str(item) for item in values)
    return pa.array([None if text is None else _SURROGATE.sub("\ufffd", text) for text in texts], pa.string())
