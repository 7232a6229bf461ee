"""What a model asks as a rule is what it asks in full: on every small class, and just at its limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.judging import judge, tabulate
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.model import Reference
from medveil.privacy.ms_bounding import MSBounding
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.rules import FAILS, HOLDS, UNSURE, unlimited
from medveil.privacy.t_closeness import TCloseness
from medveil.table.domain import Domain
from medveil.table.schema import Kind

VALUES = 4
REFERENCE = Reference({"s": np.array([3, 5, 2, 4])}, {"s": Domain(Kind.NUMBER, tuple(map(str, range(VALUES))))})
SMALL = [counts for counts in itertools.product(range(6), repeat=VALUES) if 0 < sum(counts) <= 9]
TABLE = np.array([*SMALL, (3, 5, 2, 4), (6, 10, 4, 8), (6, 10, 4, 9)])

MODELS = [
    LDiversity(l=3, attribute="s"),
    PSensitiveKAnonymity(p=2, k=3, attribute="s"),
    *(TCloseness(t=t, attribute="s") for t in (0.0, 0.3, 1.0)),
    TCloseness(t=0.6, distance="variational", attribute="s"),
    *(AlphaKAnonymity(alpha=alpha, k=3, attribute="s") for alpha in (0.4, 0.5, 1.0)),
    AlphaKAnonymity(alpha=0.3, k=3, value="1", attribute="s"),
    LKCPrivacy(l=2, k=3, c=0.6, attribute="s"),
    *(DeltaDisclosure(delta=delta, absent=a, attribute="s") for a in ("refuse", "ignore") for delta in (0.3, 0.7)),
    *(BetaLikeness(beta=beta, variant=v, attribute="s") for v in ("basic", "enhanced") for beta in (0.4, 0.6)),
    MSBounding(k=3, theta=0.4, values={"1": 0.25, "2": 1.0}, attribute="s"),
]


def classes_of(table):
    which, values = np.nonzero(table)
    offsets = np.searchsorted(which, np.arange(len(table) + 1)).astype(np.int64)
    sizes = table.sum(axis=1)
    return Classes(sizes, sizes, {"s": Histogram(offsets, values.astype(np.int32), table[which, values])})


def judged(model, table, *, closes=False, allowed=10**9):
    rule = model.rule(REFERENCE)
    sizes = table.sum(axis=1)
    most = np.where(sizes >= rule.least, sizes, 0)
    verdicts = np.where(sizes >= rule.least, HOLDS, FAILS).astype(np.int8)
    limits = rule.limits if rule.limits.size else unlimited(VALUES)
    certain = judge(
        table, sizes, limits, rule.summed, rule.excess, rule.beyond, rule.distinct, rule.complete,
        closes, rule.least, allowed, most, verdicts, np.empty(VALUES, dtype=np.int64), np.empty(VALUES),
    )  # fmt: skip
    return verdicts, most, certain


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.summary())
def test_verdicts_are_the_models_own(model):
    verdicts, _, _ = judged(model, TABLE)
    holds = model.holds(classes_of(TABLE), REFERENCE)
    assert holds.any()
    assert not np.any(verdicts == UNSURE), "no such class is so near to a limit that rounding could decide"
    assert np.array_equal(verdicts == HOLDS, holds)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.summary())
def test_no_part_that_holds_is_larger_than_what_can_stay(model):
    _, most, certain = judged(model, TABLE, closes=model.absorbing)
    assert certain == (TABLE.sum(axis=1) - most).sum()
    for counts, stays in zip(TABLE[::7], most[::7], strict=True):
        parts = np.array(list(itertools.product(*(range(count + 1) for count in counts)))[1:])
        holding = parts[model.holds(classes_of(parts), REFERENCE)]
        assert holding.sum(axis=1).max(initial=0) <= stays <= counts.sum()


def test_a_value_has_whole_records():
    """At most 0.3 each: shares alone would let 5 records stay of (5, 2, 1, 1), but 1.5 records is one record."""
    model = AlphaKAnonymity(alpha=0.3, k=1, attribute="s")
    _, most, _ = judged(model, np.array([[5, 2, 1, 1]]))
    assert most.tolist() == [4]


def test_counting_ends_where_too_much_is_lost():
    model = TCloseness(t=0.3, attribute="s")
    _, _, whole = judged(model, TABLE)
    _, _, early = judged(model, TABLE, allowed=10)
    assert 10 < early < whole


def test_models_of_sizes_alone_have_no_limits():
    assert KAnonymity(k=7).rule(REFERENCE).least == 7
    assert LDiversity(variant="entropy", l=2, attribute="s").rule(REFERENCE) is None
    assert TCloseness(t=0.3, distance="ordered", attribute="s").rule(REFERENCE) is None


def test_tables_hold_what_cells_hold():
    table = np.full((2, 3), 9, dtype=np.int64)
    of_cell, values = np.array([0, 0, 1, 2], dtype=np.int32), np.array([0, 2, 2, 1], dtype=np.int32)
    tabulate(np.array([1, 0, 1], dtype=np.int32), of_cell, values, np.array([4, 1, 2, 3]), table)
    assert table.tolist() == [[0, 0, 2], [4, 3, 1]]
