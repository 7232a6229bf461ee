"""Diversity-aware anonymization of odd data and odd wishes: extreme numbers, lone categories, values of all kinds."""

import time

import numpy as np
import pyarrow as pa
import pytest
from tests.support import reported

import medveil
from medveil.errors import PolicyError
from medveil.methods.diversity_aware import DiversityAware
from medveil.methods.diversity_aware.method import gap_in_words

ILL = ["a", "b", "a", "a", "b", "a", "a", "b", "b", "a", "a", "b"]


def anonymize(table, k=3, **method):
    policy = {
        "attributes": {name: {"role": "sensitive" if name == "ill" else "quasi"} for name in table},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "diversity-aware", "starts": 5, **method},
    }
    return medveil.anonymize(pa.table(table), policy)


def published(release, column):
    return release.to_arrow()[column].to_pylist()


@pytest.mark.parametrize(
    "numbers",
    [
        [1e308] * 6 + [1.7e308] * 6,
        [i * 1e-320 for i in range(12)],
        [i * 5e-324 for i in range(12)],
        [-1.7e308, 1.7e308, *range(10)],
    ],
    ids=["greatest", "tiny", "least", "both ends"],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in subtract")  # the report's
def test_the_greatest_and_the_least_numbers_there_are(numbers):
    release = anonymize({"x": [float(number) for number in numbers], "ill": ILL})
    found = [float(text) for text in published(release, "x")]
    assert min(numbers) <= min(found) <= max(found) <= max(numbers)
    assert np.mean(np.array(found) / 12) == pytest.approx(np.mean(np.array(numbers) / 12) * 1.0, rel=0.3, abs=1e304)
    assert np.isfinite(reported(release)["cost"])
    assert reported(release)["gap"] < 1e-6


def test_numbers_too_large_to_add_up_as_they_are():
    with pytest.raises(PolicyError, match="'x' are too large"):
        anonymize({"x": [1e308, *map(float, range(11))], "ill": ILL}, distance="manhattan")


def test_long_numbers_that_hardly_differ_are_not_somebodys_own():
    numbers = [123456789012345678 + i for i in range(12)]
    found = set(published(anonymize({"x": numbers, "ill": ILL}), "x"))
    assert not found & {str(number) for number in numbers}
    assert all(abs(int(text) - numbers[0]) < 1e6 for text in found)


def test_a_category_that_one_of_several_has_is_not_published():
    codes = [f"z{i}" for i in range(12)]
    assert published(anonymize({"zip": codes, "ill": ILL}), "zip") == [None] * 12
    assert set(published(anonymize({"zip": ["p"] * 6 + codes[6:], "ill": ILL}), "zip")) <= {"p", None}
    alone = anonymize({"zip": codes, "ill": ILL}, k=1)
    assert sorted(published(alone, "zip")) == sorted(codes)


def test_identical_records_have_no_gap():
    method = reported(anonymize({"x": [5] * 12, "ill": ILL}))
    assert method["cost"] == method["bound"] == method["gap"] == 0


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([text == "a" for text in ILL], True),
        ([float(text == "a") for text in ILL], 1),
        ([float(text == "a") for text in ILL], "1.0"),
        (["2020-01-01" if text == "a" else "2021-01-01" for text in ILL], "2020-01-01"),
    ],
    ids=["truth", "number", "written number", "date"],
)
def test_a_sensitive_value_of_any_kind(values, wanted):
    release = anonymize({"x": list(range(12)), "ill": values}, sensitive_value=wanted)
    assert release.manifest.method["least_alpha"] == "8/7"  # seven of it in four clusters


@pytest.mark.parametrize("wanted", ["abc", "", True, "2020-01-01"])
def test_a_sensitive_value_of_the_wrong_kind_does_not_occur(wanted):
    with pytest.raises(PolicyError, match="'sensitive_value' does not occur in column 'ill'"):
        anonymize({"x": list(range(12)), "ill": [float(text == "a") for text in ILL]}, sensitive_value=wanted)


@pytest.mark.parametrize("alpha", ["1e999999999", "1e-999999999", "1/1e99999", "1" * 200])
def test_an_alpha_nobody_can_mean_is_refused_at_once(alpha):
    began = time.monotonic()
    with pytest.raises(ValueError, match="alpha"):
        DiversityAware(alpha=alpha)
    assert time.monotonic() - began < 1


def test_how_near_the_optimum_is_is_printed():
    table = {"x": list(range(12)), "ill": ILL}
    exact = gap_in_words(reported(anonymize(table)))
    assert exact.startswith("4 clusters of cost ")
    assert "none cost less than" in exact
    blocks = reported(anonymize(table, blocks_above=5, whole_up_to=5))
    assert blocks["bound"] is None
    assert f"saves more than {blocks['measured_gap']:.2%}" in gap_in_words(blocks)


def test_originals_that_one_release_may_have_are_not_told_apart():
    """The means of both are the same, and what clusters cost is not: only the steward is told."""
    close, far = ({"x": [*near, *(100 + one for one in near)], "ill": ILL} for near in ([4, 5, 6] * 2, [1, 5, 9] * 2))
    one, other = (anonymize(table, k=6, digits=0) for table in (close, far))
    assert sorted(published(one, "x")) == sorted(published(other, "x"))
    assert one.manifest.method == other.manifest.method
    assert reported(one)["cost"] != reported(other)["cost"]
