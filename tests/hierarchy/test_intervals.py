from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from pydantic import ValidationError

from medveil.errors import InputError, PolicyError
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.spans import _edges
from medveil.table.domain import domain_of
from medveil.table.schema import Kind
from medveil.workspace import Workspace


def test_ages_in_widths(numbers, bind, labels, covered):
    ages = bind(numbers(0, 4, 5, 39, 40, 99), type="intervals", domain=[0, 99], widths=[5, 10, 20, 40])
    assert ages.height == 5
    assert ages.size == 100
    assert labels(ages, 1) == ["[0-4]", "[0-4]", "[5-9]", "[35-39]", "[40-44]", "[95-99]"]
    assert labels(ages, 4) == ["[0-39]", "[0-39]", "[0-39]", "[0-39]", "[40-79]", "[80-99]"]
    assert covered(ages, 4) == [40, 40, 40, 40, 40, 20]
    assert labels(ages, 5) == ["*"] * 6
    assert np.allclose(ages.losses[1], 4 / 99)
    assert np.allclose(ages.losses[5], 1)


def test_intervals_count_from_the_start_of_the_domain_and_end_with_it(numbers, bind, labels, covered):
    stays = bind(numbers(1, 10, 11, 25), type="intervals", domain=[1, 25], widths=[10])
    assert labels(stays, 1) == ["[1-10]", "[1-10]", "[11-20]", "[21-25]"]
    assert covered(stays, 1) == [10, 10, 10, 5]


def test_a_width_as_long_as_the_domain_is_the_root(numbers, bind, labels):
    ages = bind(numbers(0, 99, None), type="intervals", domain=[0, 99], widths=[50, 100])
    assert [level.labels for level in ages.levels[1:]] == [("[0-49]", "[50-99]", None), ("[0-99]",)]
    assert ages.size == 101


def test_numbers_that_are_not_whole_are_half_open(numbers, bind, labels, covered):
    doses = bind(numbers(0, 2.5, 7.3, 10), type="intervals", domain=[0, 10], widths=[2.5, 5])
    assert labels(doses, 1) == ["[0.0-2.5)", "[2.5-5.0)", "[5.0-7.5)", "[7.5-10.0]"]
    assert labels(doses, 2) == ["[0.0-5.0)", "[0.0-5.0)", "[5.0-10.0]", "[5.0-10.0]"]
    assert (doses.size, covered(doses, 1), covered(doses, 2)) == (400, [100] * 4, [200] * 4)


def test_a_tenth_is_a_tenth(numbers, bind, labels):
    tenths = [round(number * 0.1, 1) for number in range(1, 10)]
    values = bind(numbers(*tenths), type="intervals", domain=[0, 1.0], widths=[0.1, 0.2])
    assert labels(values, 1) == [f"[{n / 10:.1f}-{(n + 1) / 10:.1f})" for n in range(1, 9)] + ["[0.9-1.0]"]


@pytest.mark.parametrize(
    ("start", "width"), [("0", "0.1"), ("-3.7", "0.025"), ("1000.5", "0.3"), ("0", "1E-7"), ("3", "1E+3")]
)
def test_edges_are_the_numbers_that_are_written(start, width):
    index = np.arange(-500, 500)
    edges = _edges(index, Decimal(start), Decimal(width))
    assert edges.tolist() == [float(Decimal(start) + number * Decimal(width)) for number in index.tolist()]


def test_a_value_that_is_not_whole_makes_the_whole_domain_continuous(numbers, bind, labels):
    assert labels(bind(numbers(1, 2.5), type="intervals", domain=[0, 10], widths=[5]), 1) == ["[0.0-5.0)"] * 2


def test_cuts_of_ones_own(numbers, bind, labels, covered):
    ages = bind(numbers(17, 18, 64, 65), type="intervals", domain=[0, 99], cuts=[[18, 30, 65], [30]])
    assert labels(ages, 1) == ["[0-17]", "[18-29]", "[30-64]", "[65-99]"]
    assert labels(ages, 2) == ["[0-29]", "[0-29]", "[30-99]", "[30-99]"]
    assert covered(ages, 1) == [18, 12, 35, 35]


def test_cuts_without_a_domain_leave_the_ends_open(numbers, bind, labels, covered):
    ages = bind(numbers(17, 18, 64, 90), type="intervals", cuts=[[18, 30, 65], [30]])
    assert labels(ages, 1) == ["<18", "[18-29]", "[30-64]", "65+"]
    assert labels(ages, 2) == ["<30", "<30", "30+", "30+"]
    assert (ages.size, covered(ages, 1)) == (74, [1, 12, 35, 26])


def test_without_a_domain_widths_show_neither_the_smallest_nor_the_largest_value(numbers, bind, labels, covered):
    ages = bind(numbers(17, 42, 91), type="intervals", widths=[5, 10, 20, 40])
    assert labels(ages, 1) == ["[15-19]", "[40-44]", "[90-94]"]
    assert labels(ages, 4) == ["[15-39]", "[40-79]", "[80-94]"]
    assert (ages.size, covered(ages, 4)) == (80, [25, 40, 15])


def test_codes_move_outwards_at_wider_levels(numbers, bind, labels, covered):
    ages = bind(
        numbers(17, 18, 20, 89, 90, 92), type="intervals", domain=[0, 99], widths=[5, 10, 20, 100], top=92, bottom=18
    )
    assert labels(ages, 1) == ["<18", "[18-19]", "[20-24]", "[85-89]", "[90-91]", "92+"]
    assert covered(ages, 1) == [18, 2, 5, 5, 2, 8]
    assert labels(ages, 2) == ["<20", "<20", "[20-29]", "[80-89]", "90+", "90+"]
    assert labels(ages, 3) == ["<20", "<20", "[20-39]", "80+", "80+", "80+"]
    assert (ages.height, ages.levels[4].labels) == (4, ("*",))


def test_codes_stop_where_the_domain_of_the_data_stops(numbers, bind):
    values = bind(numbers(0), type="intervals", widths=[1, 2], top=-1)
    assert (values.size, values.levels[2].covered.tolist()) == (2, [2])


def test_codes_let_values_beyond_the_domain_in(numbers, bind, labels, covered):
    ages = bind(numbers(-3, 5, 50, 120, 130), type="intervals", domain=[0, 99], widths=[10], top=90, bottom=10)
    assert labels(ages, 1) == ["<10", "<10", "[50-59]", "90+", "90+"]
    assert covered(ages, 1) == [11, 11, 10, 12, 12]
    assert ages.size == 103


def test_quantiles_are_nested_and_cut_at_round_numbers(numbers, bind, labels):
    values = bind(numbers(1, 2, 3, 7, 11, 12, 50, 60), type="intervals", quantiles=[4, 2])
    assert labels(values, 1) == ["<3", "<3", "[3-9]", "[3-9]", "[10-49]", "[10-49]", "50+", "50+"]
    assert labels(values, 2) == ["<10"] * 4 + ["10+"] * 4


def test_quantiles_weigh_records(numbers):
    spec = Intervals(quantiles=(2,))
    heavy = spec.bind(numbers(1, 2, 3, 4), "column", Workspace(), counts=np.array([1, 1, 1, 97]))
    assert heavy.levels[1].groups.tolist() == [0, 0, 0, 1]
    first = spec.bind(numbers(1, 2, 3, 4), "column", Workspace(), counts=np.array([97, 1, 1, 1]))
    assert first.levels[1].groups.tolist() == [0, 1, 1, 1]


def test_quantiles_do_not_count_values_outside_the_domain(numbers, bind, labels):
    values = bind(numbers(1, 2, 3, 4, 500, 600), type="intervals", domain=[0, 9], quantiles=[2], other="rest")
    assert labels(values, 1) == ["[0-2]", "[0-2]", "[3-9]", "[3-9]", "rest", "rest"]


def test_quantiles_of_one_value_do_not_publish_it(numbers, bind):
    single = bind(numbers(4711), type="intervals", quantiles=[4, 2])
    assert [level.labels for level in single.levels[1:]] == [("*",)] * 3


def test_catch_all_groups(numbers, bind, labels, covered):
    ages = bind(
        numbers(5, 200, 300, None), type="intervals", domain=[0, 99], widths=[10], other="strange", missing="unknown"
    )
    assert labels(ages, 0) == ["5", "200", "300", None]
    assert labels(ages, 1) == ["[0-9]", "strange", "strange", "unknown"]
    assert covered(ages, 1) == [10, 2, 2, 1]
    assert ages.size == 103


def test_missing_and_other_may_share_a_group(numbers, bind, covered):
    ages = bind(numbers(5, 200, None), type="intervals", domain=[0, 99], widths=[10], other="x", missing="x")
    assert covered(ages, 1) == [10, 2, 2]


def test_uncovered_values_are_counted_not_shown(numbers, bind):
    with pytest.raises(InputError, match="does not cover 2 of its 3 distinct values") as caught:
        bind(numbers(5, 777777, 888888), type="intervals", domain=[0, 99], widths=[10])
    assert "column" in str(caught.value)
    assert "777777" not in str(caught.value)
    assert "other:" in caught.value.remedy


def test_words_have_no_intervals(texts, bind):
    with pytest.raises(PolicyError, match="needs a column of type number, but it is read as category"):
        bind(texts("a"), type="intervals", widths=[5])


def test_an_empty_column_and_one_of_missing_values(numbers, bind):
    for options in ({"widths": [5, 10]}, {"cuts": [[3]]}, {"quantiles": [4, 2]}, {"domain": [0, 9], "widths": [5]}):
        assert bind(domain_of([], Kind.NUMBER), type="intervals", **options).levels[-1].labels == ("*",)
        assert bind(numbers(None), type="intervals", **options).levels[1].labels in {(None,), ("*",)}


def test_leaves_are_declared_or_none():
    assert Intervals(domain=(0, 3), widths=(2,)).leaves("column", Workspace()) == ["0", "1", "2", "3"]
    assert Intervals(domain=(-1, 1), cuts=((0,),), top=1).leaves("column", Workspace()) == ["-1", "0", "1"]
    for spec in (
        Intervals(widths=(2,)),
        Intervals(domain=(0, 3), widths=(0.5,)),
        Intervals(domain=(0, 3.5), widths=(1,)),
        Intervals(domain=(0, 3), quantiles=(2,)),
        Intervals(domain=(0, 10**9), widths=(10,)),
    ):
        assert spec.leaves("column", Workspace()) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of widths, cuts and quantiles"),
        ({"widths": [5], "cuts": [[1]]}, "exactly one of widths, cuts and quantiles"),
        ({"widths": []}, "at least one level"),
        ({"widths": [5, 12]}, "multiple of the one before"),
        ({"widths": [10, 5]}, "multiple of the one before"),
        ({"widths": [0]}, "greater than 0"),
        ({"widths": [5], "domain": [9, 1]}, "must begin below its end"),
        ({"widths": [5], "domain": [0, 9], "top": 20}, "top code lies outside"),
        ({"widths": [5], "domain": [0, 9], "bottom": 0}, "bottom code lies outside"),
        ({"widths": [5], "top": 3, "bottom": 4}, "bottom code lies above the top code"),
        ({"cuts": [[3, 2]]}, "must increase"),
        ({"cuts": [[]]}, "at least one"),
        ({"cuts": [[5]], "domain": [6, 9]}, "A cut lies outside the domain"),
        ({"cuts": [[1, 2], [3]]}, "some, and fewer, of those of the level below"),
        ({"quantiles": [10, 4]}, "must divide the one before"),
        ({"quantiles": [1]}, "greater than or equal to 2"),
        ({"width": [5]}, "Extra inputs are not permitted"),
        ({"widths": [5], "missing": "*"}, "label of its own"),
        ({"widths": [5], "other": " "}, "label of its own"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        Intervals.model_validate(options)


def test_widths_that_cannot_be_counted_are_refused(numbers, bind):
    with pytest.raises(PolicyError, match="too narrow"):
        bind(numbers(1, 2, 39), type="intervals", widths=[1e-300])
    with pytest.raises(PolicyError, match="too narrow"):
        bind(numbers(1, 2, 39), type="intervals", domain=[0, 1e308], widths=[5])
    with pytest.raises(ValidationError, match="too far apart"):
        Intervals(widths=(1e-300, 1e300))
    assert bind(numbers(1, 2, 39), type="intervals", widths=[1e300]).height == 2
