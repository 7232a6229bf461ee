"""Columns whose values tell a part of a date that is finer than the year: months, quarters, weeks, days of a year.

HIPAA's Safe Harbor counts every element of a date but the year.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_YEAR = r"(?:18|19|20|21)\d\d"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_MONTHS = """
january jan february feb march mar april apr may june jun july jul august aug september sept sep october oct november
nov december dec januar februar märz mrz mai juni juli oktober okt dezember dez janvier février fevrier mars avril juin
juillet août aout septembre octobre novembre décembre decembre enero febrero marzo abril mayo junio julio agosto
septiembre octubre noviembre diciembre
"""
_WEEKDAYS = """
monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun montag dienstag
mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles
miercoles jueves viernes sábado sabado domingo
"""
_NAMED = "|".join(_MONTHS.split())
_WITHIN_A_YEAR = re.compile(
    rf"{_YEAR}[-/. ]{_MONTH}|(?:0?[1-9]|1[0-2])[-/.]{_YEAR}|{_YEAR}[-/. ]?(?:Q[1-4]|W\d\d?)|"
    rf"Q[1-4][-/. ]?{_YEAR}|{_YEAR}[-/. ](?:{_NAMED})\.?|(?:\d\d?[-/. ]+)?(?:{_NAMED})[-/., ]+{_YEAR}",
    re.IGNORECASE,
)
"""A year beside a part of it: nothing else is written so."""
_BY_ALL = {
    "months": re.compile(rf"{_YEAR}{_MONTH}"),
    "days of a year": re.compile(rf"{_YEAR}-?(?:[0-2]\d\d|3[0-5]\d|36[0-6])"),
    "days and months": re.compile(rf"{_MONTH}[-/.]{_DAY}|{_DAY}[-/.]{_MONTH}"),
    "names of months": re.compile(rf"(?:{_NAMED})\.?", re.IGNORECASE),
    "names of weekdays": re.compile(rf"(?:{'|'.join(_WEEKDAYS.split())})\.?", re.IGNORECASE),
}
"""What may be something else, such as a number of six digits, unless every value is written so."""


def part_of_a_date(values: Collection[str]) -> str | None:
    """What the values tell, in words; None where they tell no part of a date.

    >>> part_of_a_date(["2015-09", "unknown"]), part_of_a_date(["May", "June"]), part_of_a_date(["May", "Smith"])
    ('parts of a year', 'names of months', None)
    """
    given = [value.strip() for value in values]
    if any(_WITHIN_A_YEAR.fullmatch(value) for value in given):
        return "parts of a year"
    if len(set(given)) < 2:
        return None
    return next((words for words, form in _BY_ALL.items() if all(map(form.fullmatch, given))), None)
