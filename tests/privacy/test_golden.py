"""Figures worked out by hand on tables typed in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from medveil.hierarchy.hierarchy import build
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.delta_presence import DeltaPresence
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.t_closeness import TCloseness
from medveil.table.schema import Kind

WARD = """\
young flu
young flu
young cold
young ulcer
old   flu
old   ulcer
old   ulcer
old   ulcer
old   ulcer
old   cold
"""
"""Young (4): flu 2, cold 1, ulcer 1. Old (6): flu 1, ulcer 4, cold 1. Together: cold 2, flu 3, ulcer 5."""


@pytest.fixture(scope="session")
def ward(tables):
    rows = [dict(zip(("age", "disease"), line.split(), strict=True)) for line in WARD.splitlines()]
    cells = tables.cells(rows, ("age",), ("disease",))
    tree = build(["cold", "flu", "ulcer"], [["lung", "lung", "stomach"]], None, 3, "disease")
    classes, reference = tables.classes(cells), tables.reference(cells, {"disease": tree})
    assert classes.sizes.tolist() == [6, 4], "old sorts before young"
    return classes, reference


def old_entropy():
    return math.exp(-(2 * (1 / 6) * math.log(1 / 6) + (4 / 6) * math.log(4 / 6)))


@pytest.mark.parametrize(
    ("model", "old_then_young", "achieved"),
    [
        (KAnonymity(k=5), [True, False], {"k": 4}),
        (LDiversity(l=3, attribute="disease"), [True, True], {"l": 3}),
        (LDiversity(l=4, attribute="disease"), [False, False], {"l": 3}),
        # young: 2/4, 1/4, 1/4 has entropy 1.5 bits
        (LDiversity(l=2.5, variant="entropy", attribute="disease"), [False, True], {"l": old_entropy()}),
        # old: 4 < c (1 + 1); young: 2 < c (1 + 1)
        (LDiversity(l=2, variant="recursive", c=2, attribute="disease"), [False, True], {"l": 2, "c": 2}),
        # old: 4 < c 1; young: 2 < c 1
        (LDiversity(l=3, variant="recursive", c=4.01, attribute="disease"), [True, True], {"l": 3, "c": 4}),
        # old: ulcer 4/6 - 5/10 = 1/6; young: flu 1/2 - 3/10 = 0.2 and cold 1/4 - 1/5 = 0.05
        (TCloseness(t=0.2, attribute="disease"), [True, False], {"t": 0.25}),
        (TCloseness(t=0.4, distance="variational", attribute="disease"), [True, False], {"t": 0.5}),
        # young: 0.25 apart as values and 0.25 as lung or stomach, two levels; old: 1/6 and 1/6
        (TCloseness(t=0.25, distance="hierarchical", attribute="disease"), [True, True], {"t": 0.25}),
        (AlphaKAnonymity(alpha=0.5, k=4, attribute="disease"), [False, True], {"alpha": 4 / 6, "k": 4}),
        (AlphaKAnonymity(alpha=0.5, k=4, value="flu", attribute="disease"), [True, True], {"alpha": 0.5, "k": 4}),
        (AlphaKAnonymity(alpha=0.5, k=5, value="flu", attribute="disease"), [True, False], {"alpha": 0.5, "k": 4}),
        (PSensitiveKAnonymity(p=3, k=5, attribute="disease"), [True, False], {"p": 3, "k": 4}),
        (LKCPrivacy(l=1, k=4, c=0.6, attribute="disease"), [False, True], {"l": 1, "k": 4, "c": 4 / 6}),
        (
            LKCPrivacy(l=1, k=4, c=0.4, values=("cold", "ulcer"), attribute="disease"),
            [False, True],
            {"l": 1, "k": 4, "c": 4 / 6},
        ),
        # old: ulcer (2/3)/(1/2) - 1 = 1/3; young: flu (1/2)/(3/10) - 1 = 2/3
        (BetaLikeness(beta=0.5, variant="basic", attribute="disease"), [True, False], {"beta": 2 / 3}),
        # -log of ulcer's 1/2 is 0.69, of flu's 3/10 is 1.20: neither binds
        (BetaLikeness(beta=0.7, variant="enhanced", attribute="disease"), [True, True], {"beta": 2 / 3}),
        # old: flu (1/6)/(3/10) = 5/9; young: ulcer (1/4)/(1/2) = 1/2
        (DeltaDisclosure(delta=0.6, attribute="disease"), [True, False], {"delta": math.log(2)}),
    ],
    ids=lambda case: case.summary() if hasattr(case, "summary") else "",
)
def test_ward(ward, model, old_then_young, achieved):
    assert model.holds(*ward).tolist() == old_then_young
    assert model.achieved(*ward) == pytest.approx(achieved, abs=1e-11)


def test_enhanced_likeness_refuses_certainty_of_a_frequent_value(tables):
    """Nine of ten are healthy: -log 0.9 = 0.105, but a class of the healthy alone gains 1/0.9 - 1 = 0.111."""
    rows = [{"age": "old" if i < 5 else "young", "disease": "flu" if i == 9 else "none"} for i in range(10)]
    cells = tables.cells(rows, ("age",), ("disease",))
    classes, reference = tables.classes(cells), tables.reference(cells)
    basic = BetaLikeness(beta=1, variant="basic", attribute="disease")
    enhanced = BetaLikeness(beta=1, variant="enhanced", attribute="disease")
    assert basic.holds(classes, reference).tolist() == [True, True]
    assert enhanced.holds(classes, reference).tolist() == [False, True]
    assert enhanced.achieved(classes, reference) == {"beta": math.inf}


def test_disclosure_takes_an_absent_value_as_telling(tables):
    rows = [{"age": a, "disease": d} for a, d in [("old", "flu"), ("old", "cold"), ("young", "flu"), ("young", "flu")]]
    cells = tables.cells(rows, ("age",), ("disease",))
    classes, reference = tables.classes(cells), tables.reference(cells)
    strict, lenient = (DeltaDisclosure(delta=1, absent=a, attribute="disease") for a in ("refuse", "ignore"))
    assert strict.holds(classes, reference).tolist() == [True, False]
    assert lenient.holds(classes, reference).tolist() == [True, True]
    # old: cold (1/2)/(1/4) = 2
    assert lenient.achieved(classes, reference) == pytest.approx({"delta": math.log(2)})


SALARIES = {"a": (3, 4, 5), "b": (6, 8, 11), "c": (7, 9, 10)}


def test_ordered_closeness_of_the_paper(tables):
    """Li, Li and Venkatasubramanian: of nine salaries from 3k to 11k the class {3k, 4k, 5k} is 0.375 away and the
    class {6k, 8k, 11k} 0.167, though all three values are distinct in both.
    """
    rows = [{"zip": z, "salary": str(s)} for z, these in SALARIES.items() for s in these]
    cells = tables.cells(rows, ("zip",), ("salary",), kinds={"salary": Kind.NUMBER})
    classes, reference = tables.classes(cells), tables.reference(cells)
    model = TCloseness(t=0.2, distance="ordered", attribute="salary")
    distances = model.distances(classes, reference)
    assert distances[:2] == pytest.approx([0.375, 1 / 6])
    assert model.holds(classes, reference)[:2].tolist() == [False, True]
    assert TCloseness(t=0.2, attribute="salary").distances(classes, reference) == pytest.approx([2 / 3] * 3)


def test_hierarchical_closeness_moves_within_branches(tables):
    """Four values in two branches, once each in the input; a class of one branch moves half of it across (cost 1), a
    class of one value in each branch moves half of it within (cost 1/2).
    """
    spots = {"north": ("hand", "arm"), "south": ("foot", "leg"), "east": ("hand", "foot"), "west": ("arm", "leg")}
    rows = [{"zip": z, "spot": s} for z, these in spots.items() for s in these]
    cells = tables.cells(rows, ("zip",), ("spot",))
    upper = {"hand": "upper", "arm": "upper", "foot": "lower", "leg": "lower"}
    leaves = cells.domains["spot"].values
    tree = build(leaves, [[upper[leaf] for leaf in leaves]], None, 4, "spot")
    model = TCloseness(t=0.5, distance="hierarchical", attribute="spot")
    distances = model.distances(tables.classes(cells), tables.reference(cells, {"spot": tree}))
    assert dict(zip(sorted(spots), distances, strict=True)) == pytest.approx(
        {"north": 0.5, "south": 0.5, "east": 0.25, "west": 0.25}
    )


def test_presence_of_patients_in_a_town(tables):
    """Old: 2 of 4 are patients; young: 1 of 5; children: none of 3."""
    rows = [{"age": "old"}, {"age": "old"}, {"age": "young"}]
    population = [{"age": age} for age, n in [("old", 4), ("young", 5), ("child", 3)] for _ in range(n)]
    cells = tables.cells(rows, ("age",), (), population=population)
    classes = tables.classes(cells)
    town = {"population": "town.csv"}
    assert DeltaPresence(delta_max=0.5, **town).holds(classes, None).tolist() == [True, True, True]
    assert sorted(DeltaPresence(delta_max=0.4, **town).holds(classes, None)) == [False, True, True]
    assert sorted(DeltaPresence(delta_min=0.2, delta_max=1, **town).holds(classes, None)) == [False, True, True]
    assert DeltaPresence(delta_max=1, **town).achieved(classes, None) == {"delta_min": 0.0, "delta_max": 0.5}


def test_k_counts_patients_not_visits(tables):
    rows = [{"age": "old", "disease": "flu", "patient": 1} for _ in range(20)]
    rows += [{"age": "young", "disease": "flu", "patient": p} for p in (2, 3, 4)]
    cells = tables.cells(rows, ("age",), ("disease",), subject="patient")
    classes = tables.classes(cells)
    assert KAnonymity(k=3).holds(classes, tables.reference(cells)).tolist() == [False, True]
    assert KAnonymity(k=3).achieved(classes, tables.reference(cells)) == {"k": 1}


def test_shares_are_of_people(tables):
    """One of two patients has the flu, however many visits she makes for it."""
    rows = [{"age": "old", "disease": "flu", "patient": 1}] * 9 + [{"age": "old", "disease": "cold", "patient": 2}]
    cells = tables.cells(rows, ("age",), ("disease",), subject="patient")
    model = AlphaKAnonymity(alpha=0.5, k=2, attribute="disease")
    assert model.achieved(tables.classes(cells), tables.reference(cells)) == {"alpha": 0.5, "k": 2}


@pytest.mark.parametrize("odd", range(6))
def test_a_threshold_binds_on_every_class(tables, odd):
    """Whichever of six classes is the odd one, it alone fails and it sets what is achieved."""
    rows = [
        {"age": str(age), "disease": "flu" if age == odd or i % 2 else "cold"} for age in range(6) for i in range(4)
    ]
    cells = tables.cells(rows, ("age",), ("disease",))
    classes, reference = tables.classes(cells), tables.reference(cells)
    # flu: 14 of 24; the odd class 1 - 14/24, the others 1/2 - 10/24
    model = TCloseness(t=0.1, attribute="disease")
    assert np.flatnonzero(~model.holds(classes, reference)).tolist() == [odd]
    assert model.achieved(classes, reference) == pytest.approx({"t": 10 / 24})


def test_missing_sensitive_value_is_a_value(tables):
    rows = [{"age": "old", "disease": d} for d in ("flu", None, None)]
    cells = tables.cells(rows, ("age",), ("disease",))
    classes, reference = tables.classes(cells), tables.reference(cells)
    assert LDiversity(l=2, attribute="disease").holds(classes, reference).tolist() == [True]
    assert AlphaKAnonymity(alpha=1, k=1, attribute="disease").achieved(classes, reference)["alpha"] == pytest.approx(
        2 / 3
    )


def test_a_missing_quasi_value_does_not_make_a_record_vanish(tables):
    rows = [{"age": "old", "disease": "flu"}] * 3 + [{"age": None, "disease": "cold"}]
    cells = tables.cells(rows, ("age",), ("disease",))
    classes, reference = tables.classes(cells), tables.reference(cells)
    assert KAnonymity(k=2).achieved(classes, reference) == {"k": 1}
    assert TCloseness(t=1, attribute="disease").achieved(classes, reference) == {"t": 0.75}
