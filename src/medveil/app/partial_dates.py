"""Dates that tell a year or a month and no day, as FHIR may have them: missing, and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from medveil.run import Run
from medveil.table.arrow import encoded_texts, numpy_of
from medveil.table.dates import without_parts
from medveil.table.schema import Kind


def warn_of_partial_dates(raw: pa.Table, columns: Sequence[str], kinds: Mapping[str, Kind | None], run: Run) -> None:
    """Tell in how many records of the engine's distinct tuples a date of a counted column tells no day."""
    for position, name in enumerate(columns):
        if kinds.get(name) is not Kind.DATE:
            continue
        indices, texts = encoded_texts(raw[f"q{position}"])
        whole = set(without_parts([text for text in texts if text is not None]))
        parts = np.array([text is not None and text not in whole for text in texts], dtype=bool)
        records = int(numpy_of(raw["records"])[parts[indices]].sum()) if parts.any() else 0
        if records:
            run.warn(f"'{name}' tells a year or a month and no day in {records:,} records, and is missing there.")
