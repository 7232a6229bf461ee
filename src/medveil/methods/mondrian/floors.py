"""Which requirements Mondrian's kernels count themselves, and what they need to know for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medveil.cells import Cells
from medveil.methods.mondrian.desk import Floors, Places
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import PrivacyModel


def make_floors(
    models: Sequence[PrivacyModel], cells: Cells, point_of_cell: Places
) -> tuple[Floors, list[PrivacyModel]]:
    """Floors for k-anonymity and distinct l-diversity, and the models that they do not speak for.

    Both ask for a least number of different things (records, people, sensitive values) in each class.
    """
    size = 1
    needs: dict[str | None, int] = {}  # by sensitive attribute; None stands for people
    others: list[PrivacyModel] = []
    for model in models:
        if isinstance(model, KAnonymity) and cells.subjects is None:
            size = max(size, model.k)
        elif isinstance(model, KAnonymity):
            size = max(size, model.k)  # k people have at least k records
            needs[None] = max(needs.get(None, 1), model.k)
        elif isinstance(model, LDiversity) and model.variant == "distinct":
            needs[model.about()] = max(needs.get(model.about(), 1), int(model.l))
        elif model not in others:
            others.append(model)

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
    floors = Floors(
        size=size,
        offsets=np.searchsorted(keys, np.arange(number + 1, dtype=np.int64) * types[-1]).astype(np.int64),
        tokens=keys % types[-1] if types[-1] else keys,
        types=np.array(types, dtype=np.int64),
        needs=np.array(list(needs.values()), dtype=np.int64),
    )
    return floors, others
