"""No published range ends with a value that only one person has, and top and bottom codes hold."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import medveil
from medveil.methods.mondrian.ends import find_ends
from medveil.table.labels import parse_label
from medveil.table.schema import Kind

RANDOM = np.random.default_rng(5)
AGES = [*(str(age) for age in RANDOM.integers(18, 95, 300)), "119", "104", "3"]


def published(attribute, ages=AGES, **method):
    policy = {
        "attributes": {"age": attribute},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "mondrian", **method},
    }
    return medveil.anonymize(pd.DataFrame({"age": ages}), policy).to_pandas()["age"].tolist()


@pytest.mark.parametrize("name", ["mondrian", "optimal", "iab"])
def test_top_and_bottom_codes_hold(name):
    hierarchy = {"type": "intervals", "domain": [0, 120], "widths": [5, 20], "top": 90, "bottom": 18}
    labels = published({"role": "quasi", "hierarchy": hierarchy}, name=name)
    numbers = {int(number) for label in labels for number in re.findall(r"\d+", label)}
    assert max(numbers) <= 90
    assert min(numbers) >= 18
    if name == "mondrian":
        assert "90+" in labels


def test_ranges_end_at_declared_cuts():
    hierarchy = {"type": "intervals", "domain": [0, 119], "widths": [5, 20]}
    for label in published({"role": "quasi", "hierarchy": hierarchy}):
        for span in parse_label(label).spans:
            assert int(span.low) % 5 == 0
            assert int(span.high) % 5 == 4


def test_without_declared_cuts_measured_numbers_are_no_ends():
    values = [repr(float(value)) for value in RANDOM.lognormal(0, 1, 200)]
    spans = [span for label in published({"role": "quasi"}, values) for span in parse_label(label).spans]
    assert spans
    assert not {span.low for span in spans} & set(values)
    assert not {span.high for span in spans} & set(values)


@given(st.sets(st.integers(-1000, 1000), min_size=1, max_size=30))
def test_ends_keep_to_their_side_of_the_neighbours(numbers):
    places = np.array(sorted(numbers), dtype=np.float64)
    ends = find_ends(Kind.NUMBER, [str(int(place)) for place in places], places, None)
    assert np.all(ends.starts <= places)
    assert np.all(ends.stops >= places)
    assert np.all(ends.starts[1:] > places[:-1])
    assert np.all(ends.stops[:-1] < places[1:])


@given(st.sets(st.dates(), min_size=1, max_size=30))
def test_days_too(days):
    texts = sorted(day.isoformat() for day in days)
    places = np.array([(day - pd.Timestamp(1970, 1, 1).date()).days for day in sorted(days)], dtype=np.float64)
    ends = find_ends(Kind.DATE, texts, places, None)
    assert all(low <= text <= high for low, text, high in zip(ends.low, texts, ends.high, strict=True))
    assert np.all(ends.starts[1:] > places[:-1])
    assert np.all(ends.stops[:-1] < places[1:])
