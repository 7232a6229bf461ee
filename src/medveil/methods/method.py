"""What a method is: its parameters, and one function from a problem to a draft."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict

from medveil.errors import PolicyError
from medveil.methods.privacy_trial import PrivacyTrial
from medveil.methods.problem import Problem
from medveil.privacy.model import Spending
from medveil.release.draft import Draft
from medveil.release.figures import Figure
from medveil.run import Run
from medveil.table.schema import Role


class Method(BaseModel, ABC):
    """A method and its parameters, as the policy gives them under `method:`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    proves: ClassVar[frozenset[str]] = frozenset()
    """The models, by name, that hold by the way in which this method works; a model of basis `proof` needs one."""

    leaves_open: ClassVar[str] = ""
    """What its releases do not protect from beside what their models leave open, in a sentence for recipients."""

    needs_k: ClassVar[bool] = False
    """Whether it makes classes of a size that some model must name."""
    needs_rows: ClassVar[bool] = False
    """Whether it goes record by record; one that does not works on cells alone, and so on any engine."""
    one_level: ClassVar[bool] = False
    """Whether every value of a column is published as the same label in all records."""
    keeps_records: ClassVar[bool] = False
    """Whether each published row is one record of the source, with its own plain columns: what keys and dates need."""
    labels_cells: ClassVar[bool] = False
    """Whether it gives every cell its labels by `Problem.draft`, and nothing else is made: a change of the policy can
    then be tried on cells alone, in little time.
    """
    asks_engine: ClassVar[bool] = False
    """Whether it can leave the cells with an engine that counts classes, and ask it instead."""
    guards_sensitive: ClassVar[bool] = False
    """Whether it protects sensitive values by itself, so that no model has to."""
    draws_tree: ClassVar[bool] = False
    """Whether it can draw the tree that it searched."""

    @property
    def guaranteed(self) -> bool:
        """Whether its releases keep what they are asked for; one that does not claims nothing."""
        return True

    @property
    def hides_who_has_what(self) -> bool:
        """Whether it claims that nobody can tell who of a group has which values. Whatever looks at who has them, with
        their number of records, must then neither choose what is published nor end a run.
        """
        return False

    @property
    def may_suppress(self) -> float:
        """The largest share of records that it may leave out."""
        return 0.0

    def suppressing(self, share: float) -> Self:  # noqa: ARG002 - for methods that leave records out
        """The same method, allowed to leave out so much."""
        return self

    @abstractmethod
    def anonymize(self, problem: Problem, run: Run) -> Draft:
        """A table that keeps the problem's requirements, or an UnreachableError that says how close one gets."""

    def why_not(self, problem: Problem) -> str | None:
        """Why this method cannot take this problem, or None: what a comparison lists as skipped."""
        if not problem.cells.quasi:
            return "there is no quasi-identifier"
        if self.needs_k and all(model.least_class_size is None for model in problem.models):
            return "it needs a k: name k-anonymity under 'privacy'"
        return None

    def why_refused(self, problem: Problem) -> str | None:
        """Why this method must not take this problem, or None: the engine has no rows for it, it has no proof of a
        model, or `why_not` says why.
        """
        if self.needs_rows and not problem.engine.has_rows:
            return "it goes record by record, and the engine only counts records"
        elsewhere = problem.cells.elsewhere
        if elsewhere is not None and not self.asks_engine:
            return f"it works on all distinct records in memory, and {elsewhere.too_many}"
        linking = problem.schema.names(Role.KEY, Role.DATE)
        if linking and not self.keeps_records:
            return f"'{linking[0]}' follows people from record to record, which this method does not publish"
        unproved = [m.name for m in problem.models if m.basis == "proof" and m.name not in self.proves]
        return f"it has no proof of {unproved[0]}" if unproved else self.why_not(problem)

    def warnings(self, problem: Problem) -> list[str]:  # noqa: ARG002 - methods share one signature
        """What the policy alone foretells and somebody should know before anything is spent."""
        return []

    def privacy_trials(self, spending: Spending, runs: int, *, declared: bool) -> list[PrivacyTrial]:  # noqa: ARG002
        """What an audit of differential privacy runs, about so many times each: what makes the releases of this
        method, on tables on which a fault would show. `declared`: the policy declares every sensitive domain.
        """
        raise PolicyError(f"The method '{self.name}' claims no differential privacy.", "There is nothing to audit.")

    @classmethod
    def figures(cls, reported: Mapping[str, Any], internal: Mapping[str, Any]) -> list[Figure]:  # noqa: ARG003
        """What a release of this method shows of itself: from what it reports to recipients, and, on the steward's
        page, from what it left for the steward, by name. Recipients are shown what needs no `internal`.
        """
        return []

    def description(self, **report: Any) -> dict[str, Any]:
        """The manifest's entry: the method's name, its parameters, and what it reports of itself."""
        return {"name": self.name, "parameters": self.model_dump(mode="json"), **report}
