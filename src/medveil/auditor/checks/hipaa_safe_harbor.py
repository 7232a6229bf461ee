"""HIPAA Safe Harbor, as far as the files of a release show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Refuted
from medveil.auditor.evidence import Evidence
from medveil.guessing.date_parts import part_of_a_date
from medveil.guessing.name import Name
from medveil.guessing.values import PATTERNS
from medveil.guessing.words import DEMOGRAPHIC
from medveil.table.domain import read_number
from medveil.table.labels import ANYTHING, parse_label

OLDEST = 90
LIFETIME = 32_871
"""The fewest days that can be ninety years."""
DAYS = ("days_since", "days_after")
SPARSE = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
FULL_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
WITHIN_A_YEAR = re.compile(r"\d{4}-(\d\d|Q[1-4]|W\d\d)(?!\d)")
AREA = re.compile(r"(\d{3})\*\*|\d\d\*{3}|\d\*{4}|\*")
YEAR = re.compile(r"(?<!\d)((?:18|19|20|21)\d\d)(?!\d)")
YEAR_NAMES = "year* yr jahr* annee* ano"
BIRTHS = DEMOGRAPHIC[1].patterns
AGES = "age ages alter lebensalter edad"
FLAGS = frozenset({"0", "1", "y", "n", "yes", "no", "true", "false", ANYTHING})


class HipaaSafeHarborCheck(Check):
    """No published column holds what 45 CFR 164.514(b)(2) lists, as far as names and the form of values show: nothing
    that reads as one of the identifiers, no date finer than the year, no shifted date, no age of 90 or more, none that
    the years of later dates make one, no year of birth that tells one, and of postal codes three digits of areas where
    more than 20,000 people live.
    Columns that a person attests are left out.
    """

    name: ClassVar[str] = "hipaa-safe-harbor"
    terms: ClassVar[frozenset[str]] = frozenset({"faults"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        if claim["required"].get("faults") != 0:
            raise Refuted("the claim does not ask for a release without faults")
        attested, ages = claim["parameters"].get("attested"), claim["parameters"].get("ages")
        if not isinstance(attested, Mapping) or not isinstance(ages, list | tuple):
            raise Refuted("the claim does not say what people attest, and what is an age")
        faults, latest, counted, births = [], 0, [], []
        spans: dict[str, list[tuple[str, list[str]]]] = {}
        for name, attribute, shown in evidence.shown(attested):
            values = [value for value in shown if value != ANYTHING]
            own = str(attribute["name"])
            faults += [f"'{name}' {fault}" for fault in _faults(own, attribute, values, is_age=name in ages)]
            latest = max([latest, *_years(own, attribute, values)])
            counted += [(name, at, values)] if (at := _counted_at(attribute)) is not None else []
            if (kind := (attribute.get("change") or {}).get("kind")) in DAYS:
                # Days since a person's first date are told together; those within a record by themselves.
                spans.setdefault(kind if kind == DAYS[0] else name, []).append((name, values))
            births += [(name, values)] if attribute.get("change") is None and Name(own).says(BIRTHS) else []
        for name, at, values in counted:
            faults += [f"'{name}' {fault}" for fault in _older_by_then(values, latest - at)]
        before = claim["parameters"].get("births_before")
        if births and not isinstance(before, int):
            raise Refuted("the claim does not say before which year births are one group")
        faults += [f"'{name}' {fault}" for told in spans.values() for name, fault in _lifetimes(told)]
        for name, values in births:
            faults += [f"'{name}' {fault}" for fault in _old_births(values, before, latest)]
        return Finding({"faults": len(faults)}, not faults, "; ".join(faults))


def _faults(name: str, attribute: Mapping[str, Any], values: Sequence[str], *, is_age: bool) -> Iterator[str]:
    words = Name(name)
    change = (attribute.get("change") or {}).get("kind")
    if attribute["role"] == "key":
        yield "holds pseudonyms, which nobody attests"
        return
    if change == "shift":
        yield "holds shifted dates"
        return
    if change is None and words.identifier is not None and not {value.lower() for value in values} <= FLAGS:
        yield f"is called like {words.identifier.noun}"
    found = {pattern.noun for pattern in PATTERNS if pattern.strong and any(map(pattern.fits, values))}
    yield from (f"holds {noun}" for noun in sorted(found))
    if any(FULL_DATE.search(value) for value in values):
        yield "holds dates"
    elif attribute["type"] == "date" and any(WITHIN_A_YEAR.search(value) for value in values):
        yield "holds dates that are finer than the year"
    elif change is None and (told := part_of_a_date(values)) is not None:
        yield f"holds {told}"
    if is_age or change == "age_at" or (change is None and words.says(AGES)):
        yield from ["holds ages of 90 and over that are not one group"] if any(map(_tells_old, values)) else []
    hierarchy = attribute.get("hierarchy") or {}
    if hierarchy.get("type") == "zip3":
        yield from _areas(values, shipped=hierarchy.get("domain") is None)
    elif words.says("zip* postal* postcode* plz"):
        yield "holds postal codes that are not generalized as the rule asks"


def _areas(values: Sequence[str], *, shipped: bool) -> Iterator[str]:
    read = [AREA.fullmatch(value) for label in values for value in parse_label(label).values]
    if not all(read):
        yield "holds postal codes of more than three digits"
    elif shipped and any(match is not None and (match.group(1) or "-") in SPARSE.split() for match in read):
        yield "holds areas where at most 20,000 people live"


def _counted_at(attribute: Mapping[str, Any]) -> int | None:
    """The year of the one date at which ages were counted."""
    change = attribute.get("change") or {}
    return int(str(change["by"])[:4]) if change.get("kind") == "age_at" and change.get("fixed") else None


def _years(name: str, attribute: Mapping[str, Any], values: Sequence[str]) -> list[int]:
    """The years that labels of dates tell, or a column of years; of several years in one label the first."""
    if attribute["type"] != "date" and not Name(name).says(YEAR_NAMES):
        return []
    found = (YEAR.findall(value) for value in values)
    return [min(map(int, years)) for years in found if years]


def _lifetimes(columns: Sequence[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, str]]:
    """Whether days, from the earliest that columns tell to the latest, may be ninety years of somebody's life."""
    low, high, latest = 0.0, 0.0, ""
    for name, values in columns:
        for label in values:
            cover = parse_label(label)
            firsts = [*cover.values, *(span.low for span in cover.spans if span.low is not None)]
            lasts = [*cover.values, *(span.high for span in cover.spans if span.high is not None)]
            low = min([low, *(float(n) for n in map(read_number, lasts) if n is not None)])
            for first in (float(n) for n in map(read_number, firsts) if n is not None):
                high, latest = (first, name) if first > high else (high, latest)
    if high - low >= LIFETIME:
        most = LIFETIME - 1 + int(low) if -low < LIFETIME / 2 else (LIFETIME - 1) // 2
        yield (
            latest or columns[0][0],
            f"tells {OLDEST} years of a life: derive the days with 'most: {most}', so that more are missing",
        )


def _old_births(values: Sequence[str], before: int, latest: int) -> Iterator[str]:
    """Whether births that tell an age of 90 or more, in any year that the release tells, are told apart."""
    if latest - before >= OLDEST:
        yield f"is one group only before {before}, when some are {OLDEST} in {latest}"
    for label in values:
        told = [int(year) for year in YEAR.findall(label)]
        # `<=1936` says as much as `<1937`.
        first = min(told, default=before) + label.startswith("<=")
        if first < before:
            yield f"tells births before {before} that are not one group"
            return


def _older_by_then(values: Sequence[str], later: int) -> Iterator[str]:
    """Whether ages at a date, with years that lie so much later, tell people of 90 or more apart by then."""
    if later <= 0:
        return
    for label in values:
        cover = parse_label(label)
        lowest = [(read_number(value), True) for value in cover.values]
        lowest += [(read_number(span.low or "0"), span.high is not None) for span in cover.spans]
        for low, bounded in lowest:
            by_then = float(low or 0) + later
            if by_then > OLDEST or (bounded and by_then == OLDEST):
                yield (
                    f"tells ages over {OLDEST} beside the years of later dates: give it 'top: {OLDEST - later}' at "
                    "most, or count it at a later date"
                )
                return


def _tells_old(label: str) -> bool:
    """Whether a label tells an age of 90 or more from another of 90 or more."""
    cover = parse_label(label)
    numbers = [float(number) for value in cover.values if (number := read_number(value)) is not None]
    if any(number >= OLDEST for number in numbers):
        return True
    for span in cover.spans:
        low, high = (None if end is None else float(read_number(end) or 0) for end in (span.low, span.high))
        if high is None and low is not None and low > OLDEST:
            return True
        if high is not None and (high > OLDEST or (high == OLDEST and span.high_closed)):
            return True
    return False
