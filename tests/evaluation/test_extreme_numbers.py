"""Numbers whose range is beyond all numbers are spread and compared all the same, without a warning."""

import numpy as np
import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison
from medveil.evaluation.runs import Runs
from medveil.risk import risks
from medveil.risk.risk import assess_risks
from medveil.utility import measures
from medveil.utility.compute import compute_measures

LARGEST = 1.7e308


def test_shares_of_a_run_over_all_numbers():
    runs = Runs.of([[(-LARGEST, LARGEST)], [(-LARGEST, -1.0), (1.0, LARGEST)], [(0.0, 2.0)]])
    assert runs.shares_within(0.0, np.inf) == pytest.approx([0.5, 0.5, 1.0])
    assert runs.shares_within(0.0, LARGEST / 2) == pytest.approx([0.25, 0.25, 1.0])
    drawn = runs.draw(np.repeat([0, 1, 2], 1000), np.random.default_rng(1))
    assert np.isfinite(drawn).all()
    assert abs(np.mean(drawn[:2000] > 0) - 0.5) < 0.05
    assert np.all((drawn[2000:] >= 0) & (drawn[2000:] < 2))


@pytest.mark.parametrize("label", [None, "*", "[-1.7e308-1.7e308]"])
def test_measures_and_risks_of_the_largest_numbers(label):
    ages = [-LARGEST, LARGEST, 1e308, -0.0, 5.0, 2.0**60] * 4
    people = {"age": ages, "ill": ["flu", "gout"] * 12}
    with make_problem(people, quasi=["age"], sensitive=["ill"]) as problem:
        published = pa.table({"age": [label or repr(age) for age in ages], "ill": people["ill"]})
        comparison = Comparison(problem, published)
        found = compute_measures(comparison, measures(), cheap_only=False)
        assert found["query-error"].value == pytest.approx(0.0) if label is None else found["query-error"].value > 0.1
        assert found["lm"].value == (0.0 if label is None else 1.0)
        assert assess_risks(comparison, risks(), cheap_only=False)["prosecutor"].value == 1 / (
            4 if label is None else 24
        )
