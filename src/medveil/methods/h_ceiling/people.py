"""Everybody as the planner may see them: quasi-identifiers and nothing else.

Whatever is planned from `PopulatedPlaces` cannot depend on anybody's sensitive or plain values, because they are not
in it (condition C2 of docs/proofs/h-ceiling.md). A person lives in one place (condition C1): of the combinations of
quasi-identifiers that a person's records have, the first in order. That does not change with how many records she has
there, which belongs to her values and must not be seen either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.rank import rank_combinations
from medveil.hierarchy.hierarchy import Hierarchy

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class PopulatedPlaces:
    """Places, in the order of their codes: `codes[a, t]` is the leaf of quasi-identifier `names[a]` in place t, where
    `people[t]` live.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    codes: Codes
    people: Counts

    def __len__(self) -> int:
        return len(self.people)

    @property
    def count(self) -> int:
        """How many people there are."""
        return int(self.people.sum())


@dataclass(frozen=True)
class Residents:
    """Who lives where: `person_of_row` and `place_of_row` of each record, and the place of each person.

    Places of a record where nobody lives come after those of the crowd.
    """

    crowd: PopulatedPlaces
    person_of_row: Counts
    place_of_row: Counts
    codes: Codes
    home: Counts


def settle(
    names: Sequence[str], hierarchies: Sequence[Hierarchy], codes: Codes, person_of_row: Counts | None
) -> Residents:
    """Give everybody a home, from the leaf codes of each record; every record is a person's own where none is given."""
    order, place_of_row = _places(codes)
    if person_of_row is None:
        people = np.bincount(place_of_row, minlength=len(order)).astype(np.int64)
        crowd = PopulatedPlaces(tuple(names), tuple(hierarchies), codes[:, order], people)
        return Residents(crowd, np.arange(len(place_of_row)), place_of_row, crowd.codes, place_of_row)
    home = np.full(int(person_of_row.max(initial=-1)) + 1, len(order), dtype=np.int64)
    np.minimum.at(home, person_of_row, place_of_row)
    people = np.bincount(home, minlength=len(order)).astype(np.int64)
    # Places without anybody are not for the planner; they are numbered behind the others.
    by_people = np.argsort(people == 0, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[by_people] = np.arange(len(order))
    inhabited = int(np.count_nonzero(people))
    everywhere = codes[:, order[by_people]]
    crowd = PopulatedPlaces(
        tuple(names),
        tuple(hierarchies),
        np.ascontiguousarray(everywhere[:, :inhabited]),
        people[by_people][:inhabited],
    )
    return Residents(crowd, person_of_row, number[place_of_row], everywhere, number[home])


def _places(codes: Codes) -> tuple[Counts, Counts]:
    """A record of each distinct combination, combinations by ascending codes, and the combination of each record."""
    ranks, first = rank_combinations(list(codes), None, codes.shape[1])
    order = np.lexsort(codes[::-1, first]) if len(codes) else np.arange(len(first))
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return first[order], number[ranks]


def shared_numbers(numbers: Sequence[int], k: int) -> list[int]:
    """How many records each of so many people keeps, so that every number that is kept is that of k people or more.

    From the least number upwards, people are put together until they are k; they keep the least number among them.
    Those who are left over at the top keep what the last ones do. Who knows how many records a person has then still
    finds k people with as many.

    >>> shared_numbers([1, 1, 2, 2, 5, 3], 2)
    [1, 1, 2, 2, 3, 3]
    >>> shared_numbers([1, 1, 1, 4], 3), shared_numbers([2, 1], 3)
    ([1, 1, 1, 1], [1, 1])
    """
    present, counts = np.unique(np.asarray(numbers, dtype=np.int64), return_counts=True)
    kept = {}
    least, together = int(present[0]), 0
    left = int(counts.sum())
    for number, count in zip(present.tolist(), counts.tolist(), strict=True):
        if together >= k and left >= k:
            least, together = number, 0
        kept[number] = least
        together += count
        left -= count
    return [kept[int(number)] for number in numbers]
