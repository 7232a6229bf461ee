"""A hierarchy proposed for a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from medveil.cells import make_cells
from medveil.engine import open_engine
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.propose import propose
from medveil.hierarchy.specification import HierarchySpec
from medveil.table.source import open_source


def hierarchy(data: Any, column: str, **options: Any) -> tuple[HierarchySpec, Hierarchy]:
    """A hierarchy for one column, as a policy would declare it, and bound to the column's values."""
    source = open_source(data, **options)
    source.position(column)
    with open_engine(source, [column]) as engine:
        cells = make_cells(engine.cells([column]), [column], [], {})
    domain = cells.domains[column]
    specification = propose(domain, column)
    return specification, specification.bind(
        domain, column, Path(), np.bincount(cells.codes[0], cells.counts).astype(np.int64)
    )
