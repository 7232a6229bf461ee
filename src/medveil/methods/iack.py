"""Anonymization for classification: generalize where the target's information is lost least, then suppress values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from medveil.cells import make_cells
from medveil.codes.combine import combine
from medveil.errors import PolicyError, UnreachableError, did_you_mean
from medveil.hierarchy.hierarchy import ROOT
from medveil.methods.method import Method
from medveil.methods.optimal import space_of
from medveil.methods.problem import Problem, label_array
from medveil.privacy.count import count_classes
from medveil.release.draft import Draft
from medveil.run import Run, Stage

Codes = NDArray[np.int64]


class InformationBased(Method):
    """Columns are generalized one level at a time, always the one whose next level loses the fewest bits about the
    target, until no more than a share of the records is in classes that fail. Of those records single values are
    suppressed, the column that tells least about the target first, until they are in classes that hold; what still
    fails is left out.

        I(A; T) = sum over groups a and target values t of p(a, t) log2 (p(a, t) / (p(a) p(t)))

    p: shares of the records; a: the groups of column A at a level; t: the values of the target T.

    After Li, Liu, Baig and Wong 2011, Information based data anonymization for classification utility (IACk).
    """

    name: ClassVar[str] = "iack"
    leaves_open: ClassVar[str] = (
        "Values are true, only coarser: someone who already knows a person's sensitive values may find the "
        "person by them."
    )

    target: Annotated[
        str | None,
        Field(description="What a recipient wants to predict: a sensitive or plain column; the first sensitive one."),
    ] = None
    suppression: Annotated[
        float, Field(ge=0, le=1, description="The largest share of records whose values may be suppressed.")
    ] = 0.05

    def why_not(self, problem: Problem) -> str | None:
        if problem.cells.population is not None:
            return "which people of a population a class covers is known only where each column has one level"
        if self.target is None and not problem.schema.sensitive:
            return "it needs a target"
        return super().why_not(problem)

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        reason = self.why_refused(problem)
        if reason is not None:
            raise PolicyError(f"The method '{self.name}' does not fit: {reason}.", "Choose another method.")
        known = (*problem.schema.sensitive, *problem.schema.plain)
        target = problem.schema.sensitive[0] if self.target is None else self.target
        if target not in known:
            raise PolicyError(f"The target '{target}' is not a sensitive or plain column.", did_you_mean(target, known))
        run.step(Stage.SEARCH, 0.0, "Measuring information")
        information = [_information(problem, name, target) for name in problem.cells.quasi]
        levels = self._generalize(problem, information, run)
        hierarchies = [problem.hierarchies[name] for name in problem.cells.quasi]
        chosen = [hierarchy.levels[level] for hierarchy, level in zip(hierarchies, levels, strict=True)]
        groups = [
            level.groups[codes].astype(np.int64) for level, codes in zip(chosen, problem.cells.codes, strict=True)
        ]
        labels = [[*level.labels, ROOT] for level in chosen]
        kept = np.ones(len(problem.cells), dtype=np.bool_)
        touched = failing(problem, groups, kept)
        suppressed = int(problem.cells.counts[touched].sum())
        told = [bits[level] for bits, level in zip(information, levels, strict=True)]
        run.step(Stage.SEARCH, 0.8, "Suppressing values")
        most = space_of(problem).top
        for position in np.argsort(told, kind="stable").tolist():
            if not touched.any():
                break
            if most[position] < hierarchies[position].height:
                continue
            root = labels[position].index(ROOT)
            groups[position] = np.where(touched, root, groups[position])
            touched = failing(problem, groups, kept)
        while touched.any():
            kept &= ~touched
            if not kept.any():
                raise _unreachable(1.0, self.suppression)
            touched = failing(problem, groups, kept)
        return problem.draft(
            [label_array(names, codes.astype(np.int32)) for names, codes in zip(labels, groups, strict=True)],
            kept,
            self.description(
                levels=dict(zip(problem.cells.quasi, levels, strict=True)),
                records_with_suppressed_values=suppressed - int(problem.cells.counts[~kept].sum()),
            ),
        )

    def _generalize(self, problem: Problem, information: Sequence[Sequence[float]], run: Run) -> list[int]:
        """The levels at which few enough records fail, each step the one that loses the fewest bits."""
        space = space_of(problem)
        levels, most = list(space.bottom), list(space.top)
        everything = np.ones(len(problem.cells), dtype=np.bool_)
        limit = self.suppression * problem.cells.records
        while True:
            run.step(Stage.SEARCH, min(sum(levels) / max(sum(most), 1), 1.0) * 0.8, "Generalizing")
            groups = [
                problem.hierarchies[name].levels[level].groups[codes].astype(np.int64)
                for name, level, codes in zip(problem.cells.quasi, levels, problem.cells.codes, strict=True)
            ]
            fail = int(problem.cells.counts[failing(problem, groups, everything)].sum())
            if fail <= limit:
                return levels
            steps = [
                (information[position][level] - information[position][level + 1], position)
                for position, level in enumerate(levels)
                if level < most[position]
            ]
            if not steps:
                raise _unreachable(fail / problem.cells.records, self.suppression)
            levels[min(steps)[1]] += 1


def _information(problem: Problem, name: str, target: str) -> list[float]:
    """What each level of a column tells about the target, in bits."""
    kinds = {name: problem.cells.domains[name].kind}
    pairs = make_cells(problem.engine.cells((name, target)), (name,), (target,), kinds)
    codes, values = pairs.codes[0], pairs.sensitive[target]
    number = len(pairs.domains[target])
    return [
        mutual_information(
            np.bincount(level.groups[codes] * number + values, pairs.counts, minlength=len(level.labels) * number)
            .reshape(-1, number)
            .astype(np.float64)
        )
        for level in problem.hierarchies[name].levels
    ]


def mutual_information(counts: NDArray[np.float64]) -> float:
    """The bits that rows and columns of a table of counts share.

    >>> mutual_information(np.array([[2.0, 0.0], [0.0, 2.0]])), mutual_information(np.ones((2, 2)))
    (1.0, 0.0)
    """
    joint = counts / counts.sum()
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / alone[held])).sum())


def failing(problem: Problem, groups: Sequence[Codes], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which kept cells are in a class that fails some requirement."""
    fails = np.zeros(len(kept), dtype=np.bool_)
    for requirement in problem.requirements:
        columns = [groups[position] for position in requirement.shield]
        first, number = combine(columns, [int(column.max(initial=0)) + 1 for column in columns], len(kept))
        classes = count_classes(problem.cells, number, len(first), kept)
        fails |= ~requirement.model.holds(classes, problem.reference)[number]
    return fails & kept


def _unreachable(share: float, limit: float) -> UnreachableError:
    return UnreachableError(
        f"Even at the most general levels {share:.1%} of the records are in classes that fail, where values of "
        f"{limit:.1%} may be suppressed.",
        f"Allow 'suppression: {math.ceil(share * 1e4) / 1e4:g}', or ask for less.",
    )
