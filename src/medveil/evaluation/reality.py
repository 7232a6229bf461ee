"""How likely each published record is real, as the catalog of counterfeits tells recipients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, entries_of

if TYPE_CHECKING:
    from medveil.evaluation.comparison import Comparison


def reality(comparison: Comparison) -> NDArray[np.float64]:
    """The probability of each published record to be real, by the catalog where there is one."""
    published = comparison.published
    real = np.ones(published.num_rows)
    catalog = comparison.companions.get(CATALOG)
    sensitive = list(comparison.problem.schema.sensitive)
    if catalog is None or CLASS_ID not in published.column_names:
        return real
    entries = entries_of(catalog, len(sensitive))
    if not entries:
        return real
    numbers = np.asarray(published[CLASS_ID].cast(pa.string()).cast(pa.int64()))
    if entries[0].people:
        by_class = np.ones(int(numbers.max(initial=0)) + 1)
        for entry in entries:
            by_class[list(entry.class_ids)] = entry.real
        return np.asarray(by_class[numbers])
    tuples, code_of = _tuples(comparison, sensitive)
    keys = numbers * (len(code_of) + 1) + tuples
    listed, row = _listed(entries, code_of)
    order = np.argsort(listed)
    place = np.minimum(np.searchsorted(listed[order], keys), len(listed) - 1)
    met = listed[order][place] == keys
    row_of = row[order][place]
    total = comparison.count_rows(row_of[met], len(entries), met)
    share = np.array([entry.count for entry in entries]) / np.maximum(total, 1)
    real[met] = 1.0 - share[row_of[met]]
    return real


def _tuples(
    comparison: Comparison, sensitive: list[str]
) -> tuple[NDArray[np.int64], dict[tuple[str | None, ...], int]]:
    """The number of each published record's tuple of sensitive values, and what the numbers mean."""
    coverage = [comparison.sensitive_coverage[name] for name in sensitive]
    first, of_row = combine([one.codes for one in coverage], [len(one.labels) for one in coverage])
    values = (tuple(one.labels[one.codes[row]] for one in coverage) for row in first.tolist())
    return of_row, {value: number for number, value in enumerate(values)}


def _listed(
    entries: list[Entry], code_of: dict[tuple[str | None, ...], int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The key of each class that a row of the catalog lists with the row's values, and the row."""
    nowhere = len(code_of)
    keys = [
        (number * (len(code_of) + 1) + code_of.get(entry.values, nowhere), row)
        for row, entry in enumerate(entries)
        for number in entry.class_ids
    ]
    found = np.array(keys, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
