from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from pydantic import ValidationError

from medveil.errors import InputError, PolicyError
from medveil.hierarchy.dates import Dates, first_day, number_of
from medveil.hierarchy.mask import Mask
from medveil.table.schema import Kind
from medveil.workspace import Workspace


def test_zip_codes(texts, bind, labels, covered):
    zips = bind(texts("12345", "12399", "22345", None, kind=Kind.CODE), type="mask", length=5)
    assert (zips.height, zips.size) == (5, 100_001)
    assert labels(zips, 1) == ["1234*", "1239*", "2234*", None]
    assert labels(zips, 4) == ["1****", "1****", "2****", None]
    assert labels(zips, 5) == ["*"] * 4
    assert covered(zips, 2) == [100, 100, 100, 1]
    assert zips.losses[1][0] == pytest.approx(9 / 100_000)


def test_masking_from_the_left(texts, bind, labels):
    codes = bind(
        texts("AB1", "CB1", "CD2"), **{"type": "mask", "length": 3, "alphabet": "alphanumeric", "from": "left"}
    )
    assert labels(codes, 1) == ["*B1", "*B1", "*D2"]
    assert labels(codes, 2) == ["**1", "**1", "**2"]
    assert codes.size == 36**3


def test_codes_of_another_form_are_counted_or_caught(texts, bind, labels):
    domain = texts("123", "1234", "12a", "")
    with pytest.raises(InputError, match="does not cover 3 of its 4 distinct values") as caught:
        bind(domain, type="mask", length=3)
    assert "12a" not in str(caught.value)
    assert labels(bind(domain, type="mask", length=3, other="odd"), 1) == ["odd", "12*", "odd", "odd"]


def test_a_mask_never_sees_codes_read_as_numbers(numbers, bind):
    with pytest.raises(PolicyError, match="Declare 'column' as 'type: code'"):
        bind(numbers(1234), type="mask", length=5)


def test_a_code_of_one_character_has_only_the_root(texts, bind):
    assert [level.labels for level in bind(texts("1", "2"), type="mask", length=1).levels] == [("1", "2"), ("*",)]


def test_leaves_of_masks():
    assert Mask(length=2, alphabet="ba").leaves("column", Workspace()) == ["aa", "ab", "ba", "bb"]
    leaves = Mask(length=5).leaves("column", Workspace())
    assert leaves is not None
    assert (len(leaves), leaves[1]) == (100_000, "00001")
    assert Mask(length=9).leaves("column", Workspace()) is None


@pytest.mark.parametrize("options", [{"length": 0}, {"alphabet": "aa"}, {"alphabet": "1"}, {"alphabet": "12*"}])
def test_what_cannot_be_a_mask(options):
    with pytest.raises(ValidationError):
        Mask.model_validate({"length": 3, **options})


def test_periods_of_days(texts, bind, labels, covered):
    days = bind(
        texts("1969-12-31", "2020-01-05", "2020-02-29", "2021-05-05", kind=Kind.DATE),
        type="dates",
        levels=["month", "quarter", "year", "decade"],
        domain=["1960-01-01", "2021-12-31"],
    )
    assert labels(days, 1) == ["1969-12", "2020-01", "2020-02", "2021-05"]
    assert labels(days, 2) == ["1969-Q4", "2020-Q1", "2020-Q1", "2021-Q2"]
    assert labels(days, 3) == ["1969", "2020", "2020", "2021"]
    assert labels(days, 4) == ["1960s", "2020s", "2020s", "2020s"]
    assert covered(days, 1) == [31, 31, 29, 31]
    assert covered(days, 3) == [365, 366, 366, 365]
    assert covered(days, 4) == [3653, 731, 731, 731]  # the domain ends within the decade
    assert days.size == (dt.date(2021, 12, 31) - dt.date(1960, 1, 1)).days + 1


def test_without_a_domain_the_first_periods_are_whole(texts, bind, covered):
    days = bind(texts("2020-01-05", "2020-03-10", kind=Kind.DATE), type="dates")
    assert (days.size, covered(days, 1), covered(days, 3)) == (91, [31, 31], [91, 91])


def test_weeks_stand_alone(texts, bind, labels):
    days = bind(texts("2020-12-31", "2021-01-03", "2021-01-04", kind=Kind.DATE), type="dates", levels=["day", "week"])
    assert labels(days, 1) == ["2020-W53", "2020-W53", "2021-W01"]
    with pytest.raises(ValidationError, match="Weeks do not nest in months"):
        Dates(levels=("week", "month"))


@pytest.mark.parametrize("period", ["week", "month", "quarter", "year", "decade"])
def test_every_day_lies_in_its_period(period):
    days = np.arange(-40_000, 40_000, 7)
    number = number_of(days, period)
    assert np.all(first_day(number, period) <= days)
    assert np.all(days < first_day(number + 1, period))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": []}, "at least one level"),
        ({"levels": ["year", "month"]}, "from short to long"),
        ({"levels": ["month", "month"]}, "each once"),
        ({"levels": ["fortnight"]}, "Input should be"),
        ({"domain": ["2020-01-02", "2020-01-01"]}, "ends before it begins"),
    ],
)
def test_dates_that_cannot_be_meant(options, message):
    with pytest.raises(ValidationError, match=message):
        Dates.model_validate(options)


def test_days_outside_the_domain(texts, bind, labels):
    domain = texts("2020-01-05", "1999-09-09", None, kind=Kind.DATE)
    options = {"type": "dates", "levels": ["year"], "domain": ["2020-01-01", "2020-12-31"]}
    with pytest.raises(InputError, match="does not cover 1 of its 3 distinct values") as caught:
        bind(domain, **options)
    assert "1999" not in str(caught.value)
    assert labels(bind(domain, **options, other="earlier"), 1) == ["earlier", "2020", None]


def test_days_of_a_column_read_otherwise(texts, bind):
    with pytest.raises(PolicyError, match="type: date"):
        bind(texts("2020-01-05"), type="dates")


def test_leaves_of_dates():
    assert Dates().leaves("column", Workspace()) is None
    spec = Dates(domain=(dt.date(2020, 2, 28), dt.date(2020, 3, 1)))
    assert spec.leaves("column", Workspace()) == ["2020-02-28", "2020-02-29", "2020-03-01"]


def test_days_before_the_bottom_code_are_one_group(texts, bind, labels, covered):
    days = texts("1935-12-31", "1936-06-01", "1937-01-01", "1941-05-05", kind=Kind.DATE)
    born = bind(days, type="dates", levels=["year", "decade"], bottom=1937, domain=["1930-01-01", "1949-12-31"])
    assert labels(born, 1) == ["<1937", "<1937", "1937", "1941"]
    assert labels(born, 2) == ["<1940", "<1940", "<1940", "1940s"]
    assert covered(born, 1) == [2557, 2557, 365, 365]
    assert covered(born, 2) == [3652, 3652, 3652, 3653]
    assert Dates(bottom=1937).least_level == 1
