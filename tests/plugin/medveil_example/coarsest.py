"""A method of another package."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from medveil.methods.method import Method
from medveil.methods.optimal import generalized
from medveil.methods.problem import Problem
from medveil.release.draft import Draft
from medveil.run import Run


class Coarsest(Method):
    """Every column is published at its highest level, or so many levels below it."""

    name: ClassVar[str] = "coarsest"

    below: Annotated[int, Field(ge=0, description="How many levels below the highest.")] = 0

    def anonymize(self, problem: Problem, run: Run) -> Draft:
        run.step("Taking the coarsest")
        levels = tuple(max(problem.hierarchies[name].height - self.below, 0) for name in problem.cells.quasi)
        kept = np.ones(len(problem.cells), dtype=np.bool_)
        return problem.draft(generalized(problem, levels), kept, self.description())
