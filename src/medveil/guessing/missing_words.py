"""Words that stand for a missing value in many files. They are proposed: only the policy says what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

MISSING_WORDS = (
    "?", "??", "???", ".", "-", "--", "---", "NA", "N/A", "n/a", "N.A.", "n.a.", "#N/A", "<NA>", "NaN", "nan", "NAN",
    "NULL", "null", "(null)", "#NULL!", "\\N", "MISSING", "Missing", "missing",
)  # fmt: skip
"""Written exactly so. `Null` and `Na` are names of people, and `none` or `unknown` are answers."""
SHOWN = 3
_OPPOSITE = {"-": "+", "--": "++", "---": "+++"}


def missing_words(values: Iterable[str]) -> tuple[str, ...]:
    """Those of a column's values that seem to stand for a missing one; a minus beside a plus is a result.

    >>> missing_words(["12", "?", "none"]), missing_words(["-", "+"])
    (('?',), ())
    """
    known = set(values)
    return tuple(word for word in MISSING_WORDS if word in known and _OPPOSITE.get(word) not in known)


def proposal(words: Mapping[str, Sequence[str]]) -> str:
    """What seems to be missing in which columns, in a sentence; empty where nothing does.

    >>> proposal({"?": ["race", "weight"]})
    "'?' seems to stand for a missing value (in race, weight)."
    """
    return " ".join(
        f"'{word}' seems to stand for a missing value (in {_listed(names)})." for word, names in words.items()
    )


def as_options(words: Iterable[str]) -> str:
    """The options of a command that make these words missing ones.

    >>> as_options(["?", "NA"])
    "--missing '?' --missing NA"
    """
    return " ".join(f"--missing {shlex.quote(word)}" for word in words)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
