"""The column that says who a record belongs to, by its shape: its values repeat, and what people are does not change
within one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import FEW, Guess
from medveil.table.schema import Kind, Role

UNCHANGING = frozenset({"sex", "birth", "race"})
"""What hardly ever changes from one record of a person to the next."""
REASON = (
    "Its values repeat, and within each of them {names} never change: it numbers people, so they are protected and "
    "counted by it. It is never published."
)


def person_by_shape(
    columns: Sequence[tuple[ColumnProfile, Guess]], combinations: Callable[[str, str], int]
) -> list[Guess]:
    """The guesses, one of which becomes the subject where none is yet and a column has the shape of one.

    combinations: how many different pairs of values two columns have together, a missing one among them.
    """
    guesses = [guess for _, guess in columns]
    if any(guess.role is Role.SUBJECT for guess in guesses):
        return guesses
    steady = [c for c, guess in columns if guess.concept in UNCHANGING and not c.missing and c.distinct > 1]
    for place, (column, guess) in enumerate(columns):
        if steady and _may_number_people(column, guess):
            same = [one for one in steady if combinations(column.name, one.name) == column.distinct]
            if same == steady:
                names = " and ".join(f"'{one.name}'" for one in steady)
                guesses[place] = replace(
                    guess, role=Role.SUBJECT, reason=REASON.format(names=names), hierarchy=None, concept="person"
                )
                return guesses
    return guesses


def _may_number_people(column: ColumnProfile, guess: Guess) -> bool:
    """Many values, each of a few records: no list of codes, no quantity."""
    if column.missing or guess.concept in UNCHANGING or guess.kind is Kind.DATE or guess.free_text:
        return False
    repeated = column.present - column.distinct
    named = column.are_whole or guess.kind is Kind.CODE
    return named and column.distinct > FEW and repeated > FEW and column.distinct > column.present / 50
