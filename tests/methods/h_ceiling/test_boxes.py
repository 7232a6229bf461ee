"""Local recoding keeps the ceiling in every box, and cuts only where it may."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy.hierarchy import build
from medveil.methods.h_ceiling.boxes import cut_boxes
from medveil.methods.h_ceiling.clusters import grow_clusters
from medveil.methods.h_ceiling.partition import group_losses

records = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40)


def recoded(crowd, way, h, k):
    bounds = [(0, hierarchy.height) for hierarchy in crowd.hierarchies]
    if way == "mondrian":
        return cut_boxes(crowd, bounds, h, k, lambda: None)
    return grow_clusters(crowd, bounds, h, k, np.random.default_rng(3), lambda: None)


@pytest.mark.parametrize("way", ["mondrian", "clustering"])
@given(records, st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]), st.integers(1, 5))
def test_no_box_is_above_the_ceiling_and_labels_hold_their_values(make_residents, way, rows, h, k):
    crowd = make_residents(rows).crowd
    made = recoded(crowd, way, h, k)
    assert made is not None, "single values are always below the ceiling"
    assert made.degrees.max() <= h + 1e-9
    assert made.fits(crowd.codes, made.class_of_place.astype(np.int64)).all()
    labels = {tuple(zip(made.levels[:, c], made.groups[:, c], strict=True)) for c in range(len(made))}
    assert len(labels) == len(made), "a class is what publishes the same labels"


@pytest.mark.parametrize("way", ["mondrian", "clustering"])
@given(records, st.integers(1, 5))
def test_without_a_ceiling_no_class_is_too_small(make_residents, way, rows, k):
    crowd = make_residents(rows).crowd
    assert recoded(crowd, way, 1.0, k).people.min() >= min(k, len(rows))


def test_a_label_that_stands_at_two_levels_is_read_as_the_wider():
    levels = [["left", "left", "c"], ["left", "left", "left"]]
    hierarchy = build(("a", "b", "c"), levels, None, 3.0, "column")
    assert group_losses([hierarchy])[0][1].tolist() == [1.0, 0.0]
