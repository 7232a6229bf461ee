"""Data frames of any library that narwhals knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from medveil.errors import InputError
from medveil.sources.source import MISSING, Source, SourceSpec, check_names
from medveil.workspace import Workspace


@dataclass(frozen=True)
class FrameSource(Source):
    """A table in memory."""

    table: pa.Table

    def batches(self) -> pa.RecordBatchReader:
        return self.table.rename_columns(list(self.names)).to_reader()


def open_frame(frame: Any, missing: Collection[str], columns: Collection[str] | None = None) -> FrameSource:
    """A frame as a source; with `columns` only these are read, as far as the frame has them."""
    table = to_arrow(frame, columns)
    return FrameSource(check_names(table.column_names, "The frame"), MISSING | frozenset(missing), table)


class FrameSpec(SourceSpec):
    """A data frame: pandas, polars, Arrow or any other that narwhals knows. For policies made in Python."""

    name: ClassVar[str] = "frame"
    frame: Annotated[Any, Field(exclude=True, description="The frame; it is not written down with the policy.")]

    def open(self, workspace: Workspace) -> Source:  # noqa: ARG002 - it has no path
        return open_frame(self.frame, self.missing)


def to_arrow(frame: Any, columns: Collection[str] | None = None) -> pa.Table:
    """A frame as an Arrow table, or these columns of it; a row index is not part of the data."""
    import narwhals as nw  # noqa: PLC0415

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, Mapping):
        return pa.table({str(name): _array(values) for name, values in frame.items()})
    if not hasattr(frame, "collect"):  # narwhals refuses equal names in words of its own
        check_names([str(name) for name in getattr(frame, "columns", ())], "The frame")
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"A {type(frame).__name__} is not a table that medveil can read.",
            "Give a path, or a pandas, polars or Arrow table.",
        ) from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    wanted = [name for name in eager.columns if columns is None or str(name) in columns]
    return pa.table([_column(eager[name]) for name in wanted], names=[str(name) for name in wanted])


def _column(series: Any) -> pa.Array:
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of mixed Python objects; its error would show a value
        return _texts(series.to_list())


def _array(values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _texts(values)


def _texts(values: Iterable[Any]) -> pa.Array:
    """Mixed Python objects as text."""
    return pa.array(
        [None if item is None or str(item) in {"nan", "NaT", "<NA>"} else str(item) for item in values],
        pa.string(),
    )
