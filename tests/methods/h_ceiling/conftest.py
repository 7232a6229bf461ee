"""Classes made up of nothing but histograms."""

import numpy as np
import pytest

from medveil.cells import Cells
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
