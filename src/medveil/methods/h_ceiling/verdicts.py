"""Whether classes keep the privacy models once counterfeits are in them. A counterfeit is one more person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects
from medveil.methods.h_ceiling.holdings import Codes, Counts, Holdings
from medveil.methods.h_ceiling.plan import Plan
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.count import count_classes
from medveil.privacy.model import PrivacyModel, Reference, Requirement


def forged_cells(holdings: Holdings, plan: Plan) -> tuple[Cells, Codes]:
    """The cells with those of the counterfeits behind them, and the class of each.

    A counterfeit stands in any leaf of its class; each is a person of its own.
    """
    cells = holdings.cells
    if not len(plan.classes):
        return cells, holdings.class_of_cell
    member = np.zeros(len(holdings), dtype=np.int64)
    member[holdings.class_of_cell] = np.arange(len(cells))
    values = holdings.tuples.codes[:, plan.tuples]
    subjects = None
    if cells.subjects is not None:
        number = plan.counterfeits
        ends = cells.subjects.offsets[-1] + np.cumsum(plan.counts)
        subjects = Subjects(
            np.concatenate((cells.subjects.offsets, ends)),
            np.concatenate((cells.subjects.codes, np.arange(number, dtype=np.int32) + np.int32(cells.subjects.count))),
            cells.subjects.count + number,
        )
    joined = Cells(
        cells.quasi,
        np.concatenate((cells.codes, cells.codes[:, member[plan.classes]]), axis=1),
        np.concatenate((cells.counts, plan.counts)),
        {name: np.concatenate((codes, values[j])) for j, (name, codes) in enumerate(cells.sensitive.items())},
        cells.domains,
        subjects,
    )
    return joined, np.concatenate((holdings.class_of_cell, plan.classes.astype(np.int32)))


def keeps(holdings: Holdings, plan: Plan, requirements: Sequence[Requirement], reference: Reference) -> bool:
    """Whether every requirement holds in the published table, on every shield."""
    cells, class_of_cell = forged_cells(holdings, plan)
    for shield in sorted({requirement.shield for requirement in requirements}):
        of_class = _on_shield(holdings.groups, shield)
        number = int(of_class.max(initial=-1)) + 1
        counted = count_classes(cells, of_class[class_of_cell], number)
        for requirement in requirements:
            if requirement.shield == shield and not requirement.model.holds(counted, reference).all():
                return False
    return True


def failing(holdings: Holdings, requirements: Sequence[Requirement], reference: Reference) -> NDArray[np.bool_]:
    """Which classes fail a requirement on all quasi-identifiers as they are."""
    whole = tuple(range(len(holdings.groups)))
    counted = count_classes(holdings.cells, holdings.class_of_cell, len(holdings))
    failed = np.zeros(len(holdings), dtype=np.bool_)
    for requirement in requirements:
        if requirement.shield == whole:
            failed |= ~requirement.model.holds(counted, reference)
    return failed


def _on_shield(groups: Codes, shield: tuple[int, ...]) -> Codes:
    """The class of each class when only some quasi-identifiers are looked at."""
    keys = np.zeros(groups.shape[1], dtype=np.int64)
    for position in shield:
        _, keys = np.unique(keys * (int(groups[position].max()) + 1) + groups[position], return_inverse=True)
    return keys.astype(np.int32)


@dataclass(frozen=True)
class Asked:
    """What every class must keep: k people, and these models."""

    k: int
    models: Sequence[PrivacyModel]
    reference: Reference

    def held(self, classes: Classes) -> NDArray[np.bool_]:
        """Which classes keep all of it."""
        verdict = classes.sizes >= self.k
        for model in self.models:
            verdict = verdict & model.holds(classes, self.reference)
        return verdict


def stack(
    sizes: Counts, tuples: Sequence[Codes], counts: Sequence[Counts], codes: Codes, names: Sequence[str]
) -> Classes:
    """Classes of these histograms of tuples: entry i has `counts[i]` records of `tuples[i]`, one person each."""
    owner = np.repeat(np.arange(len(tuples)), [len(part) for part in tuples])
    flat = np.concatenate(tuples) if tuples else np.zeros(0, dtype=np.int32)
    number = np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)
    present = number > 0
    owner, flat, number = owner[present], flat[present], number[present]
    histograms: Mapping[str, Histogram] = {
        name: _histogram(owner, codes[j, flat], number, len(sizes)) for j, name in enumerate(names)
    }
    return Classes(sizes, sizes, histograms)


def _histogram(owner: Counts, values: Codes, counts: Counts, number: int) -> Histogram:
    width = int(values.max(initial=0)) + 1
    keys, inverse = np.unique(owner * width + values, return_inverse=True)
    of_class, value = np.divmod(keys, width)
    sums = np.bincount(inverse, counts, minlength=len(keys)).astype(np.int64)
    return Histogram(np.searchsorted(of_class, np.arange(number + 1)).astype(np.int64), value.astype(np.int32), sums)
