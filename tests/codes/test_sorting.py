from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.codes.sorting import ascending


@given(st.lists(st.integers(-3, 3) | st.floats(allow_nan=False), max_size=100))
def test_keys_ascend_and_equal_ones_keep_their_order(keys):
    keys = np.array(keys, dtype=np.float64)
    assert ascending(keys).tolist() == np.argsort(keys, kind="stable").tolist()


def test_many_runs_are_merged():
    keys = np.random.default_rng(3).integers(0, 50, 10_001).astype(np.float64)
    assert ascending(keys).tolist() == np.argsort(keys, kind="stable").tolist()
