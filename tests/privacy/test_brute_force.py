"""Every model against a second writing of its definition in plain Python, on tiny random tables."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

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

QUASI = ("age", "sex")
SPOTS = ["2", "3", "5", "8", None]
"""Values of the sensitive attribute, in its order: missing comes last."""

TREE = [["low", "low", "high", "high", "none"], ["known", "known", "known", "known", "none"]]
"""The groups of these values at two levels; the root is added."""

records = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["10", "20", None]),
        "sex": st.sampled_from(["f", "m"]),
        "spot": st.sampled_from(SPOTS),
        "patient": st.integers(0, 7),
    }
)


def drawn(seed, size, patients):
    """A fuller table than one grown record by record, with several values a person."""
    generator = np.random.default_rng(seed)
    return [
        {
            "age": ["10", "20", None][generator.integers(3)],
            "sex": "fm"[generator.integers(2)],
            "spot": SPOTS[generator.choice(5, p=[0.4, 0.25, 0.15, 0.1, 0.1])],
            "patient": int(generator.integers(patients)),
        }
        for _ in range(size)
    ]


rows_of_records = st.one_of(
    st.lists(records, min_size=1, max_size=20),
    st.builds(drawn, st.integers(0, 2**32), st.integers(10, 50), st.integers(2, 30)),
)


class Plain:
    """The classes of a table as lists, and each definition in the words of its paper."""

    def __init__(self, rows, *, people):
        for number, row in enumerate(rows):
            row["who"] = row["patient"] if people else number
        self.input = sorted({(row["who"], row["spot"]) for row in rows}, key=str)
        grouped = {}
        for row in rows:
            grouped.setdefault(tuple(row[q] for q in QUASI), set()).add((row["who"], row["spot"]))
        self.classes = grouped
        self.present = [spot for spot in SPOTS if any(row["spot"] == spot for row in rows)]

    @staticmethod
    def size(one):
        return len({who for who, _ in one})

    @staticmethod
    def counts(one):
        return Counter(spot for _, spot in one)

    def distribution(self, one):
        counts = self.counts(one)
        return [counts[spot] / len(one) for spot in self.present]

    def entropy_l(self, one):
        return math.exp(-sum(p * math.log(p) for p in self.distribution(one) if p > 0))

    def top_to_tail(self, one, l):  # noqa: E741
        descending = sorted(self.counts(one).values(), reverse=True)
        tail = sum(descending[l - 1 :])
        return descending[0] / tail if tail else math.inf

    def share(self, one, spots):
        return max(len({who for who, s in one if s == spot}) for spot in spots) / self.size(one)

    def earth_mover(self, one, ground):
        """The cheapest way to carry P over to Q, by linear programming over all routes."""
        p, q = self.distribution(one), self.distribution(self.input)
        m = len(p)
        cost = [ground(i, j) for i, j in itertools.product(self.present, repeat=2)]
        leave = [[1.0 if a == i else 0.0 for a in range(m) for _ in range(m)] for i in range(m)]
        arrive = [[1.0 if b == j else 0.0 for _ in range(m) for b in range(m)] for j in range(m)]
        return linprog(cost, A_eq=leave + arrive, b_eq=p + q, method="highs").fun

    def gain(self, one, *, enhanced):
        gains = []
        for q, p in zip(self.distribution(one), self.distribution(self.input), strict=True):
            if q > p:
                gain = (q - p) / p
                gains.append(math.inf if enhanced and gain > -math.log(p) + 1e-12 else gain)
        return max(gains, default=0.0)

    def logarithm(self, one, *, ignore):
        found = []
        for q, p in zip(self.distribution(one), self.distribution(self.input), strict=True):
            if q > 0:
                found.append(abs(math.log(q / p)))
            elif not ignore:
                found.append(math.inf)
        return max(found)

    def worst(self, figure, of=max):
        return of(figure(one) for one in self.classes.values())


@pytest.fixture(scope="session")
def prepared(tables):
    def prepare(rows, people):
        plain = Plain(rows, people=people)
        cells = tables.cells(rows, QUASI, ("spot",), subject="patient" if people else None, kinds={"spot": Kind.NUMBER})
        places = [SPOTS.index(value) for value in cells.domains["spot"].values]
        tree = build(plain.present, [[level[i] for i in places] for level in TREE], None, len(places), "spot")
        ids, number = tables.class_of_cell(cells)
        order = []
        for one in range(number):
            cell = int(np.flatnonzero(ids == one)[0])
            order.append(tuple(cells.domains[q].values[cells.codes[j, cell]] for j, q in enumerate(QUASI)))
        ordered = [plain.classes[key] for key in order]
        return plain, ordered, tables.count(cells, ids, number), tables.reference(cells, {"spot": tree})

    return prepare


def close(model, classes, reference, **expected):
    achieved = model.achieved(classes, reference)
    assert achieved == pytest.approx(expected, abs=1e-9)


@given(rows=rows_of_records, people=st.booleans(), k=st.integers(1, 5), l=st.integers(1, 4), bound=st.floats(0.1, 1))
def test_sizes_and_values(prepared, rows, people, k, l, bound):  # noqa: E741
    plain, ordered, classes, reference = prepared(rows, people)
    size, distinct = plain.size, lambda one: len(plain.counts(one))

    model = KAnonymity(k=k)
    assert model.holds(classes, reference).tolist() == [size(one) >= k for one in ordered]
    close(model, classes, reference, k=plain.worst(size, min))

    model = LDiversity(l=l, attribute="spot")
    assert model.holds(classes, reference).tolist() == [distinct(one) >= l for one in ordered]
    close(model, classes, reference, l=plain.worst(distinct, min))

    model = LDiversity(l=l, variant="entropy", attribute="spot")
    assert model.holds(classes, reference).tolist() == [plain.entropy_l(one) >= l - 1e-9 for one in ordered]
    close(model, classes, reference, l=plain.worst(plain.entropy_l, min))

    c = 4 * bound
    model = LDiversity(l=l, variant="recursive", c=c, attribute="spot")
    assert model.holds(classes, reference).tolist() == [plain.top_to_tail(one, l) < c for one in ordered]
    close(model, classes, reference, l=l, c=plain.worst(lambda one: plain.top_to_tail(one, l)))

    p = min(l, k)
    model = PSensitiveKAnonymity(p=p, k=k, attribute="spot")
    assert model.holds(classes, reference).tolist() == [distinct(one) >= p and size(one) >= k for one in ordered]
    close(model, classes, reference, p=plain.worst(distinct, min), k=plain.worst(size, min))

    for spots in (plain.present, plain.present[:1]):
        if spots == [None]:
            continue
        value = None if spots == plain.present else spots[0]
        values = None if value is None else (value,)
        shares = [plain.share(one, spots) for one in ordered]
        expected = [share <= bound and size(one) >= k for share, one in zip(shares, ordered, strict=True)]
        model = AlphaKAnonymity(alpha=bound, k=k, value=value, attribute="spot")
        assert model.holds(classes, reference).tolist() == expected
        close(model, classes, reference, alpha=max(shares), k=plain.worst(size, min))
        model = LKCPrivacy(l=2, k=k, c=bound, values=values, attribute="spot")
        assert model.holds(classes, reference).tolist() == expected
        close(model, classes, reference, l=2, c=max(shares), k=plain.worst(size, min))
        for share in shares:
            if share > 0:
                model = AlphaKAnonymity(alpha=share, k=1, value=value, attribute="spot")
                assert model.holds(classes, reference).tolist() == [other <= share for other in shares]


@given(rows=rows_of_records, people=st.booleans(), bound=st.floats(0.01, 2))
def test_likeness_and_disclosure(prepared, rows, people, bound):
    plain, ordered, classes, reference = prepared(rows, people)
    for enhanced in (False, True):
        model = BetaLikeness(beta=bound, variant="enhanced" if enhanced else "basic", attribute="spot")
        gains = [plain.gain(one, enhanced=enhanced) for one in ordered]
        assert model.holds(classes, reference).tolist() == [gain <= bound + 1e-12 for gain in gains]
        close(model, classes, reference, beta=max(gains))
    for ignore in (False, True):
        model = DeltaDisclosure(delta=bound, absent="ignore" if ignore else "refuse", attribute="spot")
        figures = [plain.logarithm(one, ignore=ignore) for one in ordered]
        assert model.holds(classes, reference).tolist() == [figure < bound for figure in figures]
        close(model, classes, reference, delta=max(figures))


@settings(max_examples=40)
@given(rows=rows_of_records, people=st.booleans(), t=st.floats(0, 1))
def test_closeness_is_the_cost_of_moving_earth(prepared, rows, people, t):
    plain, ordered, classes, reference = prepared(rows, people)
    present = plain.present
    height = reference.hierarchies["spot"].height

    def meet(one, other):
        if one == other:
            return 0.0
        for number, level in enumerate(TREE, start=1):
            if level[SPOTS.index(one)] == level[SPOTS.index(other)]:
                return number / height
        return 1.0

    grounds = {
        "equal": lambda one, other: float(one != other),
        "variational": lambda one, other: 2.0 * (one != other),
        "ordered": lambda one, other: abs(present.index(one) - present.index(other)) / max(len(present) - 1, 1),
        "hierarchical": meet,
    }
    for distance, ground in grounds.items():
        model = TCloseness(t=t, distance=distance, attribute="spot")
        expected = [plain.earth_mover(one, ground) for one in ordered]
        assert model.distances(classes, reference).tolist() == pytest.approx(expected, abs=1e-9)
        verdicts = zip(model.holds(classes, reference), expected, strict=True)
        assert all(verdict == (d <= t) for verdict, d in verdicts if abs(d - t) > 1e-9)
        close(model, classes, reference, t=max(expected))


@given(
    rows=rows_of_records,
    others=st.lists(records, max_size=15),
    least=st.sampled_from([0.0, 0.25, 0.5]),
    most=st.sampled_from([0.5, 0.75, 1.0]),
)
def test_presence(tables, rows, others, least, most):
    population = rows + others
    cells = tables.cells(rows, QUASI, ("spot",), population=population)
    classes = tables.classes(cells)
    key = lambda row: tuple(row[q] for q in QUASI)  # noqa: E731
    inside, outside = Counter(map(key, rows)), Counter(map(key, population))
    ratios = [inside[one] / outside[one] for one in outside]
    model = DeltaPresence(delta_min=least, delta_max=most, population="population.csv")
    verdict = model.holds(classes, tables.reference(cells))
    assert Counter(verdict.tolist()) == Counter(least <= ratio <= most for ratio in ratios)
    close(model, classes, None, delta_min=min(ratios), delta_max=max(ratios))
