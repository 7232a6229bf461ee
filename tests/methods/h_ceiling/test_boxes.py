"""Local recoding keeps the ceiling in every box, and cuts only where it may."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.methods.h_ceiling.boxes import Scale, cut_boxes
from medveil.methods.h_ceiling.clusters import grow_clusters

QUARTERS = [
    {v: v[0] for v in ("aa", "ab", "ba", "bb", "ca", "cb")},
    {v: "a or b" if v[0] in "ab" else "c" for v in ("aa", "ab", "ba", "bb", "ca", "cb")},
]
value = st.sampled_from(["aa", "ab", "ba", "bb", "ca", "cb"])
records = st.lists(st.tuples(value, value, st.sampled_from("xy")), min_size=1, max_size=40)


def recoded(made, way, h, k):
    cells, hierarchies = made
    scale = Scale(hierarchies)
    bounds = [(0, hierarchy.height) for hierarchy in hierarchies]
    if way == "mondrian":
        return scale, cut_boxes(cells, scale, bounds, h, k, lambda: None)
    return scale, grow_clusters(cells, scale, bounds, h, k, np.random.default_rng(3), lambda: None)


@pytest.mark.parametrize("way", ["mondrian", "clustering"])
@given(records, st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]), st.integers(1, 5))
def test_no_box_is_above_the_ceiling_and_labels_hold_their_values(make_tiny, way, rows, h, k):
    cells, _ = tiny = make_tiny(rows, QUARTERS)
    scale, made = recoded(tiny, way, h, k)
    assert made is not None, "single values are always below the ceiling"
    span = np.array([[hierarchy.size - 1.0] for hierarchy in scale.hierarchies])
    degrees = ((scale.points(made) - 1.0) / np.maximum(span, 1.0)).mean(axis=0)
    assert degrees.max() <= h + 1e-9
    for attribute, hierarchy in enumerate(scale.hierarchies):
        for cell, number in enumerate(made.class_of_cell.tolist()):
            level = hierarchy.levels[int(made.levels[attribute, number])]
            assert level.groups[cells.codes[attribute, cell]] == made.groups[attribute, number]
    labels = [
        tuple(
            hierarchy.levels[int(made.levels[a, c])].labels[int(made.groups[a, c])]
            for a, hierarchy in enumerate(scale.hierarchies)
        )
        for c in range(made.groups.shape[1])
    ]
    assert len(set(labels)) == len(labels), "a class is what publishes the same labels"


@given(records, st.integers(1, 5))
def test_mondrian_without_a_ceiling_makes_no_class_too_small(make_tiny, rows, k):
    cells, _ = tiny = make_tiny(rows, QUARTERS)
    _, made = recoded(tiny, "mondrian", 1.0, k)
    assert np.bincount(made.class_of_cell, cells.counts).min() >= min(k, len(rows))


@given(records, st.integers(1, 5))
def test_clusters_without_a_ceiling_are_large_enough(make_tiny, rows, k):
    cells, _ = tiny = make_tiny(rows, QUARTERS)
    _, made = recoded(tiny, "clustering", 1.0, k)
    assert np.bincount(made.class_of_cell, cells.counts).min() >= min(k, len(rows))


def test_a_label_that_stands_at_two_levels_is_read_as_the_wider(make_tiny):
    same = [{"a": "left", "b": "left", "c": "c"}, {"a": "left", "b": "left", "c": "left"}]
    _, hierarchies = make_tiny([("a", "x"), ("b", "x"), ("c", "x")], same)
    assert Scale(hierarchies).losses(0, 1).tolist() == [1.0, 0.0]
