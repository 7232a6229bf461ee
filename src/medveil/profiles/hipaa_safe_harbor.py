"""HIPAA Safe Harbor: 45 CFR 164.514(b)(2) and the guidance of the US Department of Health and Human Services, 2012."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from medveil.guessing.date_parts import part_of_a_date
from medveil.guessing.name import Name
from medveil.guessing.words import DEMOGRAPHIC, IDENTIFIERS, QUASI
from medveil.hierarchy.dates import ORDER, Dates
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.specification import HierarchySpec
from medveil.hierarchy.top_bottom import TopBottom
from medveil.hierarchy.zip3 import Zip3
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

OLDEST = 90
"""Ages from here on are one group."""
AGES = Intervals(domain=(0, 119), widths=(1, 5, 10, 20), top=OLDEST)
YEARS = range(1850, 2150)
LETTERS = {concept.key: concept.letter for concept in (*IDENTIFIERS, *DEMOGRAPHIC, *QUASI) if concept.letter}

POINTS = {
    "A": "names",
    "B": "places smaller than a state: three digits of a ZIP code at most, joined where at most 20,000 people live",
    "C": "dates to the year at most; ages of 90 and over, and years of birth that tell them, as one group",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces and the like",
    "R": "other unique numbers, characteristics or codes",
}


class HipaaSafeHarbor(Profile):
    """The eighteen kinds of identifiers of 45 CFR 164.514(b)(2) are absent, as far as names and values of columns show.

    Fills in: years for dates, one group of ages from 90 on and of the years of birth that tell them, `zip3` for postal
    codes. Refuses: shifted dates (a shifted date is still a date; `derive: {days_since: ...}` is none), columns that
    look like an identifier, places smaller than a state, pseudonyms made with a key that other releases share. A
    column with `insist: true` is left to a person to attest.
    """

    name: ClassVar[str] = "hipaa-safe-harbor"
    title: ClassVar[str] = "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)"

    def rule(self, column: ProfiledColumn) -> Ruling:
        if column.role is Role.SUBJECT:
            return Ruling()
        if column.derived in {"days_since", "days_after"}:
            return _days(column)
        if column.role is Role.KEY:
            attest = f"that the pseudonyms in '{column.name}' may be published: they are computed from an identifier, "
            return Ruling(attest=f"{attest}with a key that was drawn for this release (164.514(c))")
        if column.role is Role.DATE:
            refused = f"'{column.name}' is shifted, and a shifted date is still a date (C). Publish days since the "
            return Ruling(
                refused=f"{refused}first visit with 'derive: {{days_since: {column.name}}}', or the year with "
                "'role: quasi'."
            )
        if column.derived == "age_at" or column.guess.concept.startswith("age"):
            return _age(column)
        return _identifier(column) or _birth(column) or _date(column) or _place(column) or Ruling()

    def refused(self, columns: Sequence[ProfiledColumn], terms: ProfileTerms) -> list[str]:
        keys = [column.name for column in columns if column.role is Role.KEY]
        if not keys or not terms.kept_key:
            return []
        problem = f"The pseudonyms of '{keys[0]}' are made with the steward's own key, so that they link releases "
        return [f"{problem}(164.514(c)). Leave 'key_file' out, so that a key is drawn for this release alone."]

    def parameters(self, columns: Sequence[ProfiledColumn], outcome: ProfileOutcome) -> dict[str, Any]:
        zips = [one for column in columns if isinstance(one := outcome.hierarchy(column), Zip3)]
        ages = [c.name for c in columns if c.derived == "age_at" or c.guess.concept.startswith("age")]
        areas = {"zip_areas_of": zips[0].counted} if zips else {}
        years = [c.name for c in columns if c.derived is None and c.role is Role.QUASI and _is_date(c)]
        days = [c.name for c in columns if c.derived == "days_since"]
        both = {"years_beside_days": [*years, *days]} if years and days else {}
        births = [c for c in columns if c.derived is None and _is_birth(c) and c.name not in outcome.attested]
        born = {"births_before": _oldest_birth()} if births else {}
        lengths = [c.name for c in columns if c.derived == "days_after"]
        lives = {"days_beside_lengths": [*days, *lengths]} if days and lengths else {}
        # Ages at one date are compared with the years of later dates by the auditor; of others nobody says when.
        loose = [c.name for c in columns if c.name in ages and not (c.derived == "age_at" and c.counted_from is None)]
        later = {"ages_beside_dates": [*loose, *years, *days]} if loose and (years or days) else {}
        return {
            "ages": [name for name in ages if name not in outcome.attested],
            **areas,
            **both,
            **born,
            **lives,
            **later,
        }

    def checklist(self, parameters: Mapping[str, Any]) -> list[ChecklistPoint]:
        points = [
            ChecklistPoint(
                letter, f"{words[0].upper()}{words[1:]}." if letter in "BC" else f"No {words}.", VouchedBy.PROGRAM
            )
            for letter, words in POINTS.items()
        ]
        if areas := parameters.get("zip_areas_of"):
            current = f"That the counts of people in ZIP areas are the current ones: they are of the {areas}."
            points.append(ChecklistPoint("B", current, VouchedBy.PERSON))
        if both := parameters.get("years_beside_days"):
            told = "That years and days since a first date do not tell dates where they are of the same events: of "
            points.append(
                ChecklistPoint(
                    "C",
                    f"{told}somebody with records on both sides of a new year they do ({', '.join(both)}).",
                    VouchedBy.PERSON,
                )
            )
        if beside := parameters.get("ages_beside_dates"):
            told = "That an age, with years or days of later records of the same person, tells no age over 89"
            points.append(ChecklistPoint("C", f"{told} ({', '.join(beside)}).", VouchedBy.PERSON))
        if lives := parameters.get("days_beside_lengths"):
            told = "That days since a first date, with the length of what began then, tell no age over 89"
            points.append(ChecklistPoint("C", f"{told} ({', '.join(lives)}).", VouchedBy.PERSON))
        attested = (parameters.get("attested") or {}).values()
        points += [ChecklistPoint("", f"{words[0].upper()}{words[1:]}.", VouchedBy.PERSON) for words in attested]
        seen = "That the columns are what their names and values say: medveil looks at names and at the form of "
        return [
            *points,
            ChecklistPoint("", f"{seen}values, and cannot know what a code means.", VouchedBy.PERSON),
            ChecklistPoint(
                "(i)", "That nothing identifies relatives, employers or household members either.", VouchedBy.PERSON
            ),
            ChecklistPoint(
                "(ii)", "That nobody in the house knows how what is left could identify a person.", VouchedBy.PERSON
            ),
        ]


def _left_to_a_person(column: ProfiledColumn, looks: str, remedy: str) -> Ruling:
    if column.insist:
        return Ruling(attest=f"that '{column.name}' holds none of the identifiers, although {looks}")
    return Ruling(
        refused=f"'{column.name}' cannot be published: {looks}. Either {remedy}, or attest that it is none with "
        "'insist: true'."
    )


def _identifier(column: ProfiledColumn) -> Ruling | None:
    """A column that looks like one of the identifiers, or hides some."""
    found = column.guess
    remedy = "take it out, or give it 'role: identifier'"
    if found.role in {Role.IDENTIFIER, Role.SUBJECT}:
        letter = LETTERS.get(found.concept, "R")
        looks = "free text, which may hold any of them" if found.free_text else f"'{POINTS[letter]}' ({letter})"
        return _left_to_a_person(column, f"it looks like {looks}", remedy)
    if found.hides:
        return _left_to_a_person(column, f"some of its values look like {', '.join(found.hides)}", remedy)
    return None


def _days(column: ProfiledColumn) -> Ruling:
    """Days between two dates are no date, unless one of them is that of birth: they are an age then."""
    if not Name(column.counted_from or "").says(DEMOGRAPHIC[1].patterns):
        return Ruling()
    return _left_to_a_person(
        column, "days since birth tell the date of birth (C)", "publish the age with 'derive: {age_at: ...}'"
    )


def _age(column: ProfiledColumn) -> Ruling:
    """From 90 on one group: by the hierarchy, or because there is nobody that old."""
    given, highest = column.hierarchy, column.counted.highest
    young = highest is not None and highest < OLDEST
    if column.role is not Role.QUASI:
        remedy = "make it 'role: quasi', so that they become one group"
        return Ruling() if young else _left_to_a_person(column, "it holds ages of 90 and over (C)", remedy)
    if given is None:
        return Ruling(hierarchy=AGES, min_level=1)
    if isinstance(given, Intervals | TopBottom):
        if given.top is not None and given.top > OLDEST:
            return Ruling(refused=f"The top code of '{column.name}' is above 90 (C). Write 'top: 90'.")
        if given.top is not None or (given.domain is not None and given.domain[1] < OLDEST):
            return Ruling()
        return Ruling(hierarchy=type(given).model_validate({**given.model_dump(exclude_unset=True), "top": OLDEST}))
    looks = "nothing says that ages of 90 and over are one group (C)"
    return Ruling() if young else _left_to_a_person(column, looks, "give it intervals with 'top: 90'")


def _birth(column: ProfiledColumn) -> Ruling | None:
    """Births so early that somebody would be 90 by now are one group."""
    if not _is_birth(column):
        return None
    least = _oldest_birth()
    looks = "it tells when people were born (C)"
    remedy = f"publish the age with 'derive: {{age_at: DATE, name: age}}', or births before {least} as one group"
    given = column.hierarchy
    if column.role is Role.QUASI and _is_date(column):
        dates = given if isinstance(given, Dates) else Dates(levels=("year", "decade"))
        if dates.bottom is not None and dates.bottom < least:
            return Ruling(refused=f"The bottom code of '{column.name}' is too early (C). Write 'bottom: {least}'.")
        coded = {**dates.model_dump(exclude_unset=True), "bottom": dates.bottom or least}
        return _to_the_year(column, Dates.model_validate(coded))
    if column.role is Role.QUASI and column.counted.lowest is not None and column.counted.lowest in YEARS:
        if isinstance(given, Intervals | TopBottom) and (given.bottom or 0) >= least:
            return Ruling()
        if given is None:
            return Ruling(hierarchy=TopBottom(bottom=least), min_level=1)
    return _left_to_a_person(column, looks, remedy)


def _is_birth(column: ProfiledColumn) -> bool:
    return column.guess.concept == "birth" or Name(column.name).says(DEMOGRAPHIC[1].patterns)


def _oldest_birth() -> int:
    """The year before which births are one group: whoever was born in it is 89 at most by now."""
    return dt.datetime.now(tz=dt.UTC).year - OLDEST + 1


def _date(column: ProfiledColumn) -> Ruling | None:
    if column.guess.concept == "mixed-dates":
        return _left_to_a_person(column, "it holds dates that cannot be read (C)", "write them in one format")
    if not _is_date(column):
        return _part_of_a_date(column)
    if column.role is not Role.QUASI:
        refused = f"'{column.name}' holds dates (C). Make it 'role: quasi', so that it is cut to the year, or publish "
        return Ruling(refused=f"{refused}days since the first visit with 'derive: {{days_since: {column.name}}}'.")
    given = column.hierarchy if isinstance(column.hierarchy, Dates) else Dates(levels=("year", "decade"))
    return _to_the_year(column, given)


def _part_of_a_date(column: ProfiledColumn) -> Ruling | None:
    """Such as the month of a visit; a year is none."""
    if column.derived is None and (told := part_of_a_date(column.counted.sample)) is not None:
        return _left_to_a_person(column, f"its values look like {told} (C)", "take it out, or cut it to the year")
    low, high = column.counted.lowest, column.counted.highest
    years = low is not None and high is not None and low >= YEARS.start and high < YEARS.stop
    if column.guess.concept != "time" or years:
        return None
    return _left_to_a_person(column, "its name speaks of a part of a date (C)", "take it out")


def _place(column: ProfiledColumn) -> Ruling | None:
    if column.guess.concept == "zip":
        if column.role is Role.QUASI and isinstance(column.hierarchy, Zip3 | None):
            return Ruling(hierarchy=column.hierarchy or Zip3())
        remedy = "Make it 'role: quasi' with 'hierarchy: {type: zip3}'."
        return Ruling(refused=f"'{column.name}' holds postal codes (B). {remedy}")
    if column.guess.concept != "place":
        return None
    return _left_to_a_person(column, "its name speaks of a place smaller than a state (B)", "take it out")


def _is_date(column: ProfiledColumn) -> bool:
    return column.kind is Kind.DATE or isinstance(column.hierarchy, Dates) or column.guess.kind is Kind.DATE


def _to_the_year(column: ProfiledColumn, given: HierarchySpec) -> Ruling:
    """The first level that is no finer than the year, as the least one."""
    assert isinstance(given, Dates)
    periods = [period for period in given.levels if period != "day"]
    coarse = [number for number, period in enumerate(periods, start=1) if ORDER.index(period) >= ORDER.index("year")]
    if not coarse:
        return Ruling(refused=f"The dates of '{column.name}' end below the year (C). Write 'levels: [year]'.")
    if column.steered and column.min_level < coarse[0]:
        refused = f"The min_level of '{column.name}' is {column.min_level}, which is finer than the year (C)."
        return Ruling(refused=f"{refused} Leave it out, or write {coarse[0]}.")
    return Ruling(hierarchy=given, min_level=max(column.min_level, coarse[0]))
