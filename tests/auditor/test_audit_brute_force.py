"""Every figure that the auditor reaches, counted once more in plain Python on random small tables."""

import itertools
import math
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from medveil.auditor import audit
from medveil.sources.opening import open_source

LABELS = {"a": "ab", "b": "ab", "c": "c", "d": None, None: None}
FORMS = {"1": "1", "2.0": "2", "2": "2", "10": "10", None: None}
LEVEL_1 = {"1": "low", "2": "low", "10": "high", None: None}
TREE = {"type": "taxonomy", "tree": {"low": ["1", "2"], "high": ["10"]}}
QUASI = ("u", "v")

records = st.lists(
    st.tuples(
        st.sampled_from(list(LABELS)),
        st.sampled_from(list(LABELS)),
        st.sampled_from(list(FORMS)),
        st.sampled_from(["p1", "p2", "p3", "p4", None]),
        st.booleans(),
    ),
    min_size=1,
    max_size=14,
).filter(lambda rows: any(row[4] for row in rows))


def worst_figures(source, people):
    """The figures of every model, over dictionaries of sets."""
    rows = [
        (LABELS[u], LABELS[v], FORMS[s], person if people else number, kept)
        for number, (u, v, s, person, kept) in enumerate(source)
    ]
    whole = Counter(value for value, _ in {(s, who) for _, _, s, who, _ in rows})
    total = sum(whole.values())
    domain = sorted((value for value in whole if value is not None), key=int) + [None] * (None in whole)
    q = [whole[value] / total for value in domain]

    def classes(shield):
        found = defaultdict(set)
        for u, v, s, who, kept in rows:
            if kept:
                found[tuple({"u": u, "v": v}[name] for name in shield)].add((s, who))
        return [(len({who for _, who in pairs}), Counter(s for s, _ in pairs)) for pairs in found.values()]

    everything = classes(QUASI)
    sizes = [size for size, _ in everything]
    histograms = [histogram for _, histogram in everything]
    shares = [[h[value] / sum(h.values()) for value in domain] for h in histograms]

    def confidence(shield, watched=None):
        return max(
            (n / size for size, h in classes(shield) for s, n in h.items() if watched is None or s in watched),
            default=0.0,
        )

    def ratio(h, l):  # noqa: E741
        falling = sorted(h.values(), reverse=True)
        return falling[0] / sum(falling[l - 1 :]) if len(falling) >= l else math.inf

    sets = [shield for size in (1, 2) for shield in itertools.combinations(QUASI, size)]
    gains = [(p / q[i] - 1, -math.log(q[i])) for ps in shares for i, p in enumerate(ps) if p > q[i]]
    logs = [[abs(math.log(p / q[i])) if p else math.inf for i, p in enumerate(ps)] for ps in shares]
    return {
        "k": {"k": min(sizes)},
        "distinct": {"l": min(map(len, histograms))},
        "entropy": {"l": min(math.exp(-sum(p * math.log(p) for p in ps if p)) for ps in shares)},
        "recursive": {"l": 2, "c": max(ratio(h, 2) for h in histograms)},
        "equal": {"t": max(sum(abs(p - r) for p, r in zip(ps, q, strict=True)) / 2 for ps in shares)},
        "variational": {"t": max(sum(abs(p - r) for p, r in zip(ps, q, strict=True)) for ps in shares)},
        "ordered": {"t": max(ordered(ps, q) for ps in shares)},
        "hierarchical": {"t": max(hierarchical(ps, q, domain) for ps in shares)},
        "alpha": {"alpha": confidence(QUASI), "k": min(sizes)},
        "alpha-value": {"alpha": confidence(QUASI, ["10"]), "k": min(sizes)},
        "p-sensitive": {"p": min(map(len, histograms)), "k": min(sizes)},
        "lkc": {
            "l": 2,
            "k": min(size for shield in sets for size, _ in classes(shield)),
            "c": max(confidence(shield, ["1", "2"]) for shield in sets),
        },
        "lkc-1": {
            "l": 1,
            "k": min(size for shield in sets[:2] for size, _ in classes(shield)),
            "c": max(map(confidence, sets[:2])),
        },
        "refuse": {"delta": max(map(max, logs))},
        "ignore": {"delta": max(x for line in logs for x in line if x < math.inf)},
        "basic": {"beta": max((gain for gain, _ in gains), default=0.0)},
        "enhanced": {"beta": max((gain if gain <= bound else math.inf for gain, bound in gains), default=0.0)},
    }


def ordered(p, q):
    ranks = np.arange(len(q))
    return wasserstein_distance(ranks, ranks, p, q) / (len(q) - 1) if len(q) > 1 else 0.0


def hierarchical(p, q, domain):
    """The earth mover's distance as a transport problem, with the level at which two values meet as the distance."""
    size = len(domain)

    def apart(x, y):
        return 0.0 if x == y else 0.5 if LEVEL_1[x] == LEVEL_1[y] else 1.0

    cost = [apart(x, y) for x in domain for y in domain]
    sends = np.kron(np.eye(size), np.ones(size))
    takes = np.kron(np.ones(size), np.eye(size))
    return linprog(cost, A_eq=np.vstack([sends, takes]), b_eq=[*p, *q]).fun


def claims(make):
    generous = {
        "k": ("k-anonymity", None, {"k": 1}),
        "distinct": ("l-diversity", "s", {"variant": "distinct", "l": 1}),
        "entropy": ("l-diversity", "s", {"variant": "entropy", "l": 1}),
        "recursive": ("l-diversity", "s", {"variant": "recursive", "l": 2, "c": 100}),
        "equal": ("t-closeness", "s", {"distance": "equal", "t": 2}),
        "variational": ("t-closeness", "s", {"distance": "variational", "t": 2}),
        "ordered": ("t-closeness", "s", {"distance": "ordered", "t": 2}),
        "hierarchical": ("t-closeness", "s", {"distance": "hierarchical", "t": 2}),
        "alpha": ("alpha-k-anonymity", "s", {"alpha": 1, "k": 1}),
        "alpha-value": ("alpha-k-anonymity", "s", {"alpha": 1, "k": 1, "value": "10"}),
        "p-sensitive": ("p-sensitive-k-anonymity", "s", {"p": 1, "k": 1}),
        "lkc": ("lkc-privacy", "s", {"l": 2, "k": 1, "c": 1, "values": ["1", "2"]}),
        "lkc-1": ("lkc-privacy", "s", {"l": 1, "k": 1, "c": 1}),
        "refuse": ("delta-disclosure", "s", {"delta": 99, "absent": "refuse"}),
        "ignore": ("delta-disclosure", "s", {"delta": 99, "absent": "ignore"}),
        "basic": ("beta-likeness", "s", {"variant": "basic", "beta": 99}),
        "enhanced": ("beta-likeness", "s", {"variant": "enhanced", "beta": 99}),
    }
    return {name: make(model, attribute, **required) for name, (model, attribute, required) in generous.items()}


@pytest.mark.parametrize("people", [False, True])
@settings(max_examples=20)
@given(data=records)
def test_every_figure_is_that_of_plain_counting(writer, make_claim, people, data):
    named = claims(make_claim)
    published = [(LABELS[u], LABELS[v], FORMS[s]) for u, v, s, _, kept in data if kept]
    source = open_source(
        pa.table(
            {name: pa.array([row[i] for row in data], pa.string()) for i, name in enumerate(("u", "v", "s", "who"))}
        )
    )
    links = {
        " ": [row[4] for row in data],
        "u": pa.array([LABELS[row[0]] for row in data], pa.string()),
        "v": pa.array([LABELS[row[1]] for row in data], pa.string()),
    }
    with tempfile.TemporaryDirectory() as folder:
        writer(
            Path(folder) / "out",
            {"u": "qc", "v": "qc", "s": "sn"},
            sorted(published, key=str),
            list(named.values()),
            extra={"u": {"level": 1}, "s": {"hierarchy": TREE}},
            rows={"published": len(published), "input": len(data), "suppressed": len(data) - len(published)},
            **({"subject": "who", "links": links} if people else {}),
        )
        report = audit(Path(folder) / "out", source)
    assert not report.problems
    expected = worst_figures(data, people)
    for name, found in zip(named, report.findings, strict=True):
        achieved = {key: math.inf if value is None else value for key, value in found.finding.achieved.items()}
        assert achieved == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        assert found.finding.holds is not any(math.isinf(value) for value in expected[name].values()), name
