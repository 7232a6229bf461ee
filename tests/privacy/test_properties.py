"""What a model declares about merging classes, on random histograms: what it claims holds, what it denies fails."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from medveil.hierarchy.hierarchy import build
from medveil.privacy import models
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.delta_presence import DeltaPresence
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.model import Reference
from medveil.privacy.ms_bounding import MSBounding
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.t_closeness import TCloseness
from medveil.table.domain import Domain
from medveil.table.schema import Kind

VALUES = 4
PAIRS = 40_000

MODELS = [
    KAnonymity(k=4),
    *(LDiversity(l=l, attribute="s") for l in (2, 3)),  # noqa: E741
    *(LDiversity(l=l, variant="entropy", attribute="s") for l in (1.7, 2)),  # noqa: E741
    *(LDiversity(l=l, variant="recursive", c=c, attribute="s") for l, c in [(1, 0.6), (2, 1), (3, 2.5)]),  # noqa: E741
    *(TCloseness(t=0.3, distance=d, attribute="s") for d in ("equal", "ordered", "hierarchical")),
    TCloseness(t=0.6, distance="variational", attribute="s"),
    AlphaKAnonymity(alpha=0.5, k=3, attribute="s"),
    AlphaKAnonymity(alpha=0.3, k=3, value="1", attribute="s"),
    AlphaKAnonymity(alpha=1, k=3, attribute="s"),
    PSensitiveKAnonymity(p=2, k=3, attribute="s"),
    LKCPrivacy(l=2, k=3, c=0.6, attribute="s"),
    LKCPrivacy(l=2, k=3, c=0.4, values=("0", "2"), attribute="s"),
    LKCPrivacy(l=2, k=3, c=1, attribute="s"),
    DeltaPresence(delta_min=0.2, delta_max=0.7, population="population.csv"),
    *(DeltaDisclosure(delta=0.7, absent=absent, attribute="s") for absent in ("refuse", "ignore")),
    *(BetaLikeness(beta=0.6, variant=variant, attribute="s") for variant in ("basic", "enhanced")),
    MSBounding(k=3, theta=0.6, attribute="s"),
    MSBounding(k=3, theta=0.6, values={"1": 0.3, "2": 1.0}, attribute="s"),
    MSBounding(k=3, theta=1, attribute="s"),
]

TREE = build(["0", "1", "2", "3"], [["low", "low", "high", "high"]], None, VALUES, "s")
REFERENCE = Reference(
    {"s": np.array([3, 5, 2, 4])}, {"s": Domain(Kind.NUMBER, tuple(map(str, range(VALUES))))}, {"s": TREE}
)


def classes_from(table, population):
    """Classes from a dense table of counts, a row a class."""
    which, values = np.nonzero(table)
    offsets = np.searchsorted(which, np.arange(len(table) + 1))
    histogram = Histogram(offsets.astype(np.int64), values.astype(np.int32), table[which, values].astype(np.int64))
    sizes = table.sum(axis=1)
    return Classes(sizes, sizes, {"s": histogram}, population)


@pytest.fixture(scope="session")
def merged():
    """Two random tables of classes, none empty, and their sum: small and large counts, even and uneven."""
    generator = np.random.default_rng(11)

    def table():
        counts = generator.integers(0, generator.choice([2, 3, 6, 30], size=(PAIRS, 1)), size=(PAIRS, VALUES))
        counts[np.arange(PAIRS), generator.integers(0, VALUES, PAIRS)] += 1
        return counts

    def population(counts):
        return counts.sum(axis=1) + generator.integers(0, 4 * counts.sum(axis=1))

    left, right = table(), table()
    in_left, in_right = population(left), population(right)
    return (
        classes_from(left, in_left),
        classes_from(right, in_right),
        classes_from(left + right, in_left + in_right),
    )


def name_of(model):
    return f"{model.name}-{'-'.join(str(value) for value in model.required.values())}"


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_monotone_as_declared(model, merged):
    left, right, both = (model.holds(classes, REFERENCE) for classes in merged)
    assert (left & right).sum() > 100, "too few pairs that hold to show anything"
    assert not np.all(both), "every class holds, which shows nothing"
    assert bool(np.all(both[left & right])) == model.monotone


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_absorbing_as_declared(model, merged):
    left, _, both = (model.holds(classes, REFERENCE) for classes in merged)
    assert bool(np.all(both[left])) == model.absorbing
    assert model.monotone or not model.absorbing


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_parts_that_hold_are_no_more_than_can_stay(model, merged):
    left, right, both = merged
    stay = sum(np.where(model.holds(part, REFERENCE), part.records, 0) for part in (left, right))
    most = model.most_kept(both, REFERENCE, additive=True)
    assert np.all(most >= 0)
    assert np.all(most <= both.records)
    assert np.all(stay <= most)
    holds = model.holds(both, REFERENCE)
    assert np.array_equal(most[holds], both.records[holds])


BOUNDED = ["t-closeness", "beta-likeness", "delta-disclosure", "alpha-k-anonymity", "ms-bounding", "lkc-privacy"]


@pytest.mark.parametrize("model", [model for model in MODELS if model.name in BOUNDED], ids=name_of)
def test_no_more_can_stay_than_the_largest_part_that_holds(model):
    """Every part of small classes by brute force: none that holds is larger, and for some classes one is as large."""
    attained = 0
    for counts in itertools.product(range(6), repeat=VALUES):
        if 0 < sum(counts) <= 9:
            parts = np.array(list(itertools.product(*(range(count + 1) for count in counts)))[1:])
            holds = model.holds(classes_from(parts, None), REFERENCE)
            largest = int(parts[holds].sum(axis=1).max(initial=0))
            most = int(model.most_kept(classes_from(np.array([counts]), None), REFERENCE, additive=True)[0])
            assert largest <= most <= sum(counts)
            attained += 0 < largest == most < sum(counts)
    assert attained or model.absorbing


def test_every_model_is_tried():
    of_classes = {name for name, model in models().items() if model.basis != "proof" and not model.about_sets}
    assert {model.name for model in MODELS} == of_classes


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_order_of_classes_does_not_matter(model, merged):
    """A verdict is about a class alone."""
    classes = merged[0]
    order = np.random.default_rng(5).permutation(len(classes))[:500]
    table = np.zeros((len(classes), VALUES), dtype=np.int64)
    histogram = classes.histograms["s"]
    table[histogram.classes, histogram.values] = histogram.counts
    some = classes_from(table[order], classes.population[order])
    assert model.holds(some, REFERENCE).tolist() == model.holds(classes, REFERENCE)[order].tolist()


@pytest.mark.parametrize(
    "model",
    [
        LDiversity(l=2, variant="entropy", attribute="disease"),
        LDiversity(l=2, variant="recursive", c=1.1, attribute="disease"),
        TCloseness(t=0.12, attribute="disease"),
        AlphaKAnonymity(alpha=0.5, k=2, attribute="disease"),
        LKCPrivacy(l=1, k=2, c=0.5, attribute="disease"),
        BetaLikeness(beta=0.3, attribute="disease"),
        DeltaDisclosure(delta=0.3, attribute="disease"),
    ],
    ids=name_of,
)
def test_people_in_two_classes_break_what_holds_for_records(tables, model):
    """Two classes of two people, one of them ill; the healthy person is in both: three people, two of them ill."""
    visits = [("10", "flu", 1), ("10", "none", 2), ("20", "flu", 3), ("20", "none", 2)]
    elsewhere = [("30", "none", 4), ("30", "flu", 5), ("30", "none", 6)]
    rows = [{"age": a, "disease": d, "patient": p} for a, d, p in [*visits, *elsewhere]]
    cells = tables.cells(rows, ("age",), ("disease",), subject="patient")
    reference = tables.reference(cells)
    ids, _ = tables.class_of_cell(cells)
    apart = model.holds(tables.count(cells, ids, 3), reference)
    together = model.holds(tables.count(cells, np.maximum(ids - 1, 0), 2), reference)
    assert apart[:2].tolist() == [True, True]
    assert together.tolist()[0] is False
    assert model.survives_merging(additive=True)
    assert not model.survives_merging(additive=False)


def test_absorbing_models_survive_merging_of_people(tables):
    generator = np.random.default_rng(3)
    ages, diseases, patients = (generator.integers(0, n, 200) for n in (12, 3, 40))
    rows = [
        {"age": str(a), "disease": str(d), "patient": int(p)} for a, d, p in zip(ages, diseases, patients, strict=True)
    ]
    cells = tables.cells(rows, ("age",), ("disease",), subject="patient")
    ids, number = tables.class_of_cell(cells)
    counted = tables.count(cells, ids, number)
    absorbing = [
        KAnonymity(k=14),
        LDiversity(l=3, attribute="disease"),
        PSensitiveKAnonymity(p=2, k=14, attribute="disease"),
    ]
    for model in absorbing:
        assert model.survives_merging(additive=False)
        alone = model.holds(counted, None)
        for one, other in itertools.combinations(range(number), 2):
            joined = tables.count(cells, np.where(ids == other, one, ids), number)
            assert model.holds(joined, None)[one] or not (alone[one] or alone[other])
