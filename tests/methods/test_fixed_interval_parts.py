"""Each part of the method by itself, against plain arithmetic."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import medveil
from medveil.methods.fixed_interval.analysis import outliers, spread
from medveil.methods.fixed_interval.attributes import Column, Written
from medveil.methods.fixed_interval.classes import SourceRows, cut, order_rows
from medveil.methods.fixed_interval.intervals import join_thin, make_grid
from medveil.methods.fixed_interval.ranking import Ranking, similarity


def column(numbers, written=Written()):  # noqa: B008 - it is frozen
    values = np.asarray(numbers, dtype=float)
    codes = np.arange(len(values), dtype=np.int32)
    return Column(
        "x", sensitive=False, codes=codes, values=(), missing=np.isnan(values), numbers=values, written=written
    )


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=20))
def test_similarity_is_the_cosine_to_the_vector_of_ones(vectors):
    found = similarity([np.array(part, dtype=float) for part in zip(*vectors, strict=True)])
    for vector, value in zip(vectors, found, strict=True):
        length = np.linalg.norm(vector)
        expected = np.dot(vector, np.ones(3)) / (length * np.sqrt(3)) if length else 0.0
        assert value == pytest.approx(expected, abs=1e-12)
        assert -1 - 1e-12 <= value <= 1 + 1e-12


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=60),
    st.integers(1, 8),
    st.booleans(),
)
def test_classes_follow_the_ranking_and_have_k_people(records, k, by_person):
    """A record is its tuple, its sensitive value and its person."""
    tuples, values, people = (np.array(part) for part in zip(*records, strict=True))
    cells, cell_of_row = np.unique(tuples * 10 + values, return_inverse=True)
    ranking = Ranking(tuples=(cells // 10).astype(np.int64), cells=np.arange(len(cells)))
    rows = SourceRows(cell_of_row, people.astype(np.int32) if by_person else None, people.astype(np.uint64))
    order, units = order_rows(rows, ranking, np.arange(len(records)))
    assert sorted(order.tolist()) == list(range(len(records)))
    assert (np.diff(tuples[order]) >= 0).all()
    classes, number = cut(rows, order, units, k)
    assert set(classes.tolist()) == set(range(number))
    # Along the ranking classes only grow.
    assert (np.diff(classes[order]) >= 0).all()
    whose = people if by_person else np.arange(len(records))
    sizes = [len(set(whose[classes == number].tolist())) for number in range(number)]
    assert min(sizes) >= k or number == 1
    if not by_person:
        assert number == max(len(records) // k, 1)
    else:
        units_of = pd.DataFrame({"t": tuples, "p": people, "c": classes}).groupby(["t", "p"])["c"].nunique()
        assert units_of.max() == 1


def test_equal_records_are_dealt_out_so_that_each_class_has_its_share_of_every_value():
    """A hundred people whom nobody can tell apart, half of them ill: every class of ten has five."""
    values = np.array([0] * 50 + [1] * 50)
    rows = SourceRows(values.astype(np.int64), None, np.arange(100, dtype=np.uint64))
    ranking = Ranking(tuples=np.zeros(2, dtype=np.int64), cells=np.arange(2))
    order, units = order_rows(rows, ranking, np.arange(100))
    classes, number = cut(rows, order, units, 10)
    assert number == 10
    assert all((values[classes == c] == 1).sum() == 5 for c in range(10))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=30),
)
def test_spread_against_numpy(cells):
    classes, numbers, counts = (np.array(part) for part in zip(*cells, strict=True))
    found = spread(column(numbers), classes.astype(np.int32), 4, counts)
    for c in range(4):
        members = np.repeat(numbers[classes == c], counts[classes == c])
        if not len(members):
            assert np.isnan(found.mean[c])
            continue
        assert (found.low[c], found.high[c]) == (members.min(), members.max())
        assert found.mean[c] == pytest.approx(members.mean())
        for share, value in ((0.25, found.lower[c]), (0.5, found.median[c]), (0.75, found.upper[c])):
            assert value == np.quantile(members, share, method="inverted_cdf")


def test_outliers_by_tukeys_fences_and_by_the_modified_z_score():
    numbers = [30, 31, 32, 33, 34, 35, 36, 99]
    classes, counts = np.zeros(8, dtype=np.int32), np.ones(8, dtype=np.int64)
    for rule in ("iqr", "zscore"):
        assert outliers(rule, column(numbers), classes, 1, counts, 0.0).tolist() == [False] * 7 + [True]
    assert not outliers("none", column(numbers), classes, 1, counts, 0.0).any()


def test_who_differs_by_a_year_from_a_class_of_one_age_is_no_outlier_under_a_threshold():
    numbers, classes, counts = [30] * 9 + [31], np.zeros(10, dtype=np.int32), np.ones(10, dtype=np.int64)
    assert outliers("iqr", column(numbers), classes, 1, counts, 0.0)[-1]
    assert not outliers("iqr", column(numbers), classes, 1, counts, 5.0).any()
    assert not outliers("zscore", column(numbers), classes, 1, counts, 5.0).any()


def test_the_modified_z_score_without_deviation_takes_the_mean_deviation():
    numbers, classes, counts = [30] * 9 + [95], np.zeros(10, dtype=np.int32), np.ones(10, dtype=np.int64)
    assert outliers("zscore", column(numbers), classes, 1, counts, 0.0).tolist() == [False] * 9 + [True]
    same = [30] * 10
    assert not outliers("zscore", column(same), classes, 1, counts, 0.0).any()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(1, 9))
def test_joined_intervals_have_enough_people(people, least):
    starts = join_thin(np.array(people), least)
    sums = np.add.reduceat(people, starts[:-1])
    assert starts[0] == 0
    assert starts[-1] == len(people)
    assert sums.sum() == sum(people)
    assert sums.min() >= least or len(sums) == 1
    if sum(people) >= least:
        assert sums.min() >= least


@given(st.integers(-50, 50), st.integers(0, 300), st.integers(1, 12), st.sampled_from([1.0, 0.1, 0.01]))
def test_a_grid_covers_its_ends_in_equal_steps_of_whole_units(low, extent, number, unit):
    ends = (round(low * unit, 2), round((low + extent) * unit, 2))
    grid = make_grid(ends, number, None, unit, "x", declared=True)
    assert len(grid) == number
    assert grid.edges[0] == pytest.approx(ends[0])
    assert grid.edges[-1] >= ends[1] - 1e-9
    steps = np.diff(grid.edges)
    assert steps == pytest.approx(np.full(number, steps[0]))
    assert steps[0] / unit == pytest.approx(round(steps[0] / unit))
    # No width of one unit less would do.
    assert grid.edges[0] + (steps[0] - unit) * number < ends[1] + 1e-9 or steps[0] == pytest.approx(unit)
    assert set(grid.index(np.array(ends)).tolist()) <= set(range(number))


def policy(k=3, **method):
    return {
        "attributes": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "fixed-interval", **method},
    }


def test_a_class_under_the_threshold_is_published_over_all_intervals_it_touches_when_widened():
    """Ages 30 and 31 in intervals of ten: about 30.5, four years wide, they touch 20-30 and 30-40."""
    ages = [22] * 3 + [28] * 3 + [30] * 3 + [31] * 3 + [36] * 3 + [39] * 3
    frame = pd.DataFrame({"age": ages, "sex": ["f"] * len(ages)})

    def shown(**method):
        table = medveil.anonymize(frame, policy(6, width=10, ranges={"age": [20, 40]}, **method)).to_pandas()
        return table["age"].astype(str).value_counts().to_dict()

    assert shown() == {"25": 6, "34": 12}
    assert shown(threshold=1) == {"25": 6, "34": 12}
    assert shown(threshold=2) == {"25": 6, "31": 6, "34": 6}
    assert shown(threshold=2, widen=0.4) == {"25": 6, "34": 12}


def test_one_column_alone_is_cut_in_its_own_order():
    frame = pd.DataFrame({"age": [5, 90, 7, 88, 6, 89]})
    found = {
        "attributes": {"age": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "fixed-interval", "intervals": 2},
    }
    assert sorted(medveil.anonymize(frame, found).to_pandas()["age"].astype(str)) == ["6"] * 3 + ["89"] * 3


def test_records_of_zeros_have_a_place_in_the_ranking():
    frame = pd.DataFrame({"age": [0, 0, 0, 20, 25, 30], "sex": ["a"] * 6})
    shown = medveil.anonymize(frame, policy(3, intervals=2)).to_pandas()
    assert shown.groupby("age", observed=True).size().tolist() == [3, 3]


def test_dates_and_padded_codes_are_written_as_what_they_are():
    frame = pd.DataFrame(
        {"seen": ["2020-01-01", "2020-01-03", "2021-06-01", "2021-06-03"], "zip": ["02139", "02141", "02139", "02141"]}
    )
    found = {
        "attributes": {"seen": {"role": "quasi"}, "zip": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "intervals": 2, "codes_as_numbers": ["zip"]},
    }
    shown = medveil.anonymize(frame, found).to_pandas().astype(str)
    assert set(shown["seen"]) <= {"2020-01-02", "2021-06-02"}
    assert set(shown["zip"]) <= {"02139", "02140", "02141"}
