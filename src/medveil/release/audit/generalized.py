"""What a hierarchy, as the manifest describes it, makes of values. Only claims about generalization itself need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from medveil.errors import MedveilError
from medveil.hierarchy import builders
from medveil.hierarchy.hierarchy import ROOT
from medveil.release.audit.context import CannotTell
from medveil.release.audit.evidence import Evidence
from medveil.table.domain import Domain

Labels = tuple[str | None, ...]
Counts = NDArray[np.int64]


def levels(evidence: Evidence, name: str, domain: Domain, counts: Counts) -> list[Labels]:
    """What each value of the domain is called at each level, from the values themselves to the root.

    Where a hierarchy reads its groups off the data, they are those of this domain, with `counts` records each.
    """
    description = evidence.described(name).get("hierarchy")
    if description is None:
        return [domain.values, (ROOT,) * len(domain)]
    return _bound(evidence, name, domain, counts, description)


def published_labels(evidence: Evidence, name: str, domain: Domain, counts: Counts) -> Labels:
    """What each value of the domain is called at the level that was published."""
    level = evidence.described(name).get("level")
    if level is None:
        raise CannotTell(f"'{name}' was not generalized to one level, so others' values have no one label in it")
    known = levels(evidence, name, domain, counts)
    if not isinstance(level, int) or level not in range(len(known)):
        raise CannotTell(f"the hierarchy of '{name}' has no level {level}")
    return known[level]


def _bound(
    evidence: Evidence, name: str, domain: Domain, counts: Counts, description: Mapping[str, Any]
) -> list[Labels]:
    builder = builders().get(str(description.get("type")))
    if builder is None:
        raise CannotTell(f"the manifest describes a hierarchy of '{name}' that is not known here")
    try:
        hierarchy = builder.model_validate(dict(description)).bind(domain, name, evidence.base, counts)
    except (MedveilError, ValidationError) as error:
        reason = error.problem if isinstance(error, MedveilError) else "its description is not complete"
        raise CannotTell(f"the hierarchy of '{name}' cannot be built: {reason}") from None
    return [tuple(level.labels[group] for group in level.groups) for level in hierarchy.levels]
