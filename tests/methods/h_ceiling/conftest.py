"""Classes made up of nothing but histograms."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from medveil.cells import Cells, make_cells
from medveil.hierarchy.hierarchy import build
from medveil.methods.h_ceiling.holdings import Holdings, sensitive_tuples
from medveil.table.domain import Domain
from medveil.table.schema import Kind


def holdings_of(histograms, groups=None, points=2.0):
    """Classes that hold so many records of each of some values: `histograms[class, value]`."""
    table = np.asarray(histograms, dtype=np.int64)
    owner, value = np.nonzero(table)
    domain = Domain(Kind.CATEGORY, tuple(f"v{i:03d}" for i in range(table.shape[1])))
    codes = np.array([owner], dtype=np.int32)
    cells = Cells(("class",), codes, table[owner, value], {"s": value.astype(np.int32)}, {"s": domain})
    of_class = np.arange(len(table))[None, :] if groups is None else np.asarray(groups)
    return Holdings(
        cells,
        sensitive_tuples(cells),
        owner.astype(np.int32),
        of_class.astype(np.int32),
        np.full(of_class.shape, points),
    )


@pytest.fixture(scope="session")
def make_holdings():
    return holdings_of


def cells_of(records, levels):
    """Cells and hierarchies of records whose last value is sensitive; `levels` are the groups of every other column."""
    counted = Counter(records)
    width = len(records[0])
    columns = {f"q{i}": pa.array([record[i] for record in counted], pa.string()) for i in range(width)}
    columns["records"] = pa.array(list(counted.values()), pa.int64())
    quasi = tuple(f"a{i}" for i in range(width - 1))
    cells = make_cells(pa.table(columns), quasi, ("s",), dict.fromkeys((*quasi, "s"), Kind.CATEGORY))
    hierarchies = []
    for name in quasi:
        values = cells.domains[name].values
        groups = [[level[value] for value in values] for level in levels]
        hierarchies.append(build(values, groups, None, float(len(values)), name))
    return cells, hierarchies


@pytest.fixture(scope="session")
def make_tiny():
    return cells_of
