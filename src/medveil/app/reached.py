"""What a table reaches of each privacy model as it is, whatever was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from medveil.cells import Cells, CellsElsewhere
from medveil.codes.combine import combine
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.count import count_classes
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import Reference
from medveil.privacy.sensitive import SensitiveModel
from medveil.privacy.t_closeness import TCloseness

OF_GROUPS = KAnonymity(k=1)
OF_VALUES: Mapping[str, SensitiveModel] = {
    "distinct l-diversity": LDiversity(variant="distinct", l=1),
    "entropy l-diversity": LDiversity(variant="entropy", l=1),
    "t-closeness": TCloseness(t=1),
    "alpha-k-anonymity": AlphaKAnonymity(alpha=1, k=1),
    "beta-likeness": BetaLikeness(beta=1),
    "delta-disclosure": DeltaDisclosure(delta=1),
}
"""Models that are counted in groups; what a table reaches does not depend on what is asked of it here."""


@dataclass(frozen=True)
class ReachedFigures:
    """What a table reaches of one model, in the model's own figures; `attribute` is the sensitive one it is about."""

    model: str
    figures: Mapping[str, float]
    attribute: str | None = None


def reached(cells: Cells, reference: Reference) -> tuple[ReachedFigures, ...]:
    """What the groups of records with the same quasi-identifiers reach; `reference` is the distribution of all.

    k: the least number of people in a group. l: the least number of values in one, or the exponential of their least
    entropy. t: the greatest distance of a group's values from those of all. The others as their models say.
    """
    if not cells.records:
        return ()
    if cells.elsewhere is not None:
        return _reached_elsewhere(cells.elsewhere)
    first, group = combine(list(cells.codes), [len(cells.domains[name]) for name in cells.quasi], len(cells))
    classes = count_classes(cells, group, len(first))
    found = [ReachedFigures(OF_GROUPS.name, OF_GROUPS.achieved(classes, reference))]
    for attribute in cells.sensitive:
        for name, model in OF_VALUES.items():
            figures = model.for_attribute(attribute).achieved(classes, reference)
            found.append(ReachedFigures(name, figures, attribute))
    return tuple(found)


def _reached_elsewhere(cells: CellsElsewhere) -> tuple[ReachedFigures, ...]:
    """What queries tell of the groups: how many people and how many values there are at least."""
    names = [name for name in cells.domains if name not in cells.quasi]
    groups = [np.arange(len(cells.domains[name]), dtype=np.int32) for name in cells.quasi]
    people, values = cells.coded.least(groups, range(len(names)))
    found = [ReachedFigures(OF_GROUPS.name, {"k": people})]
    return (*found, *(ReachedFigures("distinct l-diversity", {"l": values[j]}, name) for j, name in enumerate(names)))
