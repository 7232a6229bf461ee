"""One small tree of errors: what is wrong, what was given, how to mend it.

No message ever holds a cell value of the input: columns, rules, counts and line numbers are enough to find the place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


class MedveilError(Exception):
    """Anything medveil refuses to do. `exit_code` is what the command line returns."""

    exit_code: ClassVar[int] = 2

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{problem} {remedy}".strip())


class InputError(MedveilError):
    """The data, a hierarchy or a file cannot be read as declared."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a policy: the place in it by its keys, the line of the file where there is one, and
    a sentence.
    """

    place: str
    line: int | None
    sentence: str

    def __str__(self) -> str:
        where = f"Line {self.line}, {self.place}" if self.line else self.place or "The policy"
        return f"{where}: {self.sentence}"


class PolicyError(MedveilError):
    """The policy says something that cannot be meant. `faults` holds each thing that is wrong, for forms."""

    def __init__(self, problem: str, remedy: str = "", faults: Sequence[Fault] = ()) -> None:
        super().__init__(problem, remedy)
        self.faults = tuple(faults) or (Fault("", None, f"{problem} {remedy}".strip()),)

    @classmethod
    def of(cls, faults: Sequence[Fault]) -> PolicyError:
        """One error for all faults that were found."""
        return cls("\n".join(str(fault) for fault in faults), faults=faults)


class OutputError(MedveilError):
    """The release cannot be written where it was asked for."""


class UnreachableError(MedveilError):
    """No release of this kind meets the goal; the message says how close one can get."""

    exit_code = 3


class VerificationError(MedveilError):
    """What was written does not keep what it claims."""

    exit_code = 4


class CancelledError(MedveilError):
    """The run was stopped from outside; nothing was written."""

    exit_code = 130


def too_little_memory(doing: str, allowed: str) -> MedveilError:
    """What is told where a database runs out of memory: how much there was, and what to do."""
    return MedveilError(
        f"{doing} needs more than the {allowed} of memory that may be used.",
        "Allow more with --memory where the machine has it, or publish fewer columns.",
    )


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A closing sentence that names the nearest known word, or all of them where none is near.

    >>> did_you_mean("k-anonimity", ["k-anonymity", "l-diversity"])
    "Did you mean 'k-anonymity'?"
    >>> did_you_mean("zzz", ["age", "sex"])
    'Known are: age, sex.'
    """
    names = list(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean '{near[0]}'?"
    return f"Known are: {', '.join(names)}." if names else ""
