"""The information loss of IPA, measured on the written release and counted on the grid: the same figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from medveil.app.preparation import opened
from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.methods.dp.budget import SHARES, proved_parts
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.losses import losses_of_parts, noisy_losses
from medveil.methods.dp.method import grid_of, noisy_published, table_of, whole_table
from medveil.policy import load_policy
from medveil.utility.information_loss import InformationLoss, _numbered

POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 19], "widths": [5, 10]}},
        "sex": {"role": "quasi", "domain": ["f", "m"]},
        "ill": {"role": "sensitive", "domain": ["a", "b", "c", "d"]},
    },
    "privacy": [{"model": "differential-privacy", "epsilon": 1.0}],
    "method": "ipa",
}


def people(number, seed=3):
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "age": chance.integers(0, 20, number),
            "sex": chance.choice(["f", "m"], number),
            "ill": chance.choice(["a", "b", "c"], number, p=[0.6, 0.3, 0.1]),
        }
    )


def perturbed(problem, levels, seed):
    """Some cells with more, some with fewer records, some suppressed, one that nobody is in."""
    chance = np.random.default_rng(seed)
    grid = grid_of(problem)
    truth = grid.at(table_of(problem, grid), levels)
    keys, counts = grid.keys(truth), truth.counts
    kept = chance.random(len(keys)) < 0.8
    empty = np.setdiff1d(np.arange(grid.cells(levels)), keys)[:1]
    every = np.concatenate([keys[kept], empty])
    rows = np.concatenate([np.maximum(counts[kept] + chance.integers(-2, 3, kept.sum()), 1), np.full(len(empty), 2)])
    order = np.argsort(every)
    stars = np.bincount(truth.values[~kept], counts[~kept], minlength=grid.values) + chance.integers(0, 3, grid.values)
    return grid, truth, whole_table(grid, levels, every[order], rows[order]), stars.astype(np.int64)


@pytest.mark.parametrize("levels", [(0, 0), (1, 0), (2, 1), (0, 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_written_release_and_the_grid_give_the_same_losses(levels, seed):
    policy, folder = load_policy(POLICY)
    with opened(policy, folder, people(300)) as (problem, _):
        grid, truth, part, stars = perturbed(problem, levels, seed)
        published = noisy_published(problem, grid, [part], part.values, stars)
        score = InformationLoss().compute(Comparison(problem, published.to_arrow()))
        expected = noisy_losses(grid, truth, part.keys, part.counts, stars)
    assert isinstance(score, Score)
    assert score.parts["EMD"] == pytest.approx(expected.emd)
    assert score.parts["NCP"] == pytest.approx(expected.ncp)
    assert score.value == pytest.approx(sum(score.parts.values()))


def test_the_losses_of_strata_are_those_of_the_grid():
    """Common and rare values at nodes of their own: labels overlap, but not for one value."""
    policy, folder = load_policy(POLICY)
    chance = np.random.default_rng(4)
    ill = np.repeat(["a", "b", "c", "d"], [4000, 3000, 60, 40])
    table = pa.table(
        {
            "age": chance.integers(0, 20, len(ill)),
            "sex": pa.array(chance.choice(["f", "m"], len(ill))),
            "ill": pa.array(ill),
        }
    )
    with opened(policy, folder, table) as (problem, _):
        grid = grid_of(problem)
        counted = table_of(problem, grid)
        outcomes = Mechanism(grid, proved_parts(1.0, SHARES)).draws(counted, 20)
        mixed = [one for one in outcomes if len({part.levels for part in one.parts}) > 1]
        # Cells of the highest node look like rows of `*`.
        mixed = [one for one in mixed if all(part.levels != grid.space.top for part in one.parts)]
        assert mixed
        for outcome in mixed:
            published = noisy_published(problem, grid, outcome.parts, outcome.values, outcome.stars)
            score = InformationLoss().compute(Comparison(problem, published.to_arrow()))
            expected = losses_of_parts(grid, counted, outcome.parts, outcome.values, outcome.stars)
            assert isinstance(score, Score)
            if published.rows >= len(ill):  # the measure charges for records that no row stands for
                assert score.parts["NCP"] == pytest.approx(expected.ncp)
            assert score.parts["EMD"] == pytest.approx(expected.emd)


def test_a_table_as_it_is_loses_nothing_and_one_of_stars_everything():
    policy, folder = load_policy(POLICY)
    table = people(200)
    texts = pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
    stars = texts.set_column(0, "age", pa.array(["*"] * 200)).set_column(1, "sex", pa.array(["*"] * 200))
    with opened(policy, folder, table) as (problem, _):
        same = InformationLoss().compute(Comparison(problem, texts))
        hidden = InformationLoss().compute(Comparison(problem, stars))
        nothing = InformationLoss().compute(Comparison(problem, texts.slice(0, 0)))
    assert isinstance(same, Score)
    assert same.value == pytest.approx(0)
    assert isinstance(hidden, Score)
    assert hidden.parts["NCP"] == 1
    assert hidden.parts["EMD"] == 0
    assert isinstance(nothing, Skipped)


def test_labels_that_overlap_have_no_cells():
    policy, folder = load_policy(POLICY)
    with opened(policy, folder, people(4)) as (problem, _):
        texts = pa.table({"age": ["[0-4]", "[0-9]", "[5-9]", "3"], "sex": ["f"] * 4, "ill": ["a"] * 4})
        assert isinstance(InformationLoss().compute(Comparison(problem, texts)), Skipped)


def test_cells_without_sensitive_columns_are_all_of_one_number():
    """A column of stars beside others is looked at by combinations of sensitive values, also where there are none."""
    published, kept = _numbered(np.empty((0, 3), dtype=np.int32), np.empty((0, 2), dtype=np.int32), [])
    assert (published.tolist(), kept.tolist()) == ([0, 0, 0], [0, 0])
