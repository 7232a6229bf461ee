"""Reconstruction error, against the sum over every point of every domain."""

import importlib.util
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import medveil
from medveil.datasets import patients
from medveil.loss.reconstruction import reconstruction_error
from medveil.utility.measure import Comparison
from medveil.utility.rce import JointReconstructionError, ReconstructionError

_place = importlib.util.spec_from_file_location("support", Path(__file__).parents[1] / "support.py")
_support = importlib.util.module_from_spec(_place)
_place.loader.exec_module(_support)

LEVELS = {"p": [{"a": "ab", "b": "ab", "c": "c"}]}
ORIGINAL = {"p": ["a", "a", "b", "c"], "s": ["x", "x", "y", "x"]}


@given(st.integers(1, 50), st.floats(0, 1))
def test_one_attribute_is_the_sum_over_its_points(points, real):
    """The original is one point; the recipient spreads p over v of them."""
    direct = (1 - real / points) ** 2 + (points - 1) * (real / points) ** 2
    assert reconstruction_error(points, real) == pytest.approx(direct)


@pytest.fixture
def compare():
    def made(published, companions=None):
        with _support.make_problem(ORIGINAL, quasi=("p",), sensitive=("s",), hierarchies=LEVELS) as problem:
            comparison = Comparison(problem, pa.table(published), companions=companions or {})
            return comparison, ReconstructionError().compute(comparison), JointReconstructionError().compute(comparison)

    return made


def test_the_original_has_none_and_stars_have_most(compare):
    _, error, joint = compare(ORIGINAL)
    assert error.value == joint.value == 0
    _, error, joint = compare({"p": ["*"] * 4, "s": ["*"] * 4})
    assert error.parts == pytest.approx({"p": 2 / 3, "s": 1 / 2})
    assert joint.value == pytest.approx(5 / 6)


def test_groups_count_what_they_cover(compare):
    _, error, joint = compare({"p": ["ab", "ab", "ab", "c"], "s": ORIGINAL["s"]})
    assert error.parts == pytest.approx({"p": 3 / 8, "s": 0})
    assert error.value == pytest.approx(3 / 16)
    assert joint.value == pytest.approx(3 / 8)


def test_a_record_left_out_is_spread_over_the_domain(compare):
    _, error, _ = compare({"p": ["a", "a", "b"], "s": ["x", "x", "y"]})
    assert error.parts == pytest.approx({"p": (2 / 3) / 4, "s": (1 / 2) / 4})


def test_the_catalog_says_how_likely_a_record_is_real(compare):
    """One of the three x of classes 1 and 2 is a counterfeit: p = 2/3 for each of them."""
    published = {
        "class_id": ["1", "1", "1", "2", "2"],
        "p": ["ab", "ab", "ab", "c", "c"],
        "s": ["x", "x", "y", "x", "y"],
    }
    catalog = pa.table({"class_ids": ["1;2"], "value": ["x"], "count": [1]})
    comparison, error, _ = compare(published, {"catalog.csv": catalog})
    assert comparison.reality.tolist() == pytest.approx([2 / 3, 2 / 3, 1, 2 / 3, 1])
    p = 2 / 3
    wide, sharp = 1 - p + p * p / 2, (1 - p) ** 2
    total = 4 * p + (2 - p)
    expected_p = (2 * p * wide + 1 * 0.5 + p * sharp + 0) / total
    expected_s = (3 * p * sharp) / total
    assert error.parts == pytest.approx({"p": expected_p, "s": expected_s}, rel=1e-9)


def test_people_of_a_class_are_real_by_their_share(compare):
    """Class 1 has one of the group's three people: each of its records is real with a third."""
    published = {
        "class_id": ["1", "1", "1", "2", "2", "2", "3"],
        "p": ["ab", "ab", "ab", "c", "c", "c", "ab"],
        "s": ["x", "x", "y", "x", "x", "y", "x"],
    }
    catalog = pa.table({"class_ids": ["1;2"] * 2, "value": ["x", "y"], "count": [2, 1], "people": ["1;2"] * 2})
    comparison, _, _ = compare(published, {"catalog.csv": catalog})
    assert comparison.reality.tolist() == pytest.approx([1 / 3] * 3 + [2 / 3] * 3 + [1])
    assert comparison.unpublished == pytest.approx(0)


def test_the_measure_is_about_what_the_method_minimized(tmp_path):
    """The method knows which records are real, the measure only how likely that is."""
    table = patients(1500, seed=4)
    policy = {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 20]}},
            "sex": {"role": "quasi"},
            "region": {"role": "quasi"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "h-ceiling", "h": 0.6, "max_counterfeits": 0.2},
        "seed": 1,
    }
    release = medveil.anonymize(table, policy, out=tmp_path / "release")
    internal = release.folder / "internal"
    own = json.loads((internal / "h_ceiling.json").read_text())["rce"]
    measured = json.loads((internal / "measures.json").read_text())["rce"]["value"]
    assert measured == pytest.approx(own, abs=0.01)
