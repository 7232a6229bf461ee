"""What published labels stand for: which values of the original domain each of them covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import ROOT, Hierarchy
from medveil.table.domain import Domain
from medveil.table.labels import parse_label
from medveil.table.schema import Kind


@dataclass(frozen=True)
class Coverage:
    """For one column: the distinct `labels`, the label of each published row as a `code`, and for each label which
    leaves of the original domain it covers (`leaves[label, leaf]`) and how many leaves of the *declared* domain
    (`covered`, out of `size`).
    """

    labels: tuple[str | None, ...]
    codes: NDArray[np.int32]
    leaves: NDArray[np.bool_]
    covered: NDArray[np.float64]
    size: float


def cover(column: pa.ChunkedArray, domain: Domain, hierarchy: Hierarchy) -> Coverage:
    """What each label of a published column stands for.

    A label is looked up among the values and the groups of the hierarchy first, and read as a range or a set where
    it is neither. What covers values of the data also covers its part of the declared domain: the group's own number
    where the hierarchy knows it, otherwise the number of values.
    """
    encoded = column.combine_chunks().cast(pa.string()).dictionary_encode(null_encoding="encode")
    labels = tuple(encoded.dictionary.to_pylist())
    known = _groups(hierarchy)
    leaves = np.zeros((len(labels), len(domain)), dtype=np.bool_)
    covered = np.zeros(len(labels))
    for position, label in enumerate(labels):
        if label in known:
            leaves[position], covered[position] = known[label]
        else:
            read = parse_label(label)
            leaves[position] = [read.holds(value) for value in domain.values]
            covered[position] = _width(leaves[position], domain, hierarchy)
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return Coverage(labels, codes, leaves, covered, hierarchy.size)


def _groups(hierarchy: Hierarchy) -> dict[str | None, tuple[NDArray[np.bool_], float]]:
    """Every label of a hierarchy with the leaves below it; where two levels share a label, they share its leaves or
    the more special one is meant.
    """
    known: dict[str | None, tuple[NDArray[np.bool_], float]] = {}
    for level in hierarchy.levels:
        for group, label in enumerate(level.labels):
            if label not in known:
                known[label] = (level.groups == group, float(level.covered[group]))
    known[ROOT] = (np.ones(len(hierarchy.levels[0].groups), dtype=np.bool_), hierarchy.size)
    return known


def _width(leaves: NDArray[np.bool_], domain: Domain, hierarchy: Hierarchy) -> float:
    """How many leaves of the declared domain a range or a set covers: for whole numbers in a hierarchy that counts
    whole numbers the span of its ends, otherwise the values themselves.
    """
    count = float(np.count_nonzero(leaves))
    if domain.kind is Kind.NUMBER and count and hierarchy.size > len(domain):
        numbers = domain.numbers[leaves]
        present = numbers[~np.isnan(numbers)]
        if len(present) and np.all(np.mod(present, 1) == 0):
            span = float(present.max() - present.min()) + 1.0 + float(np.count_nonzero(np.isnan(numbers)))
            return float(min(span, hierarchy.size))
    return count
