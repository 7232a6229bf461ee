"""Which requirements Mondrian's kernels count themselves, and what they need to know for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medveil.cells import Cells
from medveil.methods.mondrian.arrays import LeastCounts, Places
from medveil.privacy.model import PrivacyModel


def make_least_counts(
    models: Sequence[PrivacyModel], cells: Cells, point_of_cell: Places
) -> tuple[LeastCounts, list[PrivacyModel]]:
    """The least counts of models that count people and distinct values alone, and the models that ask for more.

    The first ask for a least number of different things (records, people, sensitive values) in each class.
    """
    size = 1
    needs: dict[str | None, int] = {}  # by sensitive attribute; None stands for people
    others: list[PrivacyModel] = []
    for model in models:
        people = model.least_class_size or 1
        size = max(size, people)  # so many people have at least so many records, whatever else is asked
        if model.distinct_needs is None:
            if model not in others:
                others.append(model)
            continue
        if cells.subjects is not None and people > 1:
            needs[None] = max(needs.get(None, 1), people)
        for about, values in model.distinct_needs.items():
            needs[about] = max(needs.get(about, 1), values)

    points, tokens, types = [], [], [0]
    for attribute in needs:
        if attribute is not None:
            points.append(point_of_cell)
            tokens.append(cells.sensitive[attribute].astype(np.int64) + types[-1])
            types.append(types[-1] + len(cells.domains[attribute]))
        elif cells.subjects is not None:
            points.append(np.repeat(point_of_cell, np.diff(cells.subjects.offsets)))
            tokens.append(cells.subjects.codes.astype(np.int64) + types[-1])
            types.append(types[-1] + cells.subjects.count)
    number = int(point_of_cell.max()) + 1
    nothing = np.zeros(0, dtype=np.int64)
    keys = np.unique(np.concatenate([nothing, *points]) * types[-1] + np.concatenate([nothing, *tokens]))
    least = LeastCounts(
        size=size,
        offsets=np.searchsorted(keys, np.arange(number + 1, dtype=np.int64) * types[-1]).astype(np.int64),
        tokens=keys % types[-1] if types[-1] else keys,
        types=np.array(types, dtype=np.int64),
        needs=np.array(list(needs.values()), dtype=np.int64),
    )
    return least, others
