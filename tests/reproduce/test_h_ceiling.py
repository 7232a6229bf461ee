"""The queries of the reproduction, on a release that is the original."""

from dataclasses import replace

import numpy as np
import pytest

from medveil.datasets.diseases import STROKE
from medveil.evaluation.comparison import Comparison
from medveil.reproduce.h_ceiling import FEWER_PATIENTS, _patients, _worked
from medveil.reproduce.h_ceiling_data import STAYS, generated
from medveil.reproduce.h_ceiling_queries import (
    error_by_attribute,
    error_by_number,
    original_by_age,
    relative,
    stroke_by_age,
)
from medveil.reproduce.reproduction import Agreement
from medveil.run import Run


@pytest.fixture(scope="module")
def original():
    with generated(20_000, 5, next(iter(STAYS.values()))) as (problem, table):
        yield Comparison(problem, table), table


def test_the_original_answers_as_it_is(original):
    comparison, table = original
    for sex in ("M", "F"):
        found, true = stroke_by_age(comparison, sex, STROKE), original_by_age(table, sex, STROKE)
        assert true[0].sum() > 5
        assert found[0] == pytest.approx(true[0])
        assert relative(found[1], true[1]) == pytest.approx(0, abs=1e-9)


def test_the_original_has_no_error(original):
    comparison, _ = original
    assert set(error_by_attribute(comparison, STROKE).values()) == {0.0}
    assert error_by_number(comparison, 7) == pytest.approx(np.zeros((5, 7)))


def test_one_label_for_all_is_spread_evenly(original):
    comparison, table = original
    stars = table.set_column(table.column_names.index("sex"), "sex", [["*"] * table.num_rows])
    released = Comparison(comparison.problem, stars)
    men, women = (stroke_by_age(released, sex, STROKE)[0] for sex in "MF")
    both = original_by_age(table, "M", STROKE)[0] + original_by_age(table, "F", STROKE)[0]
    assert men == pytest.approx(both / 2)
    assert women == pytest.approx(both / 2)
    assert np.all(men >= 0)


def test_worked_values_are_those_of_the_paper_but_for_its_slip():
    assert [line.verdict for line in _worked().lines] == [
        Agreement.REPRODUCED,
        Agreement.REPRODUCED,
        Agreement.DIFFERS,
        Agreement.OURS,
    ]


@pytest.mark.parametrize("stays", STAYS)
def test_a_first_look_at_figure_11_can_be_made(stays):
    """With too few patients for its k the page of `--quick` ended in a refusal."""
    run = replace(Run(), random=np.random.default_rng(1), seeded=True)
    section = _patients(run, *FEWER_PATIENTS, stays)
    assert [line.what[:2] for line in section.lines] == ["Q1", "Q2", "Q3", "Q4"]
    assert {line.verdict for line in section.lines} == {Agreement.REPRODUCED}
