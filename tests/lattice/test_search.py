from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, find, given, settings
from hypothesis import strategies as st

from medveil.cells import Cells, Subjects
from medveil.codes import rank
from medveil.errors import CancelledError, PolicyError, UnreachableError
from medveil.hierarchy.hierarchy import build
from medveil.lattice import frontier, sizes, tables, verdicts
from medveil.lattice import search as search_module
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.search import search
from medveil.lattice.space import Space
from medveil.privacy import models as every_model
from medveil.privacy import rules
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.count import reference_of
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.delta_presence import DeltaPresence
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.lkc import LKCPrivacy
from medveil.privacy.model import Requirement
from medveil.privacy.ms_bounding import MSBounding
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.t_closeness import TCloseness
from medveil.table.domain import Domain
from medveil.table.schema import Kind


@st.composite
def hierarchies(draw):
    """A random nested hierarchy of two to four leaves, over a domain that may be larger than the leaves."""
    count = draw(st.integers(2, 4))
    groups = list(range(count))
    columns = []
    for _ in range(draw(st.integers(0, 2))):
        merged = draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
        groups = [merged[group] for group in groups]
        columns.append([str(group) for group in groups])
    return build([str(leaf) for leaf in range(count)], columns, None, float(count), "x")


@st.composite
def problems(draw):
    used = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    lowest = [draw(st.integers(0, h.height)) for h in used]
    highest = [draw(st.integers(low, h.height)) for low, h in zip(lowest, used, strict=True)]
    if draw(st.booleans()):
        lowest, highest = None, None
    space = Space.of(used, lowest, highest)
    count = draw(st.integers(1, 12))
    codes = np.array(
        [draw(st.lists(st.integers(0, len(h.levels[0].labels) - 1), min_size=count, max_size=count)) for h in used],
        dtype=np.int32,
    )
    kind = draw(st.sampled_from(["plain", "subjects", "population"]))
    counts = np.array(draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)), dtype=np.int64)
    subjects = population = None
    if kind == "subjects":
        people = [
            sorted(draw(st.sets(st.integers(0, 5), min_size=1, max_size=int(records)))) for records in counts.tolist()
        ]
        offsets = np.cumsum([0, *map(len, people)])
        subjects = Subjects(offsets.astype(np.int64), np.concatenate(people).astype(np.int32), 6)
    if kind == "population":
        counts[draw(st.lists(st.booleans(), min_size=count, max_size=count))] = 0
        assume(counts.sum() > 0)
        population = counts + np.array(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    sensitive = np.array(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)), dtype=np.int32)
    names = tuple(f"q{i}" for i in range(len(used)))
    domains = {"disease": Domain(Kind.NUMBER, ("1", "2", "3"))}
    cells = Cells(names, codes, counts, {"disease": sensitive}, domains, subjects, population)
    return cells, space


SHARES = st.sampled_from([0.2, 0.4, 0.5, 0.7, 1.0])
NUMBERS = st.integers(1, 5)
ABOUT = {"attribute": st.just("disease")}
TREES = {"disease": build(["1", "2", "3"], [["low", "low", "high"]], None, 3.0, "disease")}

MODELS = [
    *[st.builds(KAnonymity, k=NUMBERS)] * 3,
    st.builds(LDiversity, l=st.integers(1, 3), **ABOUT),
    st.builds(LDiversity, variant=st.just("entropy"), l=SHARES.map(lambda share: 1 + share), **ABOUT),
    st.builds(LDiversity, variant=st.just("recursive"), l=st.just(2), c=NUMBERS, **ABOUT),
    st.builds(TCloseness, t=SHARES, distance=st.sampled_from(["equal", "ordered", "hierarchical"]), **ABOUT),
    st.builds(TCloseness, t=SHARES, distance=st.just("variational"), **ABOUT),
    st.builds(AlphaKAnonymity, alpha=SHARES, k=NUMBERS, value=st.sampled_from([None, "1", "3"]), **ABOUT),
    st.builds(PSensitiveKAnonymity, p=st.integers(1, 3), k=st.integers(3, 5), **ABOUT),
    st.builds(MSBounding, k=NUMBERS, theta=SHARES, values=st.dictionaries(st.just("2"), SHARES), **ABOUT),
    st.builds(LKCPrivacy, l=st.just(1), k=NUMBERS, c=SHARES, **ABOUT),
    st.builds(BetaLikeness, beta=SHARES, variant=st.sampled_from(["basic", "enhanced"]), **ABOUT),
    st.builds(DeltaDisclosure, delta=SHARES, absent=st.sampled_from(["refuse", "ignore"]), **ABOUT),
]


@st.composite
def presences(draw):
    low, share = draw(st.sampled_from([0.0, 0.0, 0.1])), draw(SHARES)
    return DeltaPresence(delta_min=low, delta_max=max(share, low), population=Path("population.csv"))


def models(*, population: bool):
    return st.one_of(*MODELS, *[presences()] * (4 * population))


@st.composite
def requirement_sets(draw, width: int, *, population: bool):
    found = []
    for _ in range(draw(st.integers(1, 3))):
        shield = draw(st.sets(st.integers(0, width - 1), min_size=1)) if draw(st.booleans()) else range(width)
        found.append(Requirement(draw(models(population=population)), tuple(sorted(shield))))
    return found


LOSSES = st.sampled_from(
    [
        {"lm": 1.0},
        {"lm": 1.0},
        {"discernibility": 1.0},
        {"average-class-share": 1.0},
        {"lm": 2.0, "discernibility": 1.0},
    ]
)


def found_by(cells, space, requirements, limit, weights, mix):
    columns = Evaluator(cells, space, requirements).columns
    loss = make_loss(next(iter(mix)) if len(mix) == 1 else mix, space, columns, weights)
    evaluator = Evaluator(cells, space, requirements, hierarchies=TREES, counts_classes=loss.counts_classes)
    return search(evaluator, space, loss, limit)


def test_every_model_is_searched():
    searched = {find(strategy, lambda _: True).name for strategy in [*MODELS, presences()]}
    grouped = {name: model for name, model in every_model().items() if not model.about_sets}  # sets have no classes
    assert searched == {name for name, model in grouped.items() if model.basis != "proof"}


@settings(max_examples=400)
@given(data=st.data())
def test_search_equals_brute_force(data, every_feasible_node):
    cells, space = data.draw(problems())
    requirements = data.draw(requirement_sets(len(space), population=cells.population is not None))
    limit = data.draw(st.sampled_from([0.0, 0.0, 0.1, 0.25, 0.5, 1.0]))
    weights = [data.draw(st.sampled_from([0.0, 1.0, 1.0, 2.5])) + 0.125 for _ in range(len(space))]
    mix = data.draw(LOSSES)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells, TREES), limit, weights, mix)
    if not expected:
        with pytest.raises(UnreachableError):
            found_by(cells, space, requirements, limit, weights, mix)
        return
    found = found_by(cells, space, requirements, limit, weights, mix)
    assert found.proved
    assert found.loss == pytest.approx(expected[0][0], rel=1e-12, abs=1e-15)
    # Rounding may order equal losses one way or the other: the node must be one of the best, and as stated.
    best = {levels: suppressed for loss, suppressed, levels in expected if loss <= expected[0][0] + 1e-12}
    assert best[found.levels] == found.suppressed


def check_k_alone(data, every_feasible_node):
    cells, space = data.draw(problems())
    assume(cells.subjects is None)
    requirements = [Requirement(KAnonymity(k=data.draw(st.integers(1, 8))), tuple(range(len(space))))]
    limit = data.draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
    weights = [1.0] * len(space)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells, TREES), limit, weights, {"lm": 1.0})
    if not expected:
        with pytest.raises(UnreachableError):
            found_by(cells, space, requirements, limit, weights, {"lm": 1.0})
        return
    found = found_by(cells, space, requirements, limit, weights, {"lm": 1.0})
    assert found.loss == pytest.approx(expected[0][0], rel=1e-12, abs=1e-15)
    assert found.suppressed in {s for loss, s, _ in expected if loss <= expected[0][0] + 1e-12}


@settings(max_examples=100)
@given(data=st.data())
def test_search_equals_brute_force_for_k_alone(data, every_feasible_node):
    """The fast path, which counts sizes only."""
    check_k_alone(data, every_feasible_node)


@settings(max_examples=100)
@given(data=st.data())
def test_search_equals_brute_force_on_every_short_cut(data, every_feasible_node):
    """The fast path as it goes with millions of cells: in groups, by chunks, sketched, folded and ranked."""
    with (
        mock.patch.multiple(frontier, PATIENCE=data.draw(st.integers(0, 3)), READ_IN_VAIN=0.5, MANY=2, FEW=1),
        mock.patch.multiple(sizes, DIRECT=1, DIRECT_LIMIT=data.draw(st.sampled_from([1, 64])), SKETCH_BITS=3),
        mock.patch.multiple(sizes, KEY_LIMIT=data.draw(st.sampled_from([8, 1 << 62])), WORTHWHILE=1.01),
        mock.patch.object(rank, "KEY_LIMIT", 16),
        mock.patch.multiple(tables, SAMPLED_ABOVE=4, SAMPLE_STEP=2, PACK_SIZE=8),
    ):
        check_k_alone(data, every_feasible_node)


@settings(max_examples=150)
@given(data=st.data())
def test_search_by_rules_equals_brute_force(data, every_feasible_node):
    """All models about the same classes: by direct index or hash, sure or left to the models, in a table or not."""
    cells, space = data.draw(problems())
    assume(cells.subjects is None and cells.population is None)
    everything = tuple(range(len(space)))
    requirements = [Requirement(data.draw(st.one_of(*MODELS)), everything) for _ in range(data.draw(st.integers(1, 2)))]
    limit = data.draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
    weights, mix = [1.0] * len(space), data.draw(LOSSES)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells, TREES), limit, weights, mix)
    with (
        mock.patch.object(verdicts, "DIRECT", data.draw(st.sampled_from([1, 1 << 20]))),
        mock.patch.object(rules, "NEAR", data.draw(st.sampled_from([1e-14, 0.2]))),
        mock.patch.object(verdicts, "fits_table", return_value=data.draw(st.booleans())),
        mock.patch.object(frontier, "PATIENCE", data.draw(st.integers(0, 3))),
    ):
        if not expected:
            with pytest.raises(UnreachableError):
                found_by(cells, space, requirements, limit, weights, mix)
            return
        found = found_by(cells, space, requirements, limit, weights, mix)
    assert found.loss == pytest.approx(expected[0][0], rel=1e-12, abs=1e-15)
    assert found.suppressed in {s for loss, s, _ in expected if loss <= expected[0][0] + 1e-12}


@settings(max_examples=100)
@given(data=st.data())
def test_search_in_boxes_equals_brute_force(data, every_feasible_node):
    """The search for spaces too large to list, here on small ones; it ends by itself with a proof."""
    cells, space = data.draw(problems())
    requirements = data.draw(requirement_sets(len(space), population=cells.population is not None))
    limit = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
    weights, mix = [1.0] * len(space), data.draw(LOSSES)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells, TREES), limit, weights, mix)
    with mock.patch.object(search_module, "MOST_LISTED", 0):
        if not expected:
            with pytest.raises(UnreachableError):
                found_by(cells, space, requirements, limit, weights, mix)
            return
        found = found_by(cells, space, requirements, limit, weights, mix)
    assert found.proved
    assert found.loss == pytest.approx(expected[0][0], rel=1e-12, abs=1e-15)


def small_problem(k, counts=(3, 1, 2, 4)):
    halves = build(list("abcd"), [["x", "x", "y", "y"]], None, 4.0, "letter")
    codes = np.array([[0, 1, 2, 3]], dtype=np.int32)
    cells = Cells(("letter",), codes, np.array(counts, dtype=np.int64), {}, {})
    space = Space.of([halves])
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=k), (0,))])
    return evaluator, space, make_loss("lm", space, evaluator.columns)


def test_a_worked_example():
    evaluator, space, loss = small_problem(k=3)
    # a and d stay, b and c go: 3 of 10; or halves of 4 and 6 for a loss of 1/3 each.
    assert search(evaluator, space, loss, 0.3).levels == (0,)
    assert search(evaluator, space, loss, 0.3).loss == pytest.approx(0.3)
    found = search(evaluator, space, loss, 0.29)
    assert (found.levels, found.suppressed, found.nodes) == ((1,), 0, 3)
    assert found.loss == pytest.approx(1 / 3)
    assert found.bound == found.loss


def test_an_unreachable_goal_says_the_largest_reachable_k():
    evaluator, space, loss = small_problem(k=11)
    with pytest.raises(UnreachableError, match=r"k-anonymity \(k = 10\)"):
        search(evaluator, space, loss, 1.0)


def test_an_unreachable_goal_says_the_least_suppression():
    halves = build(list("abcd"), [["x", "x", "y", "y"]], None, 4.0, "letter")
    codes = np.array([[0, 1, 2, 3]], dtype=np.int32)
    cells = Cells(("letter",), codes, np.array([3, 1, 2, 4]), {}, {})
    space = Space.of([halves], None, [1])
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=5), (0,))])
    with pytest.raises(UnreachableError, match=r"least found to do is 4 records: raise 'suppression' to 0\.4"):
        search(evaluator, space, make_loss("lm", space, evaluator.columns), 0.1)


def test_a_release_of_nothing_satisfies_nothing():
    evaluator, space, loss = small_problem(k=11)
    assert not evaluator.evaluate(space.top, 10).feasible
    with pytest.raises(UnreachableError):
        search(evaluator, space, loss, 1.0)


def test_a_search_can_be_stopped():
    evaluator, space, loss = small_problem(k=3)
    with pytest.raises(CancelledError):
        search(evaluator, space, loss, 0.0, cancelled=lambda: True)


def test_progress_is_told_in_shares():
    evaluator, space, loss = small_problem(k=3)
    told = []
    search(evaluator, space, loss, 0.0, progress=told.append)
    assert told
    assert all(0.0 <= share <= 1.0 for share in told)


@pytest.mark.parametrize("limit", [-0.1, 1.1])
def test_a_limit_is_a_share(limit):
    evaluator, space, loss = small_problem(k=3)
    with pytest.raises(PolicyError, match="share of the records"):
        search(evaluator, space, loss, limit)


def test_a_space_too_large_to_list_gives_the_best_in_time_with_a_bound():
    random = np.random.default_rng(5)
    leaves = [str(leaf) for leaf in range(16)]
    columns = [[str(leaf // width) for leaf in range(16)] for width in (2, 4, 8)]
    hierarchies = [build(leaves, columns, None, 16.0, "x")] * 20
    common = random.integers(0, 16, 400)
    codes = np.stack([(common + random.integers(0, 2, 400)) % 16 for _ in range(20)]).astype(np.int32)
    cells = Cells(tuple(map(str, range(20))), codes, np.ones(400, dtype=np.int64), {}, {})
    space = Space.of(hierarchies)
    assert space.size > 9 * 10**13
    evaluator = Evaluator(cells, space, [Requirement(KAnonymity(k=5), tuple(range(20)))])
    loss = make_loss("lm", space, evaluator.columns)
    found = search(evaluator, space, loss, 0.1, time_limit=0.5)
    checked = evaluator.evaluate(found.levels, 40)
    assert checked.feasible
    assert checked.suppressed == found.suppressed
    assert loss.value(checked) == found.loss
    assert 0.0 < found.bound <= found.loss < 0.95
    assert not found.proved
