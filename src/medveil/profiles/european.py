"""What the European profiles share: a release is anonymous, or pseudonymous and for a secure environment only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from medveil.hierarchy.dates import Dates
from medveil.hierarchy.intervals import Intervals
from medveil.profiles.profile import (
    ChecklistPoint,
    Profile,
    ProfiledColumn,
    ProfileOutcome,
    ProfileTerms,
    Ruling,
    VouchedBy,
)
from medveil.table.schema import Kind, Role

AGES = Intervals(domain=(0, 119), widths=(5, 10, 20, 40), top=90)
YEARS = Dates(levels=("year", "decade"))
AGENCY = 11
"""People in a group by the threshold of 0.09 that the European Medicines Agency recommends for clinical reports: one in
eleven is 0.091, which is the usual reading."""
NOT_A_PERSON = "take it out, or give it 'role: identifier'"


class EuropeanProfile(Profile):
    """Rules of the European Union for data about health that are used for research."""

    format: Annotated[
        Literal["anonymous", "pseudonymous"],
        Field(description="anonymous, or pseudonymous for those who work in a secure environment."),
    ] = "anonymous"
    people: Annotated[
        int,
        Field(
            ge=2,
            le=1000,
            description="The least number of people in a group of an anonymous release. 11 is the usual reading of the "
            "threshold of 0.09 that the European Medicines Agency recommends; another is left to a person to attest.",
        ),
    ] = AGENCY

    @property
    def secure_only(self) -> bool:
        return self.format == "pseudonymous"

    def rule(self, column: ProfiledColumn) -> Ruling:
        if column.role is Role.SUBJECT:
            return Ruling()
        if column.role in {Role.KEY, Role.DATE}:
            return self._linked(column)
        if column.derived is None and (named := _names_people(column)) is not None:
            return named
        if column.role is Role.QUASI:
            return _filled(column)
        return self._as_it_is(column)

    def _linked(self, column: ProfiledColumn) -> Ruling:
        """Pseudonyms and shifted dates."""
        if self.secure_only:
            return Ruling()
        if column.role is Role.KEY:
            why = "holds pseudonyms, which link all records of a person. Write 'role: subject', which is not published"
        else:
            why = (
                "holds shifted dates: who knows one date of a person knows all. Make it 'role: quasi', or publish days "
                f"with 'derive: {{days_since: {column.name}}}'"
            )
        return Ruling(refused=f"'{column.name}' {why}, or ask for 'format: pseudonymous'.")

    def _as_it_is(self, column: ProfiledColumn) -> Ruling:
        """A plain or sensitive column that others may know is part of no group."""
        known = column.role is Role.PLAIN and column.guess.role is Role.QUASI and bool(column.guess.concept)
        if self.secure_only or column.derived is not None or not known:
            return Ruling()
        if column.insist:
            return Ruling(attest=f"that nobody outside can know '{column.name}' of a person")
        return Ruling(
            refused=f"'{column.name}' is published as it is, though others may know it. Make it 'role: quasi', or "
            "attest that nobody can with 'insist: true'."
        )

    def refused(self, columns: Sequence[ProfiledColumn], terms: ProfileTerms) -> list[str]:
        named = [column for column in columns if column.role in {Role.KEY, Role.SUBJECT}]
        if self.secure_only:
            return [] if named else ["Nothing says whose a record is. Give the column that does 'role: key'."]
        found = []
        if terms.people < self.people:
            found.append(
                f"Groups of {self.people} people are asked for. Write '{{model: k-anonymity, k: {self.people}}}', or "
                f"declare another number: 'profile: {{name: {self.name}, people: ...}}'."
            )
        bare = [c.name for c in columns if c.role is Role.SENSITIVE and c.name not in terms.guarded]
        if bare:
            found.append(
                f"Nothing hides '{bare[0]}' within a group. Add a model such as '{{model: l-diversity, l: 2, "
                f"attribute: {bare[0]}}}'."
            )
        return found

    def parameters(self, columns: Sequence[ProfiledColumn], outcome: ProfileOutcome) -> dict[str, Any]:  # noqa: ARG002
        return {"format": self.format, "people": self.people}

    def checklist(self, parameters: Mapping[str, Any]) -> list[ChecklistPoint]:
        anonymous = parameters.get("format") != "pseudonymous"
        points = [
            ChecklistPoint("", "No column is called or reads like something that names people.", VouchedBy.PROGRAM),
            *(self.anonymous(int(parameters.get("people") or 0)) if anonymous else self.pseudonymous()),
        ]
        attested = (parameters.get("attested") or {}).values()
        points += [ChecklistPoint("", f"{words[0].upper()}{words[1:]}.", VouchedBy.PERSON) for words in attested]
        seen = "That the columns are what their names and values say, and that every column which others may know is a "
        return [*points, ChecklistPoint("", f"{seen}quasi-identifier.", VouchedBy.PERSON), *self.attested()]

    @abstractmethod
    def anonymous(self, people: int) -> list[ChecklistPoint]:
        """What must hold of an anonymous release."""

    @abstractmethod
    def pseudonymous(self) -> list[ChecklistPoint]:
        """What must hold of a pseudonymous one."""

    @abstractmethod
    def attested(self) -> list[ChecklistPoint]:
        """What is left to people either way."""


def _names_people(column: ProfiledColumn) -> Ruling | None:
    """A column that looks as if it named people, or hides some that do."""
    found = column.guess
    if found.role not in {Role.IDENTIFIER, Role.SUBJECT} and not found.hides and not found.free_text:
        return None
    looks = "free text" if found.free_text else ", ".join(found.hides) or "something that names people"
    if column.insist:
        return Ruling(attest=f"that '{column.name}' names nobody, although it looks like {looks}")
    return Ruling(
        refused=f"'{column.name}' cannot be published: it looks like {looks}. Either {NOT_A_PERSON}, or attest that it "
        "names nobody with 'insist: true'."
    )


def _filled(column: ProfiledColumn) -> Ruling:
    """How a quasi-identifier generalizes, where the policy leaves that out."""
    if column.hierarchy is not None:
        return Ruling()
    if column.derived == "age_at" or column.guess.concept.startswith("age"):
        return Ruling(hierarchy=AGES, min_level=1)
    if column.kind is Kind.DATE or (column.kind is None and column.guess.kind is Kind.DATE):
        return Ruling(hierarchy=YEARS, min_level=1)
    return Ruling(hierarchy=column.guess.hierarchy, min_level=column.guess.min_level or None)


def groups(rule: str, people: int) -> list[ChecklistPoint]:
    """That nobody is singled out, and by how many people everybody is hidden."""
    points = [
        ChecklistPoint(
            rule,
            f"Singling out: everybody is in a group of at least {people} people by what others know.",
            VouchedBy.PROGRAM,
        ),
        ChecklistPoint(
            rule, "Linking: no pseudonyms, and no dates that were shifted or are told to the day.", VouchedBy.PROGRAM
        ),
        ChecklistPoint(rule, "Inference: a model hides every sensitive attribute within its group.", VouchedBy.PROGRAM),
    ]
    if people != AGENCY:
        points.append(
            ChecklistPoint(
                rule, f"That {people} people are enough: the usual threshold asks for {AGENCY}.", VouchedBy.PERSON
            )
        )
    return points
