"""What labels stand for: against a reading value by value."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.evaluation.coverage import cover, encode_labels, encode_texts
from medveil.evaluation.runs import Runs, merged
from medveil.hierarchy.hierarchy import build
from medveil.table.domain import domain_of
from medveil.table.labels import parse_label, range_label, set_label
from medveil.table.schema import Kind

AGES = domain_of(["3", "5", "8", "21", "34", None], Kind.NUMBER)
TOWNS = domain_of(["Bonn", "Kiel", "Mainz", "Trier"], Kind.CATEGORY)
ZIPS = domain_of(["10115", "10117", "20095", "20097", "80331"], Kind.CODE)


def held(label, domain, hierarchy=None, book=None):
    read = cover(pa.chunked_array([pa.array([label], pa.string())]), domain, hierarchy, book)
    return [value for value, covers in zip(domain.values, read.leaves[0], strict=True) if covers]


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("[3-8]", ["3", "5", "8"]),
        ("[3-8)", ["3", "5"]),
        ("(3-8]", ["5", "8"]),
        ("21+", ["21", "34"]),
        ("<8", ["3", "5"]),
        ("{3, 34, ?}", ["3", "34", None]),
        ("{[3-5], [21-40]}", ["3", "5", "21", "34"]),
        ("5.0", ["5"]),
        (None, [None]),
        ("*", ["3", "5", "8", "21", "34", None]),
        # As other programs write them.
        ("3-8", ["3", "5", "8"]),
        ("[3, 8[", ["3", "5"]),
        ("3..8", ["3", "5", "8"]),
        ("> 8", ["21", "34"]),
        ("≥ 8", ["8", "21", "34"]),
    ],
)
def test_labels_of_numbers(label, values):
    assert held(label, AGES) == values


def test_a_number_between_values_is_a_point_that_stands_for_nobody():
    read = cover(pa.chunked_array([pa.array(["6.5", "5"])]), AGES)
    assert read.foreign.tolist() == [True, False]
    assert not read.unread.any()
    assert read.line.shares_within(6, 7).tolist() == [1.0, 0.0]
    assert read.covered.tolist() == [1.0, 1.0]


def test_what_cannot_be_read_covers_everything():
    read = cover(pa.chunked_array([pa.array(["middle-aged"])]), AGES)
    assert read.unread.tolist() == [True]
    assert read.leaves.all()
    assert read.covered.tolist() == [6.0]


def test_masks_lists_and_books():
    assert held("10***", ZIPS) == ["10115", "10117"]
    assert held("2009*", ZIPS) == ["20095", "20097"]
    assert held("[20000 - 20096]", ZIPS) == ["20095"]
    assert held("Bonn, Kiel", TOWNS) == ["Bonn", "Kiel"]
    assert held("{0, 2}", TOWNS, book={"0": "Kiel", "1": "Bonn", "2": "Trier"}) == ["Kiel", "Trier"]


def test_groups_of_the_hierarchy_go_before_what_they_look_like():
    hierarchy = build(TOWNS.values, [["Bonn", "north", "Bonn", "Bonn"]], None, 9.0, "town")
    read = cover(pa.chunked_array([pa.array(["north", "*", "Mainz"])]), TOWNS, hierarchy)
    assert read.leaves.tolist() == [[False, True, False, False], [True] * 4, [False, False, True, False]]
    assert read.covered.tolist() == [1.0, 9.0, 1.0]


def test_dictionaries_with_unused_entries_and_missing_values():
    column = pa.DictionaryArray.from_arrays(pa.array([2, None, 2, 0], pa.int32()), pa.array(["a", "unused", "b"]))
    labels, codes = encode_labels(pa.chunked_array([column]))
    assert [labels[code] for code in codes] == ["b", None, "b", "a"]
    assert set(labels) == {"a", "b", None}
    assert encode_labels(column.cast(pa.string()))[0] == ("b", None, "a")


@st.composite
def label_and_domain(draw):
    numbers = sorted(draw(st.sets(st.integers(-30, 30), min_size=1, max_size=12)))
    values = [*map(str, numbers), *([None] if draw(st.booleans()) else [])]
    low, high = sorted(draw(st.tuples(st.integers(-35, 35), st.integers(-35, 35))))
    label = draw(
        st.sampled_from(
            [
                range_label(str(low), str(high)),
                f"({low}-{high}]",
                f">{low}",
                f"<={high}",
                set_label(draw(st.lists(st.sampled_from(values), min_size=1, unique=True))),
            ]
        )
    )
    return label, domain_of(values, Kind.NUMBER)


@given(label_and_domain())
def test_runs_hold_what_the_label_holds_value_by_value(case):
    label, domain = case
    expected = [value for value in domain.values if parse_label(label).holds(value)]
    if expected:  # a label behind which there is nobody counts as a point or as unread
        assert held(label, domain) == expected


@given(label_and_domain(), st.integers(-40, 40), st.integers(0, 20))
def test_shares_on_the_line_are_those_of_whole_numbers_counted_one_by_one(case, start, width):
    label, domain = case
    read = cover(pa.chunked_array([pa.array([label], pa.string())]), domain)
    if read.line is None or read.unread[0] or not len(read.line.starts):
        return
    covered = [n for a, b in zip(read.line.starts, read.line.ends, strict=True) for n in np.arange(a, b)]
    if covered:
        inside = sum(start <= n < start + width for n in covered) / len(covered)
        assert read.line.shares_within(start, start + width)[0] == pytest.approx(inside)


def test_draws_are_even_over_what_a_label_covers():
    runs = Runs.of([[(0, 2), (10, 12)], [], [(5, 5)], [(7, 8)]])
    random = np.random.default_rng(3)
    drawn = runs.draw(np.repeat([0, 1, 2, 3], 4000), random).reshape(4, -1)
    counts = np.unique(np.floor(drawn[0]), return_counts=True)
    assert counts[0].tolist() == [0, 1, 10, 11]
    # Four cells of 1000 expected; 150 is more than five standard deviations.
    assert np.abs(counts[1] - 1000).max() < 150
    assert np.isnan(drawn[1]).all()
    assert (drawn[2] == 5).all()
    assert ((drawn[3] >= 7) & (drawn[3] < 8)).all()


def test_over_leaves_spreads_weights_evenly():
    read = cover(pa.chunked_array([pa.array(["[3-8]", "34", "*"])]), AGES)
    spread = read.over_leaves(np.array([3.0, 2.0, 6.0]))
    assert spread == pytest.approx([2.0, 2.0, 2.0, 1.0, 3.0, 1.0])


def test_merged_runs_do_not_overlap():
    assert merged([(4, 6), (0, 2), (1, 3)]) == [(0, 3), (4, 6)]


@pytest.mark.parametrize(
    ("codes", "labels", "expected"),
    [
        ([0, 1, 0], ["a", "b"], (["a", "b"], [0, 1, 0])),
        ([2, None, 0], ["a", "b", "c"], (["a", "c", None], [1, 2, 0])),
        ([1, None, 0], ["a", "b"], (["a", "b", None], [1, 2, 0])),
        ([], ["a"], ([], [])),
    ],
)
def test_labels_of_a_dictionary_are_those_that_rows_have(
    codes: list[int | None], labels: list[str], expected: tuple[list[str | None], list[int]]
) -> None:
    column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(labels))])
    texts, found = encode_texts(column)
    assert (texts.to_pylist(), found.tolist()) == expected
    plain_texts, plain = encode_texts(column.cast(pa.string()))
    assert [plain_texts.to_pylist()[code] for code in plain] == [texts.to_pylist()[code] for code in found]
