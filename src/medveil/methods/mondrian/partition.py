"""The partition of a table's tuples into boxes that keep what is required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.errors import UnreachableError
from medveil.methods.mondrian.arrays import (
    END,
    PARENT,
    START,
    WHOLE,
    Axes,
    LeastCounts,
    Places,
    WorkArrays,
    make_boxes,
    make_work_arrays,
)
from medveil.methods.mondrian.axes import Axis, Covered, cover_boxes, kernel_axes
from medveil.methods.mondrian.kernels import accept, cut_boxes, undo
from medveil.methods.mondrian.least_counts import make_least_counts
from medveil.methods.problem import Problem
from medveil.privacy.count import count_classes
from medveil.privacy.model import PrivacyModel
from medveil.run import Run, Stage

BUDGET = 3_000_000
"""How many points are looked at between two looks at whether the run was stopped."""
NONE: Places = np.zeros(0, dtype=np.int64)


class Partition:
    """Boxes of points, cut as far as the requirements of a problem allow.

    A point is a distinct tuple of codes along the given axes (by position among the quasi-identifiers), so that all
    records of a tuple stay together. Points begin in the order of their codes: what comes out does not depend on the
    order of the cells.
    """

    def __init__(
        self, problem: Problem, axes: Mapping[int, Axis], *, relaxed: bool, by_median: bool, largest_set: int
    ) -> None:
        self._problem = problem
        self._axes = dict(axes)
        self._relaxed = relaxed
        self._by_median = by_median
        self._largest_set = largest_set
        cells = problem.cells
        self._point_of_cell = combine(
            [axis.codes for axis in axes.values()], [len(axis) for axis in axes.values()], len(cells)
        )[1]
        number = int(self._point_of_cell.max()) + 1
        records = np.bincount(self._point_of_cell, cells.counts, minlength=number).astype(np.int64)
        points = np.zeros((number, len(axes) + 2), dtype=np.int32)
        for column, axis in enumerate(axes.values()):
            points[self._point_of_cell, column] = axis.codes
        points[:, -2], points[:, -1] = records, np.arange(number)
        widest = self._widest_boxes(points)
        self._check_reachable(widest)
        order = np.argsort(widest, kind="stable")
        self._points = np.ascontiguousarray(points[order])
        self._boxes, self._number = make_boxes(widest[order])

    def _widest_boxes(self, points: NDArray[np.int32]) -> Places:
        """The box that each point is in before the first cut: one for each combination of maximum-level groups."""
        columns, sizes = [], []
        for column, (position, axis) in enumerate(self._axes.items()):
            name = self._problem.cells.quasi[position]
            level = self._problem.max_levels.get(name)
            if level is not None and axis.above:
                groups = axis.group_at(level - self._problem.min_levels.get(name, 0))
                columns.append(groups[points[:, column]])
                sizes.append(int(groups.max()) + 1)
        return combine(columns, sizes, len(points))[1]

    def _check_reachable(self, widest: Places) -> None:
        number = int(widest.max()) + 1
        classes = count_classes(self._problem.cells, widest[self._point_of_cell], number)
        for requirement in self._problem.requirements:
            model = requirement.model
            if not model.holds(classes, self._problem.reference).all():
                raise _unreachable(model, model.achieved(classes, self._problem.reference), whole_table=number == 1)

    def cut(self, run: Run) -> dict[int, Covered]:
        """Cut until nothing can be cut further; what is then published for the boxes, by position."""
        run.step(Stage.SEARCH, 0.0, "Cutting")
        models = [requirement.model for requirement in self._problem.requirements]
        least, others = make_least_counts(models, self._problem.cells, self._point_of_cell)
        axes = kernel_axes(list(self._axes.values()))
        work = make_work_arrays(self._points, axes, least)
        if others:
            self._cut_in_rounds(run, axes, least, work, others)
        else:
            self._cut_at_once(run, axes, least, work)
        run.step(Stage.SEARCH, 1.0, "Cutting")
        return self._settle(run)

    def _kernel(
        self,
        axes: Axes,
        least: LeastCounts,
        work: WorkArrays,
        stack: Places,
        waiting: int,
        attempts: Places = NONE,
        halves: Places = NONE,
    ) -> tuple[int, int]:
        budget = len(self._points) * len(stack) if len(attempts) else BUDGET
        state = (self._points, self._boxes, self._number, stack, waiting, budget, self._relaxed, self._by_median)
        everything: tuple[Any, ...] = (*state, *axes, *least, *work, attempts, halves)
        number, waiting = cut_boxes(*everything)
        return int(number), int(waiting)

    def _cut_at_once(self, run: Run, axes: Axes, least: LeastCounts, work: WorkArrays) -> None:
        """Where the kernels know all that is required."""
        waiting = self._number
        stack = np.zeros(len(self._points) + 2, dtype=np.int64)
        stack[:waiting] = np.arange(waiting)
        while waiting:
            self._number, waiting = self._kernel(axes, least, work, stack, waiting)
            self._tell(run, stack[:waiting])

    def _cut_in_rounds(
        self, run: Run, axes: Axes, least: LeastCounts, work: WorkArrays, models: Sequence[PrivacyModel]
    ) -> None:
        """Where models must judge: in each round every open box offers its next cut, and all halves are counted."""
        asked = np.arange(self._number, dtype=np.int64)
        attempts = np.zeros(self._number, dtype=np.int64)
        while len(asked):
            halves = np.full(len(self._points), -1, dtype=np.int64)
            self._kernel(axes, least, work, asked, len(asked), attempts, halves)
            offered = np.zeros(len(asked), dtype=np.bool_)
            offered[halves[halves >= 0] // 2] = True
            renumbered = np.cumsum(offered) - 1
            asked, attempts = asked[offered], attempts[offered]
            halves = np.where(halves < 0, -1, 2 * renumbered[halves // 2] + halves % 2)
            classes = count_classes(self._problem.cells, halves[self._point_of_cell], 2 * len(asked))
            fine = np.ones(2 * len(asked), dtype=np.bool_)
            for model in models:
                fine &= model.holds(classes, self._problem.reference)
            both = fine.reshape(-1, 2).all(axis=1)
            before = self._number
            self._number = accept(self._points, self._boxes, before, asked[both], work.steps, work.moved)
            new = np.arange(before, self._number, dtype=np.int64)
            asked = np.concatenate((asked[~both], new))
            attempts = np.concatenate((attempts[~both] + 1, np.zeros(len(new), dtype=np.int64)))
            self._tell(run, asked)

    def _tell(self, run: Run, waiting: Places) -> None:
        open_points = int((self._boxes[waiting, END] - self._boxes[waiting, START]).sum())
        run.step(Stage.SEARCH, 1.0 - open_points / len(self._points), "Cutting")

    def _settle(self, run: Run) -> dict[int, Covered]:
        """Published boxes with equal labels are one class, in each shield. Models that may not survive this (people
        who are in several boxes do not add up) are asked again, and the last cuts of boxes that fail are undone.
        """
        cells = self._problem.cells
        doubtful = [
            requirement
            for requirement in self._problem.requirements
            if not requirement.model.survives_merging(additive=cells.subjects is None)
        ]
        while True:
            covered = self._covered()
            failing = np.zeros(len(self._final()), dtype=np.bool_)
            for requirement in doubtful:
                shown = [covered[p] for p in requirement.shield]
                merged = combine([one.codes for one in shown], [len(one.labels) for one in shown], len(failing))[1]
                classes = count_classes(cells, merged[self.box_of_cell()], int(merged.max()) + 1)
                verdict = requirement.model.holds(classes, self._problem.reference)
                failing |= ~verdict[merged]
                if not verdict.all() and (self._boxes[self._final()[failing], PARENT] < 0).all():
                    achieved = requirement.model.achieved(classes, self._problem.reference)
                    raise _unreachable(requirement.model, achieved, whole_table=len(failing) == 1)
            if not failing.any():
                return covered
            run.step(Stage.SEARCH, None, "Cutting")
            parents = self._boxes[self._final()[failing], PARENT]
            again_whole = np.zeros(self._number, dtype=np.bool_)
            again_whole[parents[parents >= 0]] = True
            undo(self._boxes, self._number, again_whole)

    def _final(self) -> Places:
        """The boxes that are not cut, in the order of their points."""
        whole = np.flatnonzero(self._boxes[: self._number, WHOLE])
        return whole[np.argsort(self._boxes[whole, START])]

    def _covered(self) -> dict[int, Covered]:
        starts = self._boxes[self._final(), START]
        return {
            position: cover_boxes(axis, self._points[:, column], starts, self._largest_set)
            for column, (position, axis) in enumerate(self._axes.items())
        }

    def box_of_cell(self) -> Places:
        """Each cell's box, as a place among those that are not cut."""
        final = self._final()
        lengths = self._boxes[final, END] - self._boxes[final, START]
        box_of_point = np.empty(len(self._points), dtype=np.int64)
        box_of_point[self._points[:, -1]] = np.repeat(np.arange(len(final)), lengths)
        return box_of_point[self._point_of_cell]


def _unreachable(model: PrivacyModel, achieved: Mapping[str, float], *, whole_table: bool) -> UnreachableError:
    where = "all records in one class" if whole_table else "classes as wide as the maximum levels allow"
    reached = ", ".join(f"{name} = {figure:g}" for name, figure in achieved.items())
    return UnreachableError(
        f"Even with {where} {model.summary()} does not hold; the best that is reached is {reached}.",
        "Ask for less, or give more records." if whole_table else "Raise the maximum levels, or ask for less.",
    )
