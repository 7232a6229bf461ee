"""An attacker who learns from the release itself what people of a kind tend to have.

In a group each person has one of the bundles R, by the claim any of them with the same probability. This attacker
learns from the classes that are groups by themselves how often each label goes with each value (naive Bayes), and
weighs all ways to give R to the people of the group:

    P(assignment) ~ product over people p of the product over quasi-identifiers a of P(label of p in a | value of p)

The sum over all assignments is exact where R has few different values (forwards and backwards over what is left of R),
and otherwise a random walk by exchanges between two people, which has these weights as its limit.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.auditor.evidence import Evidence
from medveil.auditor.groups import ClassGroups
from medveil.auditor.in_process import file_door
from medveil.release.manifest import read_manifest

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

SURE = 0.9
"""How sure the attacker must be of a value to be counted."""
MOST_STATES = 1 << 14
"""The most multisets of values, taken from R, that are gone through."""
SWEEPS = 2000
"""Rounds of exchanges where there are more, each of as many as there are people."""


@dataclass(frozen=True)
class LearnedGuess:
    """What the attacker takes the people of one class to have: the value he holds likeliest, how likely he holds it,
    and R_v/|R|, how likely it is by the claim.
    """

    class_id: int
    people: int
    value: str | None
    belief: float
    claimed: float


def learn(groups: ClassGroups, attribute: int) -> list[LearnedGuess]:
    """A guess for each class of a group of several, on the sensitive attribute at this position."""
    if not groups.listed:
        return []
    labels, of_class = _labels(groups)
    values, trained = _trained(groups, attribute, labels, of_class)
    guesses = []
    for group in groups.listed:
        held: dict[int, int] = {}
        for bundle, count in group.counts.items():
            number = values[bundle[attribute]]
            held[number] = held.get(number, 0) + count // (len(group.ids) - 1)
        present = np.array(sorted(held), dtype=np.int64)
        counts = np.array([held[number] for number in present.tolist()], dtype=np.int64)
        weights = np.stack([_weights(trained, of_class[number], present) for number in group.ids])
        beliefs = assignments(weights, np.array(group.people, dtype=np.int64), counts)
        names = {number: value for value, number in values.items()}
        for i, (number, people) in enumerate(zip(group.ids, group.people, strict=True)):
            best = int(beliefs[i].argmax())
            guesses.append(
                LearnedGuess(
                    number, people, names[int(present[best])], float(beliefs[i, best]), counts[best] / counts.sum()
                )
            )
    return guesses


def _labels(groups: ClassGroups) -> tuple[list[int], dict[int, Counts]]:
    """How many labels each quasi-identifier has, and the numbers of those that each class publishes."""
    evidence = groups.evidence
    names = evidence.names("quasi")
    quasi = ", ".join(evidence.column(name) for name in names)
    rows = evidence.connection.execute(f"SELECT DISTINCT id, {quasi} FROM class_rows ORDER BY id").fetchall()
    numbers: list[dict[str | None, int]] = [{} for _ in names]
    found = {
        int(row[0]): np.array([numbers[a].setdefault(label, len(numbers[a])) for a, label in enumerate(row[1:])])
        for row in rows
    }
    return [len(number) for number in numbers], found


def _trained(
    groups: ClassGroups, attribute: int, labels: list[int], of_class: dict[int, Counts]
) -> tuple[dict[str | None, int], list[Numbers]]:
    """The number of each value, and for each quasi-identifier log P(label | value), one more of each for safety."""
    rows = groups.evidence.connection.execute(
        f"SELECT id, s{attribute} AS s, sum(n)::BIGINT AS n, id IN (SELECT id FROM members) AS listed FROM class_rows "
        "GROUP BY ALL ORDER BY s NULLS FIRST, id"
    ).fetchall()
    values: dict[str | None, int] = {}
    for _, value, _, _ in rows:
        values.setdefault(value, len(values))
    tables = [np.ones((number, len(values))) for number in labels]
    for number, value, count, listed in rows:
        if not listed:
            for table, label in zip(tables, of_class[number].tolist(), strict=True):
                table[label, values[value]] += count
    return values, [np.log(table / table.sum(axis=0)) for table in tables]


def _weights(trained: list[Numbers], labels: Counts, present: Counts) -> Numbers:
    """The likelihood of a class's labels under each value, as a share of the largest."""
    logarithm = np.zeros(len(present))
    for table, label in zip(trained, labels.tolist(), strict=True):
        logarithm += table[label, present]
    return np.asarray(np.exp(logarithm - logarithm.max()), dtype=np.float64)


def assignments(weights: Numbers, people: Counts, counts: Counts) -> Numbers:
    """The probability of a person of each class to have each value.

    weights[i, v]: how much a person of class i goes with value v; people[i] of them; counts[v] bundles with value v.
    """
    states = float(np.prod(counts + 1.0))
    of_person = np.repeat(np.arange(len(people)), people).astype(np.int64)
    if states * len(of_person) <= MOST_STATES * 16 and states <= MOST_STATES:
        return _all_assignments(weights, of_person, people, counts)
    return _sampled_assignments(weights, of_person, people, counts, SWEEPS)


@njit(cache=True, nogil=True)
def _all_assignments(weights: Numbers, of_person: Counts, people: Counts, counts: Counts) -> Numbers:
    """Exactly: states are the multisets of values that are given away, numbered by mixed radix."""
    strides = np.ones(len(counts) + 1, dtype=np.int64)
    for v in range(len(counts)):
        strides[v + 1] = strides[v] * (counts[v] + 1)
    states = strides[-1]
    number = len(of_person)
    forward = np.zeros((number + 1, states))
    forward[0, 0] = 1.0
    for p in range(number):
        for s in range(states):
            if forward[p, s] > 0.0:
                for v in range(len(counts)):
                    if (s // strides[v]) % (counts[v] + 1) < counts[v]:
                        forward[p + 1, s + strides[v]] += forward[p, s] * weights[of_person[p], v]
        # Loops over single numbers: expressions of whole arrays take numba seconds to compile.
        total = 0.0
        for s in range(states):
            total += forward[p + 1, s]
        for s in range(states):
            forward[p + 1, s] /= total
    found = np.zeros(weights.shape)
    backward = np.zeros(states)
    backward[states - 1] = 1.0
    for p in range(number - 1, -1, -1):
        before = np.zeros(states)
        each = np.zeros(len(counts))
        for s in range(states):
            if forward[p, s] > 0.0:
                for v in range(len(counts)):
                    if (s // strides[v]) % (counts[v] + 1) < counts[v]:
                        weight = weights[of_person[p], v] * backward[s + strides[v]]
                        before[s] += weight
                        each[v] += forward[p, s] * weight
        total = 0.0
        for v in range(len(counts)):
            total += each[v]
        for v in range(len(counts)):
            found[of_person[p], v] += each[v] / total / people[of_person[p]]
        total = 0.0
        for s in range(states):
            total += before[s]
        for s in range(states):
            backward[s] = before[s] / total
    return found


@njit(cache=True, nogil=True)
def _sampled_assignments(weights: Numbers, of_person: Counts, people: Counts, counts: Counts, sweeps: int) -> Numbers:
    """By exchanges of two people's values, taken with probability min(1, ratio of the weights) after a first quarter
    that is forgotten. The generator is fixed, so that an audit finds the same figures again.
    """
    np.random.seed(1)  # noqa: NPY002 - numba knows no other
    value = np.repeat(np.arange(len(counts)), counts)
    number = len(of_person)
    found = np.zeros(weights.shape)
    for sweep in range(-(sweeps // 4), sweeps):
        for _ in range(number):
            p, q = np.random.randint(number), np.random.randint(number)  # noqa: NPY002
            i, j, v, w = of_person[p], of_person[q], value[p], value[q]
            if np.random.random() * weights[i, v] * weights[j, w] <= weights[i, w] * weights[j, v]:  # noqa: NPY002
                value[p], value[q] = w, v
        if sweep >= 0:
            for p in range(number):
                found[of_person[p], value[p]] += 1.0 / people[of_person[p]] / sweeps
    return found


def learned_from_files(folder: Path) -> dict[str, list[LearnedGuess]]:
    """What the attacker guesses of each sensitive attribute, from a release directory alone."""
    manifest = read_manifest(folder)
    with file_door(folder, manifest, nullcontext) as door:
        evidence = Evidence(door, folder, manifest)
        groups = ClassGroups(evidence)
        return {name: learn(groups, position) for position, name in enumerate(groups.sensitive)}
