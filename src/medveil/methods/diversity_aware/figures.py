"""The privacy figures of the paper's Table III for a release, and the claims that state them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects
from medveil.errors import UnreachableError
from medveil.methods.diversity_aware.publishing import Labels
from medveil.methods.diversity_aware.units import Units
from medveil.methods.problem import Problem
from medveil.privacy.classes import Classes
from medveil.privacy.count import count_classes
from medveil.privacy.l_diversity import LDiversity, entropies, top_to_tail
from medveil.privacy.model import PrivacyModel
from medveil.privacy.t_closeness import TCloseness
from medveil.release.draft import Promise

_STATED = 10_000
"""Figures are claimed to four decimals, rounded to the safe side."""


@dataclass(frozen=True)
class PublishedClusters:
    """The records with the class that they are published in."""

    problem: Problem
    cells: Cells
    labels: Sequence[Labels]
    cluster: NDArray[np.int32]

    def classes(self, shield: Sequence[int]) -> Classes:
        """The classes that someone sees who knows these quasi-identifiers: clusters of the same labels are one."""
        codes = np.array([self.labels[position].codes for position in shield], dtype=np.int32)
        if not len(codes):
            return count_classes(self.cells, np.zeros(len(self.cluster), dtype=np.int64), 1)
        _, of_cluster = np.unique(codes.T, axis=0, return_inverse=True)
        of_cluster = of_cluster.reshape(-1)
        return count_classes(self.cells, of_cluster[self.cluster], int(of_cluster.max()) + 1)


def read_published(
    problem: Problem, units: Units, labels: Sequence[Labels], cluster: NDArray[np.int32]
) -> PublishedClusters:
    """`cluster` is that of each unit."""
    records = len(units.of_record)
    subjects = None
    if problem.schema.subject is not None:
        subjects = Subjects(np.arange(records + 1), units.of_record.astype(np.int32), units.count)
    cells = Cells(
        quasi=problem.cells.quasi,
        codes=np.zeros((len(problem.cells.quasi), 0), dtype=np.int32),
        counts=np.ones(records, dtype=np.int64),
        sensitive={name: codes[problem.cell_of_row] for name, codes in problem.cells.sensitive.items()},
        domains=problem.cells.domains,
        subjects=subjects,
    )
    return PublishedClusters(problem, cells, labels, cluster[units.of_record])


def require(published: PublishedClusters) -> None:
    """Refuse clusters that do not keep what the policy asks for; say what they reach."""
    problem = published.problem
    for requirement in problem.requirements:
        model, classes = requirement.model, published.classes(requirement.shield)
        failing = int(np.count_nonzero(~model.holds(classes, problem.reference)))
        if failing:
            reached = ", ".join(
                f"{name} {figure:.4g}" for name, figure in model.achieved(classes, problem.reference).items()
            )
            raise UnreachableError(
                f"{model.summary()} does not hold in {failing:,} of {len(classes):,} clusters; they reach {reached}.",
                "Spread the values evenly ('caps: both', no alpha, no sensitive_value), raise k, or ask for less.",
            )


def figures(published: PublishedClusters) -> dict[str, Any]:
    """Table III: k, and for each sensitive attribute distinct l, entropy l, recursive (c,l) and the variational
    distance, each of its worst class, with that class's counts of values, the largest first.
    """
    classes = published.classes(range(len(published.labels)))
    found: dict[str, Any] = {"k": int(classes.sizes.min())}
    for name, histogram in classes.histograms.items():
        distinct = np.diff(histogram.offsets)
        entropy = np.exp(entropies(histogram))
        l = int(distinct.min())  # noqa: E741 - the literature's name
        tail = top_to_tail(histogram, l)
        apart = TCloseness(t=2.0, distance="variational", attribute=name).distances(
            classes, published.problem.reference
        )

        def worst(i: int, histogram: Any = histogram) -> list[int]:
            counts = histogram.counts[histogram.offsets[i] : histogram.offsets[i + 1]]
            return sorted((int(count) for count in counts), reverse=True)

        found[name] = {
            "distinct_l": {"l": l, "counts": worst(int(distinct.argmin()))},
            "entropy_l": {"l": float(entropy.min()), "counts": worst(int(entropy.argmin()))},
            "recursive": {"l": l, "c": float(tail.max()), "counts": worst(int(tail.argmax()))},
            "variational": {"t": float(apart.max()), "counts": worst(int(apart.argmax()))},
        }
    return found


def stated(problem: Problem, found: Mapping[str, Any]) -> list[Promise]:
    """Claims of these figures, but for those that the policy asks for itself: the auditor proves them again."""
    models: list[PrivacyModel] = []
    for name in problem.schema.sensitive:
        of = found[name]
        models += [
            LDiversity(variant="distinct", l=of["distinct_l"]["l"], attribute=name),
            LDiversity(variant="entropy", l=max(1.0, _down(of["entropy_l"]["l"])), attribute=name),
            LDiversity(variant="recursive", l=of["recursive"]["l"], c=_above(of["recursive"]["c"]), attribute=name),
            TCloseness(t=min(2.0, _up(of["variational"]["t"])), distance="variational", attribute=name),
        ]
    asked = {_kind(model) for model in problem.models}
    return replace(problem, models=[model for model in models if _kind(model) not in asked]).promises()


def _kind(model: PrivacyModel) -> tuple[object, ...]:
    """What makes two models of one name different claims: columns and variant, but not how much they ask."""
    variant = tuple(value for value in model.required.values() if isinstance(value, str))
    return model.name, model.sensitive_attribute, model.on, variant


def _down(figure: float) -> float:
    return math.floor(figure * _STATED) / _STATED


def _up(figure: float) -> float:
    return math.ceil(figure * _STATED) / _STATED


def _above(figure: float) -> float:
    """The least stated figure that is truly above: recursive diversity is a strict inequality."""
    return (math.floor(figure * _STATED) + 1) / _STATED
