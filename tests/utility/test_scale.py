"""Measures of a larger table are computed from counts."""

import time

import numpy as np
import pyarrow as pa
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison
from medveil.risk import risks
from medveil.risk.risk import assess_risks
from medveil.utility import measures
from medveil.utility.compute import compute_measures


def test_two_hundred_thousand_rows_take_seconds():
    """Generous: what is quadratic in rows or classes would take minutes."""
    random = np.random.default_rng(5)
    rows = 200_000
    age, town, ill = random.integers(0, 100, rows), random.integers(0, 2000, rows), random.integers(0, 50, rows)
    towns = np.char.zfill(town.astype(str), 4)
    table = pa.table({"age": age, "town": towns, "ill": ill.astype(str)})
    low = age // 7 * 7
    labels = [f"[{a}-{a + 6 + b}]" for a, b in zip(low, random.integers(0, 3, rows), strict=True)]
    with make_problem(table, quasi=["age", "town"], sensitive=["ill"]) as problem:
        published = pa.table({"age": labels, "town": towns, "ill": table["ill"]})
        started = time.perf_counter()
        scores = compute_measures(Comparison(problem, published), measures(), cheap_only=True)
        findings = assess_risks(Comparison(problem, published), risks(), cheap_only=True)
        seconds = time.perf_counter() - started
    assert scores["truthfulness"].value == 1.0
    assert findings["prosecutor"].value == 1.0
    assert seconds < 60
