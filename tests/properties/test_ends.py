"""The two ends: a table published as it is loses nothing and hides nobody, one of `*` the reverse; every measure and
every risk that is there must know it, also one that is added later.
"""

import numpy as np
import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison, Score, Skipped
from medveil.evaluation.settings import EvaluationPolicy
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.risk import risks
from medveil.risk.risk import RiskFinding, assess_risks
from medveil.utility import measures
from medveil.utility.compute import compute_measures

ROWS = 240
random = np.random.default_rng(8)
SEX = random.choice(["f", "m"], ROWS).tolist()
PEOPLE = {
    "age": list(range(ROWS)),
    "sex": SEX,
    "ill": ["flu" if (age < 120) == (sex == "f") else "gout" for age, sex in enumerate(SEX)],
}
SETTINGS = EvaluationPolicy(
    target="ill", queries={"ages": "SELECT sex, avg(age), count(*) FROM data WHERE ill = 'flu' GROUP BY sex"}
)
BEST = {
    **dict.fromkeys(measures(), 0.0),
    "truthfulness": 1.0,
    "average-class-size": 1.0,
    "discernibility": 1 / ROWS,
}
"""What the original itself gets: no loss; classes of one."""
WORST = {
    "lm": 1.0,
    "ncp": 1.0,
    "non-uniform-entropy": 1.0,
    "discernibility": 1.0,
    # Nothing is believed: 1 - 1/v for each of the columns.
    "rce": np.mean([1 - 1 / 240, 1 / 2, 1 / 2]),
    "rce-joint": 1 - 1 / (240 * 4),
    "sql-queries": 1.0,
}
"""What it gets where nothing is told; what is not listed has no figure then."""
MORE_NEEDED = {"catalog-attack", "intersection", "journalist", "learning-attack", "population-uniqueness"}
"""Risks that need more than a release and its original."""


@pytest.fixture(scope="module")
def problem():
    models = (KAnonymity(k=1), LDiversity(variant="distinct", l=1, attribute="ill"))
    with make_problem(PEOPLE, quasi=["age", "sex"], sensitive=["ill"], models=models) as made:
        yield made


@pytest.fixture(scope="module")
def identity(problem):
    return Comparison(problem, pa.table({name: [str(v) for v in c] for name, c in PEOPLE.items()}), settings=SETTINGS)


@pytest.fixture(scope="module", params=["rows of stars", "no rows"])
def silent(problem, request):
    rows = ROWS if request.param == "rows of stars" else 0
    return Comparison(
        problem, pa.table({name: pa.array(["*"] * rows, pa.string()) for name in PEOPLE}), settings=SETTINGS
    )


def test_the_original_loses_nothing(identity):
    found = compute_measures(identity, measures(), cheap_only=False)
    for name, score in found.items():
        assert isinstance(score, Score), (name, score)
        if name == "classification":
            assert score.value == pytest.approx(score.parts["random-forest, original, accuracy"], abs=0.05)
        else:
            assert score.value == pytest.approx(BEST[name], abs=1e-9), name


def test_the_original_hides_nobody(identity):
    found = assess_risks(identity, risks(), cheap_only=False)
    for name, finding in found.items():
        if name in MORE_NEEDED:
            assert isinstance(finding, Skipped), name
        elif name == "downcoding":
            assert finding.reason == "nothing of anybody is generalized"
        else:
            assert isinstance(finding, RiskFinding), (name, finding)
            assert finding.value == pytest.approx(1.0), name


def test_who_is_told_nothing_has_lost_everything(silent):
    for name, score in compute_measures(silent, measures(), cheap_only=False).items():
        if name == "query-error":
            # A count that is nought in the original is answered rightly.
            assert 0.9 < score.value <= 1.0
        elif name in WORST:
            assert score.value == pytest.approx(WORST[name]), name
        else:
            assert isinstance(score, Skipped), (name, score)


def test_who_is_told_nothing_finds_nobody(silent):
    for name, finding in assess_risks(silent, risks(), cheap_only=False).items():
        if name == "membership":
            assert finding.value == 0.5
        else:
            assert isinstance(finding, Skipped), (name, finding)
