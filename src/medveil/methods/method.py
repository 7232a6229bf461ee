"""What a method is: its parameters, and one function from a problem to a draft."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from medveil.methods.problem import Problem
from medveil.release.draft import Draft
from medveil.run import Run


class Method(BaseModel, ABC):
    """A method and its parameters, as the policy gives them under `method:`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    proves: ClassVar[frozenset[str]] = frozenset()
    """The models, by name, that hold by the way in which this method works; a model of basis `proof` needs one."""

    @property
    def guaranteed(self) -> bool:
        """Whether its releases keep what they are asked for; one that does not claims nothing."""
        return True

    @abstractmethod
    def anonymize(self, problem: Problem, run: Run) -> Draft:
        """A table that keeps the problem's requirements, or an UnreachableError that says how close one gets."""

    def misfit(self, problem: Problem) -> str | None:
        """Why this method cannot take this problem, or None: what a comparison lists as skipped."""
        return None if problem.cells.quasi else "there is no quasi-identifier"

    def refusal(self, problem: Problem) -> str | None:
        """Why this method must not take this problem, or None: a model that it has no proof of, or a misfit."""
        unproved = [m.name for m in problem.models if m.basis == "proof" and m.name not in self.proves]
        return f"it has no proof of {unproved[0]}" if unproved else self.misfit(problem)

    def description(self, **report: Any) -> dict[str, Any]:
        """The manifest's entry: the method's name, its parameters, and what it reports of itself."""
        return {"name": self.name, "parameters": self.model_dump(mode="json"), **report}
