"""Noisy one-way marginals that are published beside a table: how many records have each value of each column.

Recipients spread a label over the values that it covers in proportion to these numbers, where evenly would be far off:
half of all stays in hospital are a single day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MARGINALS = "marginals.csv"
COLUMNS = ("attribute", "value", "records")


def to_table(columns: Mapping[str, tuple[Sequence[str | None], NDArray[np.int64]]]) -> pa.Table:
    """Lines of attribute, value and number of records, in the order of the declared domains; a value without a line
    has none.

    >>> to_table({"sex": (["F", "M"], np.array([7, 0]))}).to_pylist()
    [{'attribute': 'sex', 'value': 'F', 'records': 7}]
    """
    lines = [
        (name, label, records)
        for name, (labels, counts) in columns.items()
        for label, records in zip(labels, counts.tolist(), strict=True)
        if records > 0
    ]
    types = (pa.string(), pa.string(), pa.int64())
    arrays = [pa.array([line[position] for line in lines], kind) for position, kind in enumerate(types)]
    return pa.table(arrays, names=list(COLUMNS))


def records_by_value(marginals: pa.Table | None, name: str) -> dict[str | None, float]:
    """What a table of marginals says of one column; nothing where it does not speak of it."""
    if marginals is None or not set(COLUMNS) <= set(marginals.column_names):
        return {}
    attributes, values, records = (marginals[key].to_pylist() for key in COLUMNS)
    return {
        value or None: float(number)
        for attribute, value, number in zip(attributes, values, records, strict=True)
        if attribute == name
    }
