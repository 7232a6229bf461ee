from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest

from medveil.cells import Cells
from medveil.hierarchy.hierarchy import build
from medveil.lattice import frontier, sizes
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.search import search
from medveil.lattice.sizes import SizeCounter
from medveil.lattice.space import Space
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.model import Requirement


def skewed(seed, cells=3000):
    """Cells over four quasi-identifiers in which few values are common, and the space over them."""
    random = np.random.default_rng(seed)
    leaves = [str(leaf) for leaf in range(24)]
    wide = build(
        leaves, [[str(leaf // 3) for leaf in range(24)], [str(leaf // 12) for leaf in range(24)]], None, 24, "x"
    )
    narrow = build(leaves[:5], [["a", "a", "b", "b", "b"]], None, 5, "y")
    drawn = [np.minimum(random.geometric(0.25, cells) - 1, 23) for _ in range(2)]
    drawn += [np.minimum(random.geometric(0.5, cells) - 1, 4) for _ in range(2)]
    codes, counts = np.unique(np.stack(drawn), axis=1, return_counts=True)
    return Space.of([wide, wide, narrow, narrow]), codes.astype(np.int32), counts.astype(np.int64)


def small_at(space, codes, counts, levels, enough):
    """The records in classes of fewer than enough, and which cells they are in."""
    groups = np.stack(
        [h.levels[level].groups[column] for h, level, column in zip(space.hierarchies, levels, codes, strict=True)]
    )
    _, classes = np.unique(groups, axis=1, return_inverse=True)
    classes = classes.ravel()
    out = np.bincount(classes, counts)[classes] < enough
    return int(counts[out].sum()), out


def every_node(space):
    return itertools.product(*(range(high + 1) for high in space.top))


@pytest.mark.parametrize("direct", [1, 1 << 20])
@pytest.mark.parametrize("join", [(1, 3, 1, 2), (3, 2, 2, 0), (0, 0, 0, 0), (3, 3, 2, 2)])
def test_counts_by_chunks_are_exact_or_end_above_what_tells(join, direct):
    space, codes, counts = skewed(1)
    counter = SizeCounter(space, codes, counts, 5)
    counter.chunk((0, 0, 0, 0), join)
    with mock.patch.multiple(sizes, DIRECT=direct, SKETCH_BITS=14):
        for levels in every_node(space):
            truth, out = small_at(space, codes, counts, levels, 5)
            for telling in (0, 60, 10**6):
                found, _ = counter.check(levels, -1, telling, in_detail=False)
                assert found <= truth
                assert found > telling or truth <= telling or direct == 1
            small, hidden = counter.check(levels, 10**6, 10**6, in_detail=True)
            assert small == truth
            for hierarchy, level, column, by_group in zip(space.hierarchies, levels, codes, hidden, strict=True):
                groups = hierarchy.levels[level].groups[column[out]]
                assert by_group.tolist() == np.bincount(groups, counts[out], len(by_group)).astype(int).tolist()


@pytest.mark.parametrize("limit", [0.0, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_search_by_chunks_and_tables_finds_the_least_loss(seed, limit):
    space, codes, counts = skewed(seed)
    records = counts.sum()
    least = np.inf
    for levels in every_node(space):
        small, out = small_at(space, codes, counts, levels, 5)
        if small <= limit * records:
            kept = np.mean(
                [h.losses[level][column] for h, level, column in zip(space.hierarchies, levels, codes, strict=True)],
                axis=0,
            )
            least = min(least, (np.where(out, 1.0, kept) * counts).sum() / records)
    cells = Cells(tuple("abcd"), codes, counts, {}, {})
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=5), (0, 1, 2, 3))])
    with (
        mock.patch.multiple(frontier, PATIENCE=2, READ_IN_VAIN=0.2, MANY=4, FEW=1),
        mock.patch.object(evaluator.sizes, "chunk", wraps=evaluator.sizes.chunk) as chunk,
    ):
        found = search(evaluator, space, make_loss("lm", space, evaluator.columns), limit)
    assert found.proved
    assert found.loss == pytest.approx(least, rel=1e-12)
    if 0.0 < limit < 1.0:
        assert chunk.called
