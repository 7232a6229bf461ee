"""A search that asks an engine finds what a search of cells finds, in as few checks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.cells import Cells, Subjects
from medveil.engine import open_engine
from medveil.errors import PolicyError, UnreachableError
from medveil.hierarchy.hierarchy import build
from medveil.lattice.evaluate import Evaluator
from medveil.lattice.loss import make_loss
from medveil.lattice.queries import QueryChecker
from medveil.lattice.search import search
from medveil.lattice.space import Space
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.model import Requirement
from medveil.privacy.p_sensitive import PSensitiveKAnonymity
from medveil.privacy.t_closeness import TCloseness
from medveil.sources.opening import open_source
from medveil.table.domain import Domain
from medveil.table.schema import Kind

TREE = build(["0", "1", "2", "3"], [["a", "a", "b", "b"]], None, 4.0, "x")
WIDTH = 3
records = st.lists(
    st.tuples(*[st.integers(0, 3)] * WIDTH, st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=40
)


def asked(k, l, p):  # noqa: E741 - the literature's name
    models = [KAnonymity(k=k)]
    models += [LDiversity(l=l, attribute="s")] if l else []
    models += [PSensitiveKAnonymity(p=p, k=max(p, 2), attribute="s")] if p else []
    return [Requirement(model, tuple(range(WIDTH))) for model in models]


def cells_of(rows, people):
    distinct = sorted({row[: WIDTH + 1] for row in rows})
    counts = np.array([sum(row[: WIDTH + 1] == cell for row in rows) for cell in distinct], dtype=np.int64)
    held = [sorted({row[-1] for row in rows if row[: WIDTH + 1] == cell}) for cell in distinct]
    subjects = Subjects(np.cumsum([0, *map(len, held)]), np.concatenate(held).astype(np.int32), 7) if people else None
    codes = np.array([cell[:WIDTH] for cell in distinct], dtype=np.int32).T
    sensitive = np.array([cell[WIDTH] for cell in distinct], dtype=np.int32)
    domains = {"s": Domain(Kind.CATEGORY, ("0", "1", "2"))}
    return Cells(("x", "y", "z"), np.ascontiguousarray(codes), counts, {"s": sensitive}, domains, subjects)


def coded(engine, rows, people):
    four = pa.table({"value": ["0", "1", "2", "3"], "code": pa.array(range(4), pa.int32())})
    # Person 6 is nobody in particular: records without a subject are one person together.
    table = engine.encode(["x", "y", "z"], ["s"], [four] * (WIDTH + 1), "who" if people else None)
    columns = [np.bincount([row[j] for row in rows], minlength=4) for j in range(WIDTH)]
    return table, columns


def opened(rows):
    names = ["x", "y", "z", "s", "who"]
    texts = [[None if j == 4 and row[4] == 6 else str(row[j]) for row in rows] for j in range(5)]
    return open_engine(open_source(pa.table(dict(zip(names, map(pa.array, texts), strict=True)))), names)


def outcome(checker, space, loss, limit):
    try:
        found = search(checker, space, make_loss(loss, space, checker.columns), limit)
    except UnreachableError as error:
        return str(error), 0
    return (found.levels, found.loss, found.suppressed, found.proved), found.checks


@settings(max_examples=60, deadline=None)
@given(
    rows=records,
    k=st.integers(1, 6),
    distinct=st.sampled_from([(0, 0), (2, 0), (3, 0), (0, 2)]),
    limit=st.sampled_from([0.0, 0.01, 0.05, 0.3]),
    people=st.booleans(),
    loss=st.sampled_from(["lm", "discernibility", "average-class-share"]),
)
def test_an_engine_is_asked_for_the_same_optimum(rows, k, distinct, limit, people, loss):
    space, requirements = Space.of([TREE] * WIDTH), asked(k, *distinct)
    here = Evaluator(cells_of(rows, people), space, requirements, counts_classes=True)
    with opened(rows) as engine:
        table, columns = coded(engine, rows, people)
        there = QueryChecker(table, space, requirements, columns, ["s"])
        expected, checks = outcome(here, space, loss, limit)
        found, queries = outcome(there, space, loss, limit)
    assert found == expected
    assert queries <= checks * 1.1


@settings(max_examples=40, deadline=None)
@given(rows=records, k=st.integers(1, 5), people=st.booleans(), levels=st.tuples(*[st.integers(0, 2)] * WIDTH))
def test_one_check_gives_the_same_figures(rows, k, people, levels):
    space, requirements = Space.of([TREE] * WIDTH), asked(k, 2, 0)
    here = Evaluator(cells_of(rows, people), space, requirements, counts_classes=True).evaluate(levels, len(rows))
    with opened(rows) as engine:
        table, columns = coded(engine, rows, people)
        there = QueryChecker(table, space, requirements, columns, ["s"]).evaluate(levels, len(rows))
    assert (there.feasible, there.suppressed, there.squares, there.classes) == (
        here.feasible,
        here.suppressed,
        here.squares,
        here.classes,
    )
    if here.feasible:
        assert [h.tolist() for h in there.hidden] == [h.tolist() for h in here.hidden]


def test_models_that_no_query_decides_are_refused():
    with pytest.raises(PolicyError, match="t-closeness looks at how often"):
        QueryChecker(None, Space.of([TREE]), [Requirement(TCloseness(t=0.2, attribute="s"), (0,))], [np.ones(4)])
    with pytest.raises(PolicyError, match="some quasi-identifiers only"):
        QueryChecker(None, Space.of([TREE, TREE]), [Requirement(KAnonymity(k=2), (0,))], [np.ones(4)])
