"""Which counterfeits a generalization gets and how the catalog lists them, with what both cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from medveil.methods.h_ceiling.holdings import Codes, Contents, Counts, Holdings


@dataclass(frozen=True)
class Rows:
    """The catalog: row i says that `counts[i]` counterfeits of tuple `tuples[i]` are somewhere in the classes
    `classes[offsets[i]:offsets[i + 1]]`.
    """

    tuples: Codes
    counts: Counts
    offsets: Counts
    classes: Counts

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def numbers(self) -> Counts:
        """The row of each listed class."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


@dataclass(frozen=True)
class Plan:
    """`counts[i]` counterfeits of tuple `tuples[i]` in class `classes[i]`, each pair once, and the catalog of them.

    donors: the class whose records each of them copies; None where any other class of its row will do.
    """

    classes: Counts
    tuples: Codes
    counts: Counts
    rows: Rows
    donors: Counts | None = None

    @property
    def counterfeits(self) -> int:
        return int(self.counts.sum())


NO_ROWS = Rows(
    np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
)
NOTHING = Plan(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), NO_ROWS)


def look_up(contents: Contents, classes: Counts, tuples: Codes, number_of_tuples: int) -> Counts:
    """How many records of each tuple the class beside it holds."""
    keys = contents.owners * number_of_tuples + contents.tuples
    wanted = classes * number_of_tuples + tuples
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    return np.where(keys[place] == wanted, contents.counts[place], 0)


@dataclass(frozen=True)
class Cost:
    """What a plan costs: `error` is added to the mean RCE of the original records, `lost` of them go from the
    truthful table.
    """

    error: float
    lost: int


def cost(holdings: Holdings, plan: Plan) -> Cost:
    """RCE that the catalog adds and records that the truthful table loses.

    In row i with c counterfeits among N records each record is real with p = 1 - c/N, which adds (1 - p)^2 / v for
    each attribute of each original record; of each listed class min(c, records of the tuple) are suppressed, and c of
    those were counterfeit.
    """
    rows = plan.rows
    if not len(rows):
        return Cost(0.0, 0)
    number, listed = rows.numbers, rows.classes
    width = len(holdings.tuples)
    of_row = rows.tuples[number]
    real = look_up(holdings.contents(listed), listed, of_row, width)
    forged_keys = plan.classes * width + plan.tuples
    order = np.argsort(forged_keys)
    keys = forged_keys[order]
    wanted = listed * width + of_row
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    forged = np.where(keys[place] == wanted, plan.counts[order][place], 0)
    total = np.bincount(number, real + forged, minlength=len(rows))
    unreal = rows.counts / total
    added = float((np.square(unreal)[number] * real * holdings.sharpness[listed]).sum())
    attributes = len(holdings.groups) + len(holdings.cells.sensitive)
    suppressed = int(np.minimum(real + forged, rows.counts[number]).sum())
    return Cost(added / attributes / float(holdings.records.sum()), suppressed - int(rows.counts.sum()))


def mean_error(holdings: Holdings, plan: Plan) -> float:
    """RCE of a release: the mean over the original records and all attributes."""
    attributes = len(holdings.groups) + len(holdings.cells.sensitive)
    base = float((holdings.records * (1.0 - 1.0 / holdings.points).sum(axis=0)).sum())
    return base / attributes / float(holdings.records.sum()) + cost(holdings, plan).error


def merged(classes: Counts, tuples: Codes, width: int, counts: Counts | None = None) -> tuple[Counts, Codes, Counts]:
    """Counterfeits one by one (or with counts) as distinct (class, tuple) with their numbers."""
    keys = np.asarray(classes, dtype=np.int64) * width + tuples
    pairs, inverse = np.unique(keys, return_inverse=True)
    numbers = np.bincount(inverse, counts, minlength=len(pairs)).astype(np.int64)
    owner, value = np.divmod(pairs, max(width, 1))
    return owner, value.astype(np.int32), numbers
