"""What a release of h-ceiling costs: the steward's figures, against the original."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.objective import Objective, fewest
from medveil.methods.h_ceiling.partition import ClassPartition
from medveil.methods.h_ceiling.people import Counts
from medveil.methods.h_ceiling.publish import FilledRelease

MOST_SEEN = 1 << 26
"""The largest table of (published value, tuple) that is made to see what occurs together."""


def figures(
    made: FilledRelease,
    objective: Objective,
    real: NDArray[np.float64],
    k: int,
    tuple_of_row: Counts,
) -> dict[str, Any]:
    """LM and RCE (of the paper, and by distance in ordered columns) as means over people, the counterfeits beside the
    fewest that a provable fill needs, and how many of them are combinations that nobody has.

    `real`: the probability of a record of each class of the partition to be real.
    """
    partition = made.partition
    loss, by_distance = objective.by_class(partition, real)
    _, error = replace(objective, ordered=[False] * len(objective.ordered)).by_class(partition, real)
    people = partition.people
    return {
        "counterfeits": made.counterfeits,
        "fewest_provable_counterfeits": fewest(people, k),
        "classes": len(made.of_partition),
        "thin_classes": int(np.count_nonzero(people < k)),
        "people_in_thin_classes": int(people[people < k].sum()),
        "people": int(people.sum()),
        "records_left_out": int(np.count_nonzero(~made.fate.kept)),
        "lm": float((loss * people).sum() / people.sum()),
        "rce": float((error * people).sum() / people.sum()),
        "rce_by_distance": float((by_distance * people).sum() / people.sum()),
        "counterfeits_of_unseen_combinations": unseen(made, tuple_of_row),
    }


def unseen(made: FilledRelease, tuple_of_row: Counts) -> int:
    """How many published rows have sensitive values that no record has together with one of their published labels."""
    partition, width = made.partition, int(tuple_of_row.max(initial=-1)) + 1
    own = made.of_partition[made.fate.classes]
    of_row, tuples = made.of_partition[made.rows.classes], tuple_of_row[made.rows.lines]
    odd = np.zeros(len(made.rows), dtype=np.bool_)
    for attribute in range(len(partition.crowd.names)):
        labels = _numbered(partition, attribute)
        number = int(labels.max(initial=-1)) + 1
        if number * width > MOST_SEEN:
            continue
        together = np.zeros(number * width, dtype=np.bool_)
        together[labels[own] * width + tuple_of_row] = True
        odd |= ~together[labels[of_row] * width + tuples]
    return int(np.count_nonzero(odd))


def _numbered(partition: ClassPartition, attribute: int) -> Counts:
    """A number for what each class publishes in a quasi-identifier."""
    keys = partition.places[attribute].astype(np.int64) * 64 + partition.levels[attribute]
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)
