"""Dates as people write them."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.errors import InputError
from medveil.table.dates import DATE_FORMATS, date_format_fault, find_date_format, other_reading, read_date
from medveil.table.domain import canonical
from medveil.table.schema import Kind

DAYS = st.dates(min_value=dt.date(1, 1, 1), max_value=dt.date(9999, 12, 31))


def written(day, date_format):
    """The day in a format; Python does not fill years up to four digits on every system."""
    return day.strftime(date_format.replace("%Y", f"{day.year:04d}"))


@pytest.mark.parametrize(
    ("text", "date_format"),
    [
        ("18/08/2020", "%d/%m/%Y"),
        ("8/18/20 2:43", "%m/%d/%y"),
        ("18AUG2020", "%d%b%Y"),
        ("August 18, 2020", "%b %d, %Y"),
        ("Aug 18, 2020", "%b %d, %Y"),
        ("18 August 2020", "%d %b %Y"),
        ("18-Aug-2020", "%d-%b-%Y"),
        ("2020-08-18T14:03:00Z", "%Y-%m-%d"),
        ("2020-08-18T14:03:00.123+02:00", "%Y-%m-%d"),
        ("2020-08-18 14:03", "%Y-%m-%d"),
        ("20200818", "%Y%m%d"),
        ("2020/08/18", "%Y/%m/%d"),
        ("18.08.2020", "%d.%m.%Y"),
    ],
)
def test_common_formats_are_found_and_read(text, date_format):
    assert find_date_format([text]) == date_format
    assert read_date(text, date_format) == "2020-08-18"


@given(DAYS, st.sampled_from([f for f in DATE_FORMATS if "%y" not in f]))
def test_every_day_from_year_1_to_9999_is_read_in_every_format(day, date_format):
    assert read_date(written(day, date_format), date_format) == day.isoformat()


@given(st.dates(min_value=dt.date(1969, 1, 1), max_value=dt.date(2068, 12, 31)), st.sampled_from(DATE_FORMATS))
def test_two_digits_are_a_year_of_the_nearest_century(day, date_format):
    assert read_date(written(day, date_format), date_format) == day.isoformat()


@given(DAYS, st.sampled_from(DATE_FORMATS), st.sampled_from(DATE_FORMATS))
def test_reading_never_gives_another_day_unless_there_is_another_reading(day, first, second):
    text = written(day, first)
    again = read_date(text, second)
    if again not in {None, read_date(text, first)}:
        assert other_reading([text], first) is not None


@pytest.mark.parametrize("text", ["2020-02-30", "soon", "", "2020-13-01", "1/2", "2020", "31 Foo 2020", "1e5"])
def test_what_is_no_date_is_none(text):
    assert find_date_format([text]) is None


def test_day_and_month_that_could_be_either_are_refused_with_both_readings():
    with pytest.raises(InputError) as refused:
        canonical(["03/04/2020", "05/06/2021"], Kind.DATE, "visit")
    assert "%m/%d/%Y" in str(refused.value)
    assert "%d/%m/%Y" in str(refused.value)
    assert "03/04" not in str(refused.value)


def test_a_declared_format_settles_it():
    assert canonical(["03/04/2020"], Kind.DATE, "visit", "%d/%m/%Y") == ["2020-04-03"]
    assert canonical(["03/04/2020"], Kind.DATE, "visit", "%m/%d/%Y") == ["2020-03-04"]


def test_one_value_that_fits_one_reading_alone_settles_it():
    assert canonical(["03/04/2020", "31/12/2020"], Kind.DATE, "visit") == ["2020-04-03", "2020-12-31"]


def test_the_same_day_in_both_readings_is_no_ambiguity():
    assert canonical(["03/03/2020"], Kind.DATE, "visit") == ["2020-03-03"]


@pytest.mark.parametrize("wrong", ["", "%d", "%d/%m", "%Y-%m-%d %Q", "%d/%d/%Y", "%Y-%y-%m-%d"])
def test_a_declared_format_must_name_year_month_and_day_once(wrong):
    assert date_format_fault(wrong)
