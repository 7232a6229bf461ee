"""Dates that tell a year or a month and no day, as FHIR may have them: missing, and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from medveil.engine import Engine
from medveil.run import Run
from medveil.table.arrow import numpy_of
from medveil.table.dates import without_parts
from medveil.table.schema import Kind


def warn_of_partial_dates(engine: Engine, columns: Sequence[str], kinds: Mapping[str, Kind | None], run: Run) -> None:
    """Tell in how many records a date of a counted column tells no day."""
    for name in columns:
        if kinds.get(name) is not Kind.DATE:
            continue
        values = engine.values(name)
        texts = values["value"].to_pylist()
        whole = set(without_parts([text for text in texts if text is not None]))
        parts = np.array([text is not None and text not in whole for text in texts], dtype=bool)
        records = int(numpy_of(values["records"])[parts].sum())
        if records:
            run.warn(f"'{name}' has only a year or a month in {records:,} records: it counts as missing there.")
