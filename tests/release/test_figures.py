"""What methods show of themselves is data: pages and terminals draw it without knowing the method."""

from typing import ClassVar

import pytest

from medveil.methods import figures_of, methods
from medveil.methods.dp.histogram import DPHistogram
from medveil.methods.fixed_interval.method import FixedInterval
from medveil.methods.iab.methods import Iab
from medveil.methods.optimal import Optimal
from medveil.release.figures import BarFigure, Remark, TreeFigure
from medveil.report.method_pictures import method_figures
from medveil.report.pictures import Pictures

TREE = {
    "tables": [
        {"table": 0, "parent": None, "solution": False},
        {"table": 1, "parent": 0, "solution": False},
        {"table": 5, "parent": 1, "solution": True},
    ]
}


def test_a_method_nobody_knows_shows_nothing():
    assert figures_of({"name": "of tomorrow"}, {}) == []


def test_a_tree_is_places_in_its_list():
    (tree,) = Iab.figures({}, {"search-tree": TREE})
    assert tree == TreeFigure("The search tree", [None, 0, 1], 2)


def test_what_only_the_steward_may_know_needs_what_only_the_steward_has():
    shown = {"spent": {"cells": 1.0}}
    (budget,) = DPHistogram.figures(shown, {})
    assert budget.series == {"epsilon": [1.0]}
    assert len(DPHistogram.figures(shown, {"differential-privacy": {"rows inserted": 40}})) == 2
    assert Iab.figures({}, {}) == FixedInterval.figures({}, {}) == []


def test_small_numbers_of_people_are_not_drawn():
    account = {"records left out": {"far away": 3, "impossible": 30}}
    (figure,) = FixedInterval.figures({}, {"fixed_interval": account})
    assert figure.people
    (drawn,) = method_figures(Pictures(), {"name": "fixed-interval"}, {"fixed_interval": account}, 5)
    assert [row[0] for row in drawn.table.rows] == ["impossible"]
    assert method_figures(Pictures(), {"name": "fixed-interval"}, {"fixed_interval": account}, 50) == []


@pytest.mark.parametrize("figure", [BarFigure("t", "d", "f", ["a"], {"s": [1.0]}), TreeFigure("t", [None, 0], 1)])
def test_a_plug_in_shows_itself_without_a_change_elsewhere(figure, monkeypatch):
    class Plugged(Optimal):
        name: ClassVar[str] = "plugged"

        @classmethod
        def figures(cls, reported, internal):  # noqa: ARG003
            return [figure, Remark("Only a terminal says this.")]

    known = {**methods(), "plugged": Plugged}
    monkeypatch.setattr("medveil.methods.methods", lambda: known)
    (drawn,) = method_figures(Pictures(), {"name": "plugged"}, {}, 5)
    assert drawn.title == "t"
