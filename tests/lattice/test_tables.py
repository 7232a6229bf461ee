from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from medveil.cells import Cells
from medveil.codes import rank as rank_module
from medveil.codes.rank import fold, rank
from medveil.hierarchy.hierarchy import build
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.space import Space
from medveil.lattice.tables import PackedTable, Packing
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.model import Requirement


def same_partition(ranks, columns):
    """Whether cells share a rank just where they share all columns."""
    _, expected = np.unique(np.stack(columns), axis=1, return_inverse=True)
    pairs = {*zip(ranks.tolist(), expected.ravel().tolist(), strict=True)}
    return len(pairs) == len(set(ranks.tolist())) == len(set(expected.ravel().tolist()))


@given(seed=st.integers(0, 10**6), digits=st.integers(1, 30), limit=st.sampled_from([1 << 4, 1 << 20, 1 << 62]))
def test_folded_keys_tell_the_same_apart_as_whole_tuples(seed, digits, limit):
    random = np.random.default_rng(seed)
    cells = 200
    # Few distinct rows, so that some agree in all of up to thirty columns.
    rows = random.integers(0, 12, cells)
    columns = [random.integers(0, 2**20, 12).astype(np.int32)[rows] for _ in range(digits)]
    identity = np.arange(2**20, dtype=np.int32)
    with mock.patch.object(rank_module, "KEY_LIMIT", limit):
        keys, key_space = fold(columns, [identity] * digits, [2**20] * digits, cells)
    assert keys.min() >= 0
    assert keys.max() < key_space
    ranks, first = rank(keys, key_space)
    assert same_partition(ranks, columns)
    assert ranks[first].tolist() == list(range(len(first)))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.sampled_from([31, 1 << 40]))
def test_ranks_are_in_the_order_of_first_appearance(values, key_space):
    ranks, first = rank(np.array(values, dtype=np.int64), key_space)
    seen = list(dict.fromkeys(values))
    assert [seen[number] for number in ranks] == values
    assert first.tolist() == [values.index(value) for value in seen]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=12))
def test_packs_hold_every_quasi_identifier_once_and_stay_small(sizes):
    packing = Packing.of(tuple(sizes), 1000)
    assert sorted(position for pack in packing.positions for position in pack) == list(range(len(sizes)))
    for pack, width in zip(packing.positions, np.diff(packing.starts), strict=True):
        assert width == np.prod([sizes[position] for position in pack])
        assert width <= 1000 or len(pack) == 1


def example(seed=0, cells=500):
    """Cells over three quasi-identifiers of which two have a middle level."""
    random = np.random.default_rng(seed)
    leaves = [str(leaf) for leaf in range(12)]
    halves = [str(leaf // 4) for leaf in range(12)]
    hierarchies = [build(leaves, [halves], None, 12.0, "x")] * 2 + [build(["a", "b"], [], None, 2.0, "y")]
    codes = np.stack([random.integers(0, 12, cells), random.integers(0, 12, cells), random.integers(0, 2, cells)])
    return hierarchies, codes.astype(np.int32), random.integers(1, 4, cells)


def test_an_aggregated_table_has_the_same_classes_above_it():
    hierarchies, codes, counts = example()
    table = PackedTable.of(hierarchies, (0, 0, 0), list(codes), counts)
    coarse = table.aggregate((1, 0, 1))
    assert len(coarse) == 36
    for levels in [(1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 2, 1)]:
        sizes = []
        for each in (table, coarse):
            ranks, first = rank(*each.keys(levels))
            sizes.append(sorted(np.bincount(ranks, each.counts, minlength=len(first))))
        assert sizes[0] == sizes[1]


def test_chunks_hold_whole_classes_and_the_rarest_come_first():
    hierarchies, codes, counts = example()
    table = PackedTable.of(hierarchies, (0, 0, 0), list(codes), counts).chunked((1, 2, 1))
    assert table.chunks[0] == 0
    assert table.chunks[-1] == len(table)
    totals = [table.counts[a:b].sum() for a, b in zip(table.chunks[:-1], table.chunks[1:], strict=True)]
    assert totals == sorted(totals)
    ranks, _ = rank(*table.keys((1, 2, 1)))
    chunk_of_cell = np.repeat(np.arange(len(totals)), np.diff(table.chunks))
    assert len({*zip(ranks.tolist(), chunk_of_cell.tolist(), strict=True)}) == len(totals)


def test_thirty_wide_quasi_identifiers_have_exact_classes():
    random = np.random.default_rng(1)
    leaves = [str(leaf) for leaf in range(5000)]
    hierarchies = [build(leaves, [[leaf[0] for leaf in leaves]], None, 5000.0, "x")] * 30
    rows = random.integers(0, 5000, (30, 50)).astype(np.int32)
    codes = np.ascontiguousarray(rows[:, random.integers(0, 50, 2000)])
    cells = Cells(tuple(map(str, range(30))), codes, np.ones(2000, dtype=np.int64), {}, {})
    space = Space.of(hierarchies)
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=30), tuple(range(30)))])
    class_of_cell, number = evaluator.classes_at(space.bottom)
    assert number == len(np.unique(codes, axis=1).T)
    assert same_partition(class_of_cell, list(codes))
    sizes = np.bincount(class_of_cell)
    checked = evaluator.evaluate(space.bottom, 2000)
    assert checked.suppressed == sizes[sizes < 30].sum()
    assert checked.feasible
    assert [hidden.sum() for hidden in checked.hidden] == [checked.suppressed] * 30
