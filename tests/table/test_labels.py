from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from medveil.table.labels import Cover, Span, parse_label, range_label, set_label, value_label

texts = st.text(alphabet=st.sampled_from("ab0129 -+<>=?*,\\{}[]()\n.é"), min_size=1, max_size=8)


def open_range(text):
    """Texts such as `90+` and `<18` are read as ranges wherever they stand."""
    return bool(parse_label(text).spans) and not text.startswith(("[", "("))


@given(st.lists(texts.filter(lambda t: not open_range(t)), min_size=1, max_size=5, unique=True), st.booleans())
@settings(max_examples=500)
@example(values=["[0-0)"], missing=False)
@example(values=["[0-0)"], missing=True)
def test_sets_come_back(values, missing):
    found = parse_label(set_label([*values, *[None] * missing]))
    assert replace(found, spans=()) == Cover(values=tuple(values), missing=missing)
    assert not found.spans or len(values) + missing == 1, "only what stands alone may read as a range, too"


@given(texts, texts)
@settings(max_examples=500)
def test_ranges_come_back(low, high):
    assume(low != high)
    spans = parse_label(range_label(low, high, numeric=False)).spans
    assert spans == (Span(low, high, numeric=False),)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_ranges_of_numbers_come_back(low, high):
    assume(low != high)
    assert parse_label(range_label(repr(low), repr(high))).spans == (Span(repr(low), repr(high)),)


@given(texts)
@settings(max_examples=500)
@example("[60-70)")
@example("90+")
def test_values_come_back(value):
    """What stands alone may read as a range, too; it is the value all the same."""
    assert replace(parse_label(value_label(value)), spans=()) == Cover(values=(value,))


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("[20-34]", ["20", "34", "27.5"], ["19", "35", None, "x"]),
        ("[0.0-2.5)", ["0", "2.4"], ["2.5"]),
        ("(0-1]", ["1"], ["0"]),
        ("[-5--1]", ["-3"], ["3"]),
        ("[1e-05-0.5]", ["0.1"], ["0"]),
        ("90+", ["90", "1000"], ["89"]),
        (">=90", ["90"], ["89"]),
        (">90", ["91"], ["90"]),
        ("<18", ["17"], ["18"]),
        ("<=17", ["17"], ["18"]),
        ("[2020-01-03 - 2020-02-10]", ["2020-01-31"], ["2020-02-11"]),
        ("[0123 - 0199]", ["0150"], ["02"]),
        ("{a, b}", ["a", "b"], ["c", None]),
        ("{[20-34], ?}", ["20", None], ["19"]),
        ("{<18, 65+}", ["3", "80"], ["40"]),
        ("*", ["x", None], []),
        ("White", ["White"], ["W", None]),
        ("<=50K", ["<=50K"], ["50"]),
        (None, [None], ["a"]),
    ],
)
def test_what_a_label_covers(label, inside, outside):
    cover = parse_label(label)
    assert all(cover.holds(value) for value in inside)
    assert not any(cover.holds(value) for value in outside)
