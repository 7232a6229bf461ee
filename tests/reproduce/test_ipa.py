"""The reproduction of IPA asks the queries that the paper asks."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from medveil.datasets.calibration import STROKE_DAYS, STROKES
from medveil.datasets.diseases import STROKE
from medveil.methods.dp.marginals import counted
from medveil.reproduce.ipa import COUNTS, STAYS, IPAReproduction, falling
from medveil.reproduce.ipa_data import SEXES, generated, k_anonymous
from medveil.reproduce.reproduction import Agreement
from medveil.run import Run


@pytest.fixture(scope="module")
def sample():
    with generated(30_000, seed=5) as found:
        yield found


def asked(table, sex, what, years):
    with duckdb.connect() as connection:
        connection.register("records", table)
        rows = connection.execute(
            f"select age // {years}, {what} from records where sex = '{sex}' and surgery = 'no' "
            f"and disease = '{STROKE}' group by 1"
        ).fetchall()
    return dict(rows)


@pytest.mark.parametrize("sex", SEXES)
def test_the_original_answers_as_sql_does(sample, sex):
    people, table = sample
    original = people.original()
    counts, stays = asked(table, sex, "count(*)", 5), asked(table, sex, "avg(length_of_stay)", 10)
    assert original.counts[sex].tolist() == pytest.approx([counts.get(group, 0) for group in range(18)])
    for group in range(9):
        assert original.stays[sex][group] == pytest.approx(stays.get(group, 200.5))
    assert original.losses.total == 0


def test_the_lattice_is_the_paper_s(sample):
    people, _ = sample
    assert people.grid.space.size == 256
    assert people.grid.space.shape == (4, 2, 4, 4, 2)
    assert people.grid.cells(people.grid.space.bottom) > 10**8


def test_everything_generalized_answers_evenly(sample):
    people, _ = sample
    top = people.generalized(people.grid.space.top)
    every = people.original()
    assert np.ptp(top.counts["M"]) == pytest.approx(0)
    assert top.counts["M"].tolist() == pytest.approx(top.counts["F"].tolist())
    assert top.losses.ncp == 1
    assert every.losses.ncp == 0


def test_proved_and_k_anonymity_on_a_small_sample(sample):
    people, table = sample
    (made,) = people.proved(1.0, 1)
    assert 0 < made.losses.total < 2
    levels = k_anonymous(table, 10, Run(np.random.default_rng(1)))
    alone = people.generalized(levels)
    assert alone.losses.emd == alone.losses.rate == 0
    assert 0.3 < alone.losses.ncp <= 1


def test_where_nothing_answers_the_marginals_do(sample):
    """No row with stroke is left: the mean is that of all patients where marginals tell it, elsewhere of all days."""
    people, table = sample
    empty, no_stars = np.zeros(0, dtype=np.int32), np.zeros(people.grid.values, dtype=np.int64)
    told = people.made([], empty, no_stars[:0], counted(people.grid, people.table))
    assert told.stays["F"] == pytest.approx(np.full(9, np.mean(table["length_of_stay"].to_pylist())))
    untold = people.made([], empty, no_stars[:0])
    assert untold.stays["F"] == pytest.approx(np.full(9, 200.5))


def test_labels_are_spread_by_marginals_and_evenly(sample):
    people, _ = sample
    (made,) = people.proved(1.0, 1)
    assert made.evenly["M"].tolist() != made.counts["M"].tolist()
    top = people.generalized(people.grid.space.top)
    assert top.evenly is top.counts


def test_the_paper_s_figures_are_those_that_patients_are_calibrated_to():
    assert {sex: tuple(columns[0]) for sex, columns in COUNTS.items()} == STROKES
    assert {sex: tuple(columns[0]) for sex, columns in STAYS.items()} == STROKE_DAYS
    assert all(len(column) == 18 for columns in COUNTS.values() for column in columns)
    assert all(len(column) == 9 for columns in STAYS.values() for column in columns)


@pytest.mark.parametrize(
    ("means", "error", "verdict"),
    [
        ([0.3, 0.2, 0.2, 0.0], 0.0, Agreement.REPRODUCED),
        ([0.3, 0.2, 0.201, 0.0], 0.0, Agreement.DIFFERS),
        ([0.3, 0.2, 0.201, 0.0], 0.001, Agreement.UNDECIDED),
        ([0.3, 0.2, 0.21, 0.0], 0.001, Agreement.DIFFERS),
    ],
)
def test_what_rises_where_it_should_fall_is_undecided_only_as_far_as_chance_goes(means, error, verdict):
    shape = (1, 4, 1)
    assert falling(np.reshape(means, shape), np.full(shape, error**2))[0] is verdict


def test_every_section_comes_with_a_verdict(monkeypatch):
    monkeypatch.setattr("medveil.reproduce.ipa.RECORDS", 20_000)
    sections = list(IPAReproduction().sections(None, Run(), quick=True))
    assert [section.title.split(":")[0] for section in sections] == [
        "Figure 6",
        "Figure 7",
        "Figure 8",
        "Table 9",
        "Table 11",
        "Table 10",
        "Table 12",
        "What the paper concludes",
        "The same with stays in equal intervals",
    ]
    assert all(isinstance(line.verdict, Agreement) for section in sections for line in section.lines)
