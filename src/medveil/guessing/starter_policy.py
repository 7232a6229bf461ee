"""A commented starter policy from guesses, for a data steward to read, correct and sign off."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from medveil.guessing.guess import Guess
from medveil.guessing.missing_words import proposal
from medveil.table.schema import Role

MANY = 12
"""With more quasi-identifiers than this nearly everybody is unique, and little is left after generalization."""
DESIGN = "survey-weight"
"""The concept of columns that analyses need and that say little about anybody."""
WIDTH = 110
LONGEST_KEY = 1_000

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WORDS_OF_YAML = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})


def quote(text: str) -> str:
    """A text as a YAML scalar that every reader takes for this text.

    >>> [quote(text) for text in ("age", "no", "2", "salary class", "a: 5")]
    ['age', '"no"', '"2"', '"salary class"', '"a: 5"']
    """
    if _PLAIN_NAME.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    return f"\\U{ord(character):08X}"


def one_subject(columns: Sequence[tuple[str, Guess]]) -> list[tuple[str, Guess]]:
    """The guesses with one subject at most: the first that a name vouches for, else the first; others are dropped."""
    subjects = [name for name, guess in columns if guess.role is Role.SUBJECT]
    vouched = [name for name, guess in columns if guess.role is Role.SUBJECT and guess.concept == "record"]
    kept = next(iter(vouched or subjects), None)
    reason = (
        "Its values repeat like those of a person's number, but another column was taken for that. Never publish it."
    )
    return [
        (
            name,
            replace(guess, role=Role.IDENTIFIER, reason=reason)
            if guess.role is Role.SUBJECT and name != kept
            else guess,
        )
        for name, guess in columns
    ]


def starter_policy(
    path_in_policy: str,
    columns: Sequence[tuple[str, Guess]],
    read: Mapping[str, Any] | None = None,
    words: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The policy in YAML: every column with its suggested role, the reason above it as a comment, and a first goal.

    `read` says how the file was read, where that was given; `words` seem to stand for a missing value.
    """
    settled = one_subject(columns)
    quasi = [name for name, guess in settled if guess.role is Role.QUASI]
    lines = [
        "# A starter policy: suggestions, not decisions. Read each reason, then correct the role below it.",
        "# A column that is taken out of the list is not published.",
        *missing_lines(path_in_policy, read or {}, words or {}),
        f"data: {flow({'path': path_in_policy, **read}) if read else quote(path_in_policy)}",
        "attributes:" if settled else "attributes: {}",
    ]
    for name, guess in settled:
        lines += comment(guess.reason, "  # ")
        # YAML takes a longer key only where it is said to be one.
        key = f"{quote(name)}:" if len(quote(name)) < LONGEST_KEY else f"? {quote(name)}\n  :"
        lines.append(f"  {key} {{{', '.join(_entries(guess))}}}")
    lines.append("privacy:")
    if len(quasi) > MANY:
        lines += comment(
            f"There are {len(quasi)} quasi-identifiers, which will cost much of the data: make those plain or "
            "sensitive that nobody outside can know, and take out those that nobody needs.",
            "  # ",
        )
    lines.append("  - {model: k-anonymity, k: 5}")
    lines += _diversity([name for name, guess in settled if guess.role is Role.SENSITIVE and guess.concept != DESIGN])
    lines += [*_method(len(quasi)), "output: {format: csv}"]
    return "\n".join(lines) + "\n"


def missing_lines(
    path: str, read: Mapping[str, Any], words: Mapping[str, Sequence[str]], indented: str = ""
) -> list[str]:
    """What seems to stand for a missing value, and the line that says so; it is the steward who knows."""
    if not words:
        return []
    described = flow({"path": path, **read, "missing": [*read.get("missing", ()), *words]})
    begin = f"{indented}# "
    return [
        *comment(f"{proposal(words)} If so, replace the line below by this one:", begin),
        f"{begin}data: {described}",
    ]


def _method(quasi: int) -> list[str]:
    """One level for a whole column is what everybody understands; with many columns hardly anything is left of it."""
    if quasi <= MANY:
        return ["method: {name: optimal, suppression: 0.02}"]
    words = (
        "With so many quasi-identifiers one level for a whole column would hide most of them: mondrian generalizes "
        "each group by itself. 'optimal' is simpler to read, once there are few."
    )
    return [*comment(words, "# "), "method: {name: mondrian}"]


def _entries(guess: Guess) -> list[str]:
    entries = [f"role: {guess.role.value}"]
    if guess.role in {Role.IDENTIFIER, Role.SUBJECT}:
        return entries
    entries.append(f"type: {guess.kind.value}")
    if guess.written:
        entries.append(f'format: "{guess.written}"')
    if guess.words:
        entries.append(f"labels: {guess.words}")
    if guess.hierarchy and guess.role is Role.QUASI:
        entries.append(f"hierarchy: {flow(guess.hierarchy.to_dict())}")
        if guess.min_level:
            entries.append(f"min_level: {guess.min_level}")
    return entries


def flow(declared: Any) -> str:
    """Mappings, lists, words and numbers on one line of YAML; a number without an exponent, as all readers take it.

    >>> flow({"type": "intervals", "widths": [0.00001, 5]})
    '{type: intervals, widths: [0.00001, 5]}'
    """
    if isinstance(declared, dict):
        return "{" + ", ".join(f"{quote(str(key))}: {flow(value)}" for key, value in declared.items()) + "}"
    if isinstance(declared, list | tuple):
        return "[" + ", ".join(map(flow, declared)) + "]"
    if isinstance(declared, bool):
        return str(declared).lower()
    if isinstance(declared, int | float):
        return f"{declared:.12f}".rstrip("0").rstrip(".")
    return quote(str(declared))


def _diversity(sensitive: Sequence[str]) -> list[str]:
    """Two different values at least for the first sensitive column; the others are left to the steward."""
    if not sensitive:
        return ["  # There is no sensitive column: k-anonymity hides who somebody is, not what is true of a group."]
    entries = [f"- {{model: l-diversity, variant: distinct, l: 2, attribute: {quote(name)}}}" for name in sensitive]
    advice = comment("The same for the other sensitive columns; each one asks more of the data:", "  # ")
    return [f"  {entries[0]}", *(advice if entries[1:] else ()), *(f"  # {entry}" for entry in entries[1:])]


def comment(text: str, prefix: str) -> list[str]:
    """A text as lines of comments."""
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent=prefix, subsequent_indent=prefix)
