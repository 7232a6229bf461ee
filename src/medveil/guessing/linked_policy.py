"""A commented starter policy for linked tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.guess import Guess
from medveil.guessing.known_tables import BIRTH_YEAR, REPORTED, TERMINOLOGY
from medveil.guessing.links import Columns, FoundLinks
from medveil.guessing.starter_policy import comment, flow, missing_lines, quote
from medveil.table.schema import Kind, Role

DAYS = 183
MOSTLY_ALONE = 0.5
"""Distinct values per record with a value, from which on most people are alone with theirs."""


@dataclass(frozen=True)
class Starter:
    """What a starter policy asks for: what an attacker may know of a set of codes, and how the release is written."""

    k: int = 5
    m: int = 2
    output: str = "csv"
    why: str = ""


def linked_policy(
    data: Mapping[str, Any],
    tables: Mapping[str, Columns],
    links: FoundLinks,
    today: dt.date,
    starter: Starter = Starter(),
    words: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> str:
    """The policy in YAML: the table of people first, every column with a suggested role and the reason above it.

    `data` says where each table is: a path, or a source as a policy declares it; `words` seem to stand for a missing
    value in each.
    """
    assert links.root is not None
    lines = [
        "# A starter policy for linked tables: suggestions, not decisions. Read each reason, then correct the role",
        "# below it. A column that is taken out of the list is not published.",
    ]
    if links.apart:
        lines += comment(
            f"Nothing connects these with the people, so they are left out: {', '.join(links.apart)}.", "# "
        )
    lines.append("tables:")
    sets = []
    for name in [links.root, *(name for name in tables if name != links.root and name not in links.apart)]:
        foreign = {p.column: f"{p.to_table}.{p.to_column}" for p in links.pointers if p.table == name}
        lines += [f"  {name}:", *_missing(data[name], (words or {}).get(name, {})), f"    data: {flow(data[name])}"]
        if foreign:
            lines.append(f"    key: {{{', '.join(f'{quote(c)}: {quote(t)}' for c, t in foreign.items())}}}")
        lines.append("    attributes:")
        for profile, guess in tables[name]:
            if profile.name in foreign:
                continue
            of_people = name == links.root
            settled = _generalized(profile, guess) if of_people else guess
            reason, entries, is_set = _suggested(
                profile.name, settled, links.keys.get(name), today, of_people=of_people
            )
            lines += comment(reason, "      # ")
            lines.append(f"      {quote(profile.name)}: {{{', '.join(entries)}}}")
            if is_set:
                sets.append(f"{name}.{profile.name}")
    lines.append("privacy:")
    if starter.why:
        lines += comment(starter.why, "  # ")
    lines.append(f"  - {{model: k-anonymity, k: {starter.k}}}")
    hidden = f"model: km-anonymity, k: {starter.k}, m: {starter.m}"
    lines += [f"  - {{{hidden}, attribute: {quote(column)}}}" for column in sets]
    lines += ["method: {name: optimal, suppression: 0.02}", f"output: {{format: {starter.output}}}"]
    return "\n".join(lines) + "\n"


def _missing(data: Any, words: Mapping[str, Sequence[str]]) -> list[str]:
    described = data if isinstance(data, Mapping) else {"path": data}
    return missing_lines(
        str(described.get("path", "")), {k: v for k, v in described.items() if k != "path"}, words, "    "
    )


def _generalized(profile: ColumnProfile, guess: Guess) -> Guess:
    """A sensitive number of people that most of them have alone is as good as a name: intervals hide who has which."""
    if guess.role is not Role.SENSITIVE or guess.kind is not Kind.NUMBER or profile.uniqueness < MOSTLY_ALONE:
        return guess
    reason = (
        f"{guess.reason} Most people have a value of their own, so whoever knows it finds the person: it is published "
        "as intervals. Take it out where nobody needs it."
    )
    return replace(guess, role=Role.QUASI, reason=reason)


def _suggested(
    name: str, guess: Guess, key: str | None, today: dt.date, *, of_people: bool
) -> tuple[str, list[str], bool]:
    """Why, what, and whether the column is a set of codes."""
    written = [f'format: "{guess.written}"'] if guess.written and guess.kind is Kind.DATE else []
    if name == key:
        return "It names the records, also where other tables point to it: a pseudonym.", ["role: key"], False
    if guess.role in {Role.IDENTIFIER, Role.SUBJECT} or guess.free_text:
        return guess.reason, ["role: identifier"], False
    if not of_people and guess.concept == "description" and guess.kind is not Kind.CODE:
        return "It says in words what a code says, and would undo what hides the code.", ["role: identifier"], False
    if guess.concept == TERMINOLOGY:
        return guess.reason, ["role: plain", "insist: true"], False
    if guess.concept == BIRTH_YEAR and guess.hierarchy is not None:
        steps = f"hierarchy: {flow(guess.hierarchy.to_dict())}"
        least = f"min_level: {guess.min_level}"
        return guess.reason, ["role: quasi", f"type: {guess.kind.value}", *written, steps, least], False
    if guess.kind is Kind.DATE and guess.concept == "birth":
        age = f"derive: {{age_at: {today.replace(month=1, day=1)}, name: age}}"
        steps = "hierarchy: {type: intervals, widths: [5, 10, 20], top: 90}"
        return "A date of birth: what is published is the age.", ["role: quasi", *written, age, steps], False
    if guess.kind is Kind.DATE:
        reason = "A date: all dates of a person move by one offset, so that intervals survive and single people out."
        return reason, ["role: date", *written, f"shift: {{days: {DAYS}}}"], False
    entries = [f"type: {guess.kind.value}"]
    if guess.written:
        entries.append(f'format: "{guess.written}"')
    tree = [f"hierarchy: {flow(guess.hierarchy.to_dict())}"] if guess.hierarchy else []
    if guess.role is Role.SENSITIVE and not of_people and guess.kind in {Kind.CODE, Kind.CATEGORY}:
        return guess.reason, ["role: sensitive", *entries, "set: true", *tree], True
    if guess.role is Role.QUASI and of_people:
        level = [f"min_level: {guess.min_level}"] if guess.hierarchy and guess.min_level else []
        return guess.reason, ["role: quasi", *entries, *tree, *level], False
    if guess.role is Role.QUASI:
        reason = f"{guess.reason} Here it is in several records of a person. {REPORTED}"
        return reason, ["role: plain", *entries], False
    return guess.reason, [f"role: {guess.role.value}", *entries], False
