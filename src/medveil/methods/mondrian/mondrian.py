"""Mondrian: boxes of similar records, cut in two as long as both halves keep what is required."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.codes.combine import combine
from medveil.errors import PolicyError
from medveil.methods.method import Method
from medveil.methods.mondrian.axes import read_axis
from medveil.methods.mondrian.partition import Partition
from medveil.methods.problem import Problem, label_array
from medveil.release.draft import Draft
from medveil.run import Run


class Mondrian(Method):
    """Multidimensional recoding: all records are one box, which is cut in two along one quasi-identifier, and so on, as
    long as both halves satisfy every model. A class is published as the ranges and sets that its records fill.

        loss = 1/(n sum_a w_a) sum_records sum_a w_a extent_a / domain_a

    n: the number of records; w_a: the weight of attribute a. extent_a / domain_a: of a range, its length / that of the
    widest one, and 1 where the class holds missing values as well; of a set, (leaves - 1) / (leaves of the domain - 1).

    Numbers, dates and codes (in the order of their text) are published as ranges `[20-34]`, categories as sets
    `{a, b}`; those with a hierarchy are cut along the order of its leaves. What labels mean: see table.labels.
    Ranges of numbers end where those of the hierarchy's first level do; without one, ranges of numbers and dates end at
    round places between neighbouring values: an end that is the outermost value of a class may be one person's own.
    A model on a shield is required of whole boxes, cut along every attribute that is in some shield: more than is
    asked for, and enough. Attributes in no shield are published as they are. A minimum level is the finest that is
    published; no class reaches over groups of a maximum level. Records of one tuple stay together, also where relaxed.

    LeFevre, DeWitt and Ramakrishnan 2006, Mondrian multidimensional k-anonymity.
    """

    name: ClassVar[str] = "mondrian"
    leaves_open: ClassVar[str] = (
        "Values are true, only coarser: someone who already knows a person's sensitive values may find the "
        "person by them."
    )
    keeps_records: ClassVar[bool] = True
    labels_cells: ClassVar[bool] = True

    mode: Annotated[
        Literal["strict", "relaxed"],
        Field(description="strict: a cut leaves each value on one side; relaxed: records of one value may be on both."),
    ] = "strict"
    cuts: Annotated[
        Literal["loss", "median"],
        Field(description="loss: the cut that takes most off the loss; median: the widest attribute at its median."),
    ] = "loss"
    largest_set: Annotated[
        int,
        Field(
            ge=1,
            description="A class with more values of a category than this is published as the lowest group of the "
            "hierarchy that holds them all, `*` without one; 1 publishes groups instead of sets.",
        ),
    ] = 50

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "which people of a population a class covers is known only where each column has one level"
        return super().why_not(problem)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        reason = self.why_not(problem)
        if reason is not None:
            raise PolicyError(f"The method 'mondrian' does not fit: {reason}.", "Use another one, such as 'optimal'.")
        axes = [read_axis(problem, position) for position in range(len(problem.cells.quasi))]
        shielded = sorted({position for requirement in problem.requirements for position in requirement.shield})
        partition = Partition(
            problem,
            {position: axes[position] for position in shielded},
            relaxed=self.mode == "relaxed",
            by_median=self.cuts == "median",
            largest_set=self.largest_set,
        )
        covered = partition.cut(run)

        box = partition.box_of_cell()
        labels, shown, sizes, lost = [], [], [], 0.0
        for position, axis in enumerate(axes):
            published = covered.get(position)
            codes, texts = axis.codes, axis.labels
            places: NDArray[Any] = axis.codes
            losses = axis.losses
            if published is not None:
                codes, texts = published.codes[box].astype(np.int32), published.labels
                places, losses = box, published.losses
            labels.append(label_array(texts, codes))
            shown.append(codes)
            sizes.append(len(texts))
            # Whole numbers are added up first: the sum does not depend on the order of the cells.
            records = np.bincount(places, problem.cells.counts, minlength=len(losses))
            lost += axis.weight * float(losses @ records)
        weight = sum(axis.weight for axis in axes) or 1.0
        loss = lost / problem.cells.records / weight
        number = len(combine(shown, sizes, len(box))[0])
        return problem.draft(labels, np.ones(len(box), dtype=np.bool_), self.description(loss=loss, classes=number))
