"""What labels cover, as runs on a line: of leaf codes, or of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """Label i covers the half-open runs `starts[r]` to `ends[r]` for r in `offsets[i]:offsets[i + 1]`.

    Runs of one label ascend and do not overlap. A run of length 0 is a point.
    """

    offsets: NDArray[np.int64]
    starts: Floats
    ends: Floats

    @staticmethod
    def of(labels: list[list[tuple[float, float]]]) -> Runs:
        """From the runs of each label, in any order; runs that touch become one."""
        tidy = [merged(runs) for runs in labels]
        offsets = np.concatenate([[0], np.cumsum([len(runs) for runs in tidy])]).astype(np.int64)
        flat = np.array([run for runs in tidy for run in runs], dtype=np.float64).reshape(-1, 2)
        return Runs(offsets, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """The label of each run."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def totals(self) -> Floats:
        """How much each label covers; infinite where that is beyond all numbers."""
        with np.errstate(over="ignore"):
            return np.bincount(self.label, self.ends - self.starts, minlength=len(self)).astype(np.float64)

    @cached_property
    def _scaled(self) -> Floats:
        """The lengths of all runs on one smaller scale, on which neither a length nor a sum is beyond all numbers."""
        scale = 0.5 / max(len(self.starts), 1)
        return self.ends * scale - self.starts * scale if self._huge else self.ends - self.starts

    @cached_property
    def _huge(self) -> bool:
        return not bool(np.isfinite(self.totals).all())

    @cached_property
    def weights(self) -> Floats:
        """The share of its label that each run holds: by length, or evenly where a label is points alone."""
        total = np.bincount(self.label, self._scaled, minlength=len(self))[self.label]
        number = np.diff(self.offsets)[self.label]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, self._scaled / total, 1.0 / number)

    def shares_within(self, low: float, high: float) -> Floats:
        """The share of each label that lies in `low` to below `high`, where it is spread evenly over what it covers."""
        start, end = np.maximum(self.starts, low), np.minimum(self.ends, high)
        point = (self.starts >= low) & (self.starts < high)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            whole, inside = self.ends - self.starts, end - start
            if self._huge:
                whole, inside = self.ends / 2 - self.starts / 2, end / 2 - start / 2
            share = np.where(whole > 0, np.clip(inside, 0.0, None) / whole, point)
        return np.bincount(self.label, self.weights * share, minlength=len(self)).astype(np.float64)

    def moments(self, *, whole: bool) -> tuple[Floats, Floats]:
        """The mean and the variance of what each label covers, spread evenly over it, by the largest number of all, so
        that no square is beyond all numbers; NaN where a label covers nothing.

        `whole`: only whole numbers are spread over: what lies between two of them counts as the lower one. With
        F(x) = integral of floor(u) from 0 to x = k (k - 1) / 2 + k (x - k) and G(x) = integral of floor(u)^2 =
        (k - 1) k (2 k - 1) / 6 + k^2 (x - k), k = floor(x), a run from 0 to n has the mean F(n) / n and the mean
        square G(n) / n.
        """
        largest = float(max(np.abs(self.starts).max(initial=0.0), np.abs(self.ends).max(initial=0.0))) or 1.0
        starts, ends = self.starts / largest, self.ends / largest
        mean, variance = (starts + ends) / 2, np.square(ends - starts) / 12
        if whole:
            base = np.floor(self.starts)
            first, last = self.starts - base, self.ends - base
            # Points keep what was published, such as a mean of 34.6.
            length = np.where(self.totals[self.label] > 0, last - first, 0.0)
            divisor = np.where(length > 0, length, 1.0)
            low = (_floor_integral(last) - _floor_integral(first)) / divisor
            square = (_floor_square_integral(last) - _floor_square_integral(first)) / divisor
            mean = np.where(length > 0, (base + low) / largest, mean)
            variance = np.where(length > 0, np.maximum(square - low * low, 0.0) / largest / largest, variance)
        number = len(self)
        of_label = np.bincount(self.label, self.weights * mean, minlength=number)
        apart = np.square(mean - of_label[self.label])
        spread = np.bincount(self.label, self.weights * (variance + apart), minlength=number)
        empty = np.diff(self.offsets) == 0
        return np.where(empty, np.nan, of_label), np.where(empty, np.nan, spread)

    def draw(self, labels: NDArray[np.int64], random: np.random.Generator) -> Floats:
        """A position for each of these labels, drawn evenly from what it covers; NaN where it covers nothing."""
        drawn = random.random(len(labels))
        if not len(self.starts):
            return np.full(len(labels), np.nan)
        running = np.concatenate([[0.0], np.cumsum(self.weights)])
        above = running[1:] - running[self.offsets[self.label]]
        # Runs are found on one ascending line: label i owns i to i + 1, its runs their shares of that.
        run = np.searchsorted(self.label + above, labels + drawn, side="right")
        run = np.minimum(run, np.maximum(self.offsets[labels + 1] - 1, 0))
        run = np.maximum(run, np.minimum(self.offsets[labels], len(self.starts) - 1))
        within = (drawn - (above[run] - self.weights[run])) / np.maximum(self.weights[run], 1e-300)
        within = np.clip(within, 0.0, np.nextafter(1.0, 0.0))
        if self._huge:
            position = self.starts[run] * (1.0 - within) + self.ends[run] * within
        else:
            position = self.starts[run] + within * (self.ends[run] - self.starts[run])
        empty = self.offsets[labels + 1] == self.offsets[labels]
        return np.where(empty, np.nan, position)


def _floor_integral(x: Floats) -> Floats:
    k = np.floor(x)
    return np.asarray(k * (k - 1) / 2 + k * (x - k))


def _floor_square_integral(x: Floats) -> Floats:
    k = np.floor(x)
    return np.asarray((k - 1) * k * (2 * k - 1) / 6 + k * k * (x - k))


def merged(runs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Runs in ascending order; those that touch become one.

    >>> merged([(5, 7), (0, 2), (2, 3)])
    [(0, 3), (5, 7)]
    """
    found: list[tuple[float, float]] = []
    for start, end in sorted(runs):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def are_whole(numbers: Floats) -> bool:
    """Whether all numbers are whole, and small enough that the next whole one is another; missing ones aside.

    >>> are_whole(np.array([1.0, 7.0, np.nan])), are_whole(np.array([1.5])), are_whole(np.array([1e300]))
    (True, False, False)
    """
    known = numbers[~np.isnan(numbers)]
    return bool(np.all(np.mod(known, 1) == 0) and np.all(np.abs(known) < 2**53))
