"""The attack on single persons against plain counting."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.hierarchy.hierarchy import build
from medveil.risk import linkage
from medveil.risk.linkage import Attack

PEOPLE = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.sampled_from(["flu", "cold", "gout"])),
    min_size=1,
    max_size=15,
)


def table(people):
    sex, age, ill = zip(*people, strict=True)
    return pa.table({"sex": list(sex), "age": [str(a) for a in age], "ill": list(ill)})


@given(PEOPLE)
def test_on_the_original_itself_candidates_are_those_who_are_the_same(people):
    found = Attack(table(people), table(people), ("sex", "age"), "ill").run()
    for i, (sex, age, ill) in enumerate(people):
        same = [other for other in people if other[:2] == (sex, age)]
        assert found.candidates[i] == len(same)
        assert found.confidence[i] == pytest.approx(sum(other[2] == ill for other in same) / len(same))
        assert found.possible[i] == len({other[2] for other in same})


@given(PEOPLE)
def test_blocks_change_nothing(people):
    everything = Attack(table(people), table(people), ("sex", "age"), "ill").run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "BLOCK", 1)
        one_by_one = Attack(table(people), table(people), ("sex", "age"), "ill").run()
    assert np.array_equal(everything.confidence, one_by_one.confidence)
    assert np.array_equal(everything.candidates, one_by_one.candidates)


@given(PEOPLE)
def test_a_release_that_says_nothing_leaves_everybody(people):
    original = table(people)
    silent = pa.table({"sex": ["*"] * len(people), "age": ["*"] * len(people), "ill": original["ill"]})
    found = Attack(original, silent, ("sex", "age"), "ill").run()
    assert set(found.candidates.tolist()) == {len(people)}
    assert found.singled_out == (len(people) == 1)


def test_groups_sets_and_ids_are_read():
    original = pa.table({"sex": ["a", "b", "c"], "ill": ["flu", "cold", "gout"]})
    hierarchy = build(("a", "b", "c"), [("ab", "ab", "c")], None, 3.0, "sex")
    published = pa.table({"sex": ["ab", "ab", "c"], "ill": ["{0, 1}", "{0, 1}", "2"]})
    books = {"ill": {"0": "flu", "1": "cold", "2": "gout"}}
    found = Attack(original, published, ("sex",), "ill", hierarchies={"sex": hierarchy}, books=books).run()
    assert found.candidates.tolist() == [2, 2, 1]
    assert found.confidence.tolist() == [0.5, 0.5, 1.0]
    assert found.best.tolist() == [0.5, 0.5, 1.0]
    assert found.certain == pytest.approx(1 / 3)
    assert found.mean_confidence == pytest.approx(2 / 3)


def test_of_means_the_nearest_is_taken_among_what_the_other_columns_leave():
    original = pa.table({"age": ["20", "30", "40"], "sex": ["f", "m", "m"], "ill": ["flu", "cold", "gout"]})
    published = pa.table({"age": ["29.5", "21", "42"], "sex": ["m", "f", "m"], "ill": ["cold", "flu", "gout"]})
    found = Attack(original, published, ("age", "sex"), "ill").run()
    assert found.candidates.tolist() == [1, 1, 1]
    assert found.confidence.tolist() == [1.0, 1.0, 1.0]
    some = Attack(original, published, ("age", "sex"), "ill").run(original.slice(1, 1))
    assert some.candidates.tolist() == [1]


def test_whom_nothing_covers_may_be_anybody():
    original = pa.table({"sex": ["f", "m"], "ill": ["flu", "cold"]})
    published = pa.table({"sex": ["f"], "ill": ["flu"]})
    found = Attack(original, published, ("sex",), "ill").run()
    assert found.candidates.tolist() == [1, 1]
    assert found.confidence.tolist() == [1.0, 0.0]
    assert found.certain == 0.5
