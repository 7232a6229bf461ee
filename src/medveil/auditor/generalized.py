"""What a hierarchy, as the manifest describes it, makes of values: for claims about generalization itself, and to tell
whether a release is the source's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from medveil.auditor.context import CannotTell, NotOurs
from medveil.auditor.evidence import Evidence
from medveil.errors import MedveilError
from medveil.hierarchy import own_builders
from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.hierarchy.specification import HierarchySpec
from medveil.release.manifest import file_hash
from medveil.release.places import HIERARCHY_HASH, hierarchy_file
from medveil.table.domain import Domain

Labels = tuple[str | None, ...]
Counts = NDArray[np.int64]


def levels(evidence: Evidence, name: str, domain: Domain, counts: Counts | None = None) -> list[Labels]:
    """What each value of the domain is called at each level, from the values themselves to the root.

    Where a hierarchy reads its groups off the data, they are those of this domain, with `counts` records each
    where that matters.
    """
    if evidence.described(name).get("hierarchy") is None:
        return [domain.values, (ROOT,) * len(domain)]
    hierarchy = built(evidence, name, domain, counts)
    return [tuple(level.labels[group] for group in level.groups) for level in hierarchy.levels]


def published_labels(evidence: Evidence, name: str, domain: Domain, counts: Counts) -> Labels:
    """What each value of the domain is called at the level that was published."""
    level = evidence.described(name).get("level")
    if level is None:
        raise CannotTell(f"'{name}' was not generalized to one level, so others' values have no one label in it")
    known = levels(evidence, name, domain, counts)
    if not isinstance(level, int) or level not in range(len(known)):
        raise CannotTell(f"the hierarchy of '{name}' has no level {level}")
    return known[level]


def built(evidence: Evidence, name: str, domain: Domain, counts: Counts | None = None) -> Hierarchy:
    """The hierarchy over the values of a domain."""
    try:
        return specification(evidence, name).bind(domain, name, evidence.base, counts)
    except MedveilError as error:
        raise CannotTell(f"the hierarchy of '{name}' cannot be built: {error.problem}") from None


def specification(evidence: Evidence, name: str) -> HierarchySpec:
    """The hierarchy of a column as the manifest describes it; a file that it names must be the one that was used."""
    described = evidence.described(name)
    description = dict(described.get("hierarchy") or {})
    builder = own_builders().get(str(description.get("type")))
    if builder is None:
        raise NotOurs(f"the hierarchy of '{name}' is of a kind that is not medveil's")
    if "type" not in builder.model_fields:
        del description["type"]
    used, place = described.get(HIERARCHY_HASH), hierarchy_file(description)
    if used is not None and place is not None:
        _check_file(name, evidence.base.resolve(place), used)
    try:
        return builder.model_validate(description)
    except ValidationError:
        raise CannotTell(f"the hierarchy of '{name}' cannot be built: its description is not complete") from None


def _check_file(name: str, path: Path, used: str) -> None:
    try:
        found = file_hash(path)
    except (OSError, ValueError):
        raise CannotTell(
            f"needs the hierarchy file of '{name}', '{path.name}', where the policy named it or beside the source"
        ) from None
    if found != used:
        raise CannotTell(f"the hierarchy file of '{name}' is not the one that the release was made with")
