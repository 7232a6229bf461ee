"""Each formula is written once: searches and measures agree, and two that have one name in the literature do not."""

import numpy as np
import pytest

from medveil.lattice.loss import LOSSES
from medveil.loss.class_sizes import average_class_share, average_class_size, discernibility
from medveil.loss.earth_movers import earth_movers_distance, ordered_distance, unordered_distance
from medveil.loss.generalization import certainty_penalty, loss_metric
from medveil.loss.reconstruction import reconstruction_error
from medveil.utility import measures


def test_average_class_size_is_the_one_of_the_paper():
    """LeFevre et al.: 20 records in 4 classes with k = 5 are as few as can be."""
    assert average_class_size(20, 4, 5) == 1.0
    assert average_class_size(20, 2, 5) == 2.0


def test_the_share_charges_for_suppression_and_the_average_does_not():
    assert average_class_share(2, 0, 20) < average_class_share(2, 10, 20)
    assert average_class_size(10, 1, 5) == average_class_size(20, 2, 5)


def test_the_two_have_names_of_their_own():
    assert "average-class-share" in LOSSES
    assert "average-class-share" not in measures()
    assert "average-class-size" in measures()
    assert "average-class-size" not in LOSSES


def test_ends():
    assert discernibility(0, 8, 8) == discernibility(8 * 8, 0, 8) == 1.0
    for formula in (loss_metric, certainty_penalty):
        assert formula([1, 7], 7).tolist() == [0.0, 1.0]
    assert reconstruction_error(1.0) == 0.0


@pytest.mark.parametrize("size", [2, 3, 8])
def test_moving_everything_from_end_to_end_costs_one(size):
    apart = np.zeros(size)
    apart[0], apart[-1] = 1.0, -1.0
    assert ordered_distance(apart) == unordered_distance(apart) == 1.0


def test_one_step_costs_less_where_values_are_ordered():
    apart = np.array([1.0, -1.0, 0.0])
    assert unordered_distance(apart) == 1.0
    assert ordered_distance(apart) == 0.5


def test_tables_of_different_size_are_compared_by_shares():
    assert earth_movers_distance(np.array([1.0, 1.0]), np.array([10.0, 10.0])) == 0.0
    assert earth_movers_distance(np.array([1.0, 1.0]), np.zeros(2)) == 1.0
