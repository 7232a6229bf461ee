"""A hierarchy proposed for a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from medveil.cells import make_cells
from medveil.guessing.code_trees import find_code_tree
from medveil.guessing.guess import guess
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.propose import facts_of, propose
from medveil.hierarchy.specification import HierarchySpec
from medveil.run import Run, Stage
from medveil.sources.opening import open_source


@dataclass(frozen=True)
class Proposal:
    """A hierarchy as a policy would declare it, and bound to a column's values."""

    specification: HierarchySpec
    bound: Hierarchy

    def to_dict(self) -> dict[str, Any]:
        """What the policy would say."""
        return self.specification.to_dict()


def hierarchy(data: Any, column: str, *, run: Run | None = None, **options: Any) -> Proposal:
    """A hierarchy for one column of a table. `options` say how a file is read."""
    run = run or Run()
    run.step(Stage.READ)
    source = open_source(data, **options)
    source.position(column)
    with run.stoppable(), run.engine(source, [column]) as engine:
        run.step(Stage.COUNT)
        raw = engine.cells([column])
        guessed = guess(engine.profile(column))
    tree = find_code_tree([value for value in raw["q0"].to_pylist() if value is not None], guessed.concept)
    cells = make_cells(raw, [column], [], {column: tree.kinds[0] if tree else None})
    domain = cells.domains[column]
    concept = guessed.concept if guessed.kind is domain.kind else ""
    specification = tree or propose(facts_of(domain, concept), declare_domain=True) or Flat()
    counts = np.bincount(cells.codes[0], cells.counts).astype(np.int64)
    return Proposal(specification, specification.bind(domain, column, run.workspace, counts))
