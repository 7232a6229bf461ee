from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from medveil.cells import Cells, Subjects
from medveil.errors import UnreachableError
from medveil.hierarchy.hierarchy import build
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.search import search
from medveil.lattice.space import Space
from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.count import reference_of
from medveil.privacy.delta_presence import DeltaPresence
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import Requirement
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
    domains = {"disease": Domain(Kind.CATEGORY, ("a", "b", "c"))}
    cells = Cells(names, codes, counts, {"disease": sensitive}, domains, subjects, population)
    return cells, space


@st.composite
def models(draw, *, population: bool):
    kinds = ["k", "k", "distinct", "entropy", "recursive", "t", "alpha"] + ["delta"] * (2 * population)
    kind = draw(st.sampled_from(kinds))
    number = draw(st.integers(1, 5))
    share = draw(st.sampled_from([0.2, 0.4, 0.5, 0.7, 1.0]))
    if kind == "k":
        return KAnonymity(k=number)
    if kind == "distinct":
        return LDiversity(l=min(number, 3), attribute="disease")
    if kind == "entropy":
        return LDiversity(variant="entropy", l=1 + share, attribute="disease")
    if kind == "recursive":
        return LDiversity(variant="recursive", l=2, c=number, attribute="disease")
    if kind == "t":
        return TCloseness(t=share, attribute="disease")
    if kind == "alpha":
        return AlphaKAnonymity(alpha=share, k=number, attribute="disease")
    low = draw(st.sampled_from([0.0, 0.0, 0.1]))
    return DeltaPresence(delta_min=low, delta_max=max(share, low), population=Path("population.csv"))


@st.composite
def requirement_sets(draw, width: int, *, population: bool):
    found = []
    for _ in range(draw(st.integers(1, 3))):
        shield = draw(st.sets(st.integers(0, width - 1), min_size=1)) if draw(st.booleans()) else range(width)
        found.append(Requirement(draw(models(population=population)), tuple(sorted(shield))))
    return found


LOSSES = st.sampled_from(
    [{"lm": 1.0}, {"lm": 1.0}, {"discernibility": 1.0}, {"average-class-size": 1.0}, {"lm": 2.0, "discernibility": 1.0}]
)


def found_by(cells, space, requirements, limit, weights, mix):
    columns = Evaluator(cells, space, requirements).columns
    loss = make_loss(next(iter(mix)) if len(mix) == 1 else mix, space, columns, weights)
    evaluator = Evaluator(cells, space, requirements, counts_classes=loss.counts_classes)
    return search(evaluator, space, loss, limit)


@settings(max_examples=400)
@given(data=st.data())
def test_search_equals_brute_force(data, every_feasible_node):
    cells, space = data.draw(problems())
    requirements = data.draw(requirement_sets(len(space), population=cells.population is not None))
    limit = data.draw(st.sampled_from([0.0, 0.0, 0.1, 0.25, 0.5, 1.0]))
    weights = [data.draw(st.sampled_from([0.0, 1.0, 1.0, 2.5])) + 0.125 for _ in range(len(space))]
    mix = data.draw(LOSSES)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells), limit, weights, mix)
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


@settings(max_examples=150)
@given(data=st.data())
def test_search_equals_brute_force_for_k_alone(data, every_feasible_node):
    """The fast path, which counts sizes only."""
    cells, space = data.draw(problems())
    assume(cells.subjects is None)
    requirements = [Requirement(KAnonymity(k=data.draw(st.integers(1, 8))), tuple(range(len(space))))]
    limit = data.draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
    weights = [1.0] * len(space)
    expected = every_feasible_node(cells, space, requirements, reference_of(cells), limit, weights, {"lm": 1.0})
    if not expected:
        with pytest.raises(UnreachableError):
            found_by(cells, space, requirements, limit, weights, {"lm": 1.0})
        return
    found = found_by(cells, space, requirements, limit, weights, {"lm": 1.0})
    assert found.loss == pytest.approx(expected[0][0], rel=1e-12, abs=1e-15)
    assert found.suppressed in {s for loss, s, _ in expected if loss <= expected[0][0] + 1e-12}
