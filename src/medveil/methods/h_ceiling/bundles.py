"""Everybody's values, once it is settled who is published where: which groups are published, and what they publish.

A person's bundle is what is published of her beside quasi-identifiers: the sensitive and plain values of the records
that she keeps. Every class of a group publishes the bundles R of all its people (condition C3 of
docs/proofs/h-ceiling.md, `published_rows`), and whether it does depends on R alone (C4, `judge`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.h_ceiling.people import Codes, Counts
from medveil.methods.h_ceiling.planner import Arrangement
from medveil.privacy.count import count_classes
from medveil.privacy.model import PrivacyModel, Reference
from medveil.release.catalog import Entry
from medveil.table.domain import Domain

Verdict = NDArray[np.bool_]

DEALS = 200
"""How many groups of each size are dealt out at random to see how many of them fail."""
LARGEST_DEALT = 400
"""The largest groups that are dealt out; larger ones are taken to fail as often."""


@dataclass(frozen=True)
class SensitiveValues:
    """The sensitive values of every record: `codes[name][line]`, by the attribute's domain."""

    codes: Mapping[str, Codes]
    domains: Mapping[str, Domain]

    def tuples(self, lines: Counts) -> tuple[Counts, Codes]:
        """The number of each line's tuple of sensitive values, and the codes of each tuple."""
        columns = np.stack([codes[lines] for codes in self.codes.values()])
        distinct, number = np.unique(columns, axis=1, return_inverse=True)
        return number.reshape(-1).astype(np.int64), distinct.astype(np.int32)


def input_reference(values: SensitiveValues, hierarchies: Mapping[str, Hierarchy]) -> Reference:
    """The input as models compare with it: by records, whoever they belong to.

    Counted by people it would depend on whether a person has a value in several records, and so on who has what.
    """
    counts = {
        name: np.bincount(codes, minlength=len(values.domains[name])).astype(np.int64)
        for name, codes in values.codes.items()
    }
    known = {name: hierarchy for name, hierarchy in hierarchies.items() if name in counts}
    return Reference(counts, values.domains, known)


def verdicts(
    values: SensitiveValues,
    lines: Counts,
    person: Counts,
    group: Counts,
    number: int,
    models: Sequence[PrivacyModel],
    reference: Reference,
) -> Verdict:
    """Whether the people whose records these are, in these groups, keep every model."""
    _, people = np.unique(person, return_inverse=True)
    cells = Cells(
        (),
        np.zeros((0, len(lines)), dtype=np.int32),
        np.ones(len(lines), dtype=np.int64),
        {name: codes[lines] for name, codes in values.codes.items()},
        dict(values.domains),
        Subjects(np.arange(len(lines) + 1), people.astype(np.int32), int(people.max(initial=-1)) + 1),
    )
    classes = count_classes(cells, group, number)
    held = np.ones(number, dtype=np.bool_)
    for model in models:
        held &= model.holds(classes, reference)
    return held


def judge(
    arrangement: Arrangement, values: SensitiveValues, models: Sequence[PrivacyModel], reference: Reference
) -> Verdict:
    """Which groups keep every model: a function of each group's bundles and of the input's shares as a whole."""
    inside = arrangement.group_of_line >= 0
    return verdicts(
        values,
        arrangement.lines[inside],
        arrangement.person[inside],
        arrangement.group_of_line[inside],
        arrangement.groups,
        models,
        reference,
    )


def failing_shares(
    values: SensitiveValues, k: int, models: Sequence[PrivacyModel], reference: Reference, random: np.random.Generator
) -> NDArray[np.float64]:
    """The share of groups of n = 0, 1, ... people that fail where everybody's values are dealt out anew at random.

    A function of the multiset of all values, and of nobody's: which groups really fail is not looked at.
    """
    if not models:
        return np.zeros(1)
    every = len(next(iter(values.codes.values())))
    # By value, so that it does not matter whose they are.
    pool = np.lexsort(tuple(values.codes.values()))
    shares = np.ones(k)
    size = k
    while size <= min(LARGEST_DEALT, every):
        lines = pool[random.integers(every, size=DEALS * size)]
        dealt = np.repeat(np.arange(DEALS), size)
        held = verdicts(values, lines, np.arange(len(lines)), dealt, DEALS, models, reference)
        following = size + max(size // 4, 1)
        shares = np.concatenate((shares, np.full(following - size, 1.0 - held.mean())))
        if held.all():
            break
        size = following
    return shares


@dataclass(frozen=True)
class Rows:
    """What is published, row by row: the record whose sensitive and plain values it has, and the class."""

    lines: Counts
    classes: Counts

    def __len__(self) -> int:
        return len(self.lines)


def published_rows(arrangement: Arrangement, published: Verdict) -> Rows:
    """Every class of a published group with the bundles of all people of the group."""
    group = arrangement.group_of_line
    by_group = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[by_group], np.arange(arrangement.groups + 1))
    classes = np.flatnonzero(np.append(published, False)[arrangement.group])
    sizes = np.diff(starts)[arrangement.group[classes]]
    of_row = np.repeat(np.arange(len(classes)), sizes)
    nth = np.arange(len(of_row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    lines = by_group[starts[arrangement.group[classes]][of_row] + nth]
    return Rows(arrangement.lines[lines], classes[of_row])


def catalog_entries(arrangement: Arrangement, values: SensitiveValues, published: Verdict) -> list[Entry]:
    """For each group of g > 1 classes and value v: (g - 1) R_v of g R_v records are counterfeits, and r_i people are
    really of class i.
    """
    several = published & (arrangement.classes_of_group > 1)
    chosen = np.flatnonzero(np.append(several, False)[arrangement.group_of_line])
    if not len(chosen):
        return []
    numbers, tuples = values.tuples(arrangement.lines[chosen])
    pairs, counts = np.unique(arrangement.group_of_line[chosen] * tuples.shape[1] + numbers, return_counts=True)
    members: dict[int, list[int]] = {}
    for number in np.argsort(arrangement.ids).tolist():
        members.setdefault(int(arrangement.group[number]), []).append(number)
    names = list(values.codes)
    entries = []
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        group, number = divmod(pair, tuples.shape[1])
        classes = members[group]
        texts = tuple(values.domains[name].values[code] for name, code in zip(names, tuples[:, number], strict=True))
        entries.append(
            Entry(
                tuple(int(arrangement.ids[c]) for c in classes),
                texts,
                (len(classes) - 1) * count,
                tuple(int(arrangement.people[c]) for c in classes),
            )
        )
    return sorted(entries, key=lambda e: (e.class_ids, [(value is None, value or "") for value in e.values]))
