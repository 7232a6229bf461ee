"""Models that learn from a release."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, roc_auc_score
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison, Skipped
from medveil.evaluation.settings import EvaluationPolicy
from medveil.utility.prediction import Prediction, _Rows
from medveil.utility.prediction_scores import Predictions


@pytest.fixture
def scored():
    random = np.random.default_rng(3)
    truth = random.integers(0, 3, 300)
    probabilities = np.round(random.dirichlet(np.ones(3), 300), 1)  # rounded, so that there are ties
    probabilities[np.arange(300), truth] += 0.3
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return Predictions(truth, probabilities.argmax(axis=1), probabilities)


def test_figures_are_those_of_scikit_learn(scored):
    found = scored.scores()
    assert found["accuracy"] == pytest.approx(np.mean(scored.truth == scored.said))
    assert found["f1"] == pytest.approx(f1_score(scored.truth, scored.said, average="macro"))
    assert found["mcc"] == pytest.approx(matthews_corrcoef(scored.truth, scored.said))
    assert found["auc"] == pytest.approx(roc_auc_score(scored.truth, scored.probabilities, multi_class="ovr"))


def test_weights_repeat_records(scored):
    weights = np.random.default_rng(1).integers(0, 3, 300).astype(np.float64)
    again = np.repeat(np.arange(300), weights.astype(np.int64))
    repeated = Predictions(scored.truth[again], scored.said[again], scored.probabilities[again])
    assert scored.scores(weights) == pytest.approx(repeated.scores())


def test_intervals_hold_the_figures(scored):
    scores, intervals = scored.scores(), scored.intervals(np.random.default_rng(2))
    for name, (low, high) in intervals.items():
        assert low < scores[name] < high


@pytest.fixture(scope="module")
def table():
    """Whoever is over 50 and from the north is ill, nine times out of ten."""
    random = np.random.default_rng(6)
    age, region = random.integers(0, 100, 2000), random.choice(["north", "south"], 2000)
    ill = ((age > 50) & (region == "north")) ^ (random.random(2000) < 0.1)
    return pa.table({"age": age, "region": region, "ill": np.where(ill, "yes", "no"), "one": ["same"] * 2000})


def predicted(table, published, target="ill", **roles):
    roles = {"quasi": ["age", "region"], "sensitive": ["ill"]} | roles
    with make_problem(table, **roles) as problem:
        return Prediction().compute(Comparison(problem, published, settings=EvaluationPolicy(target=target)))


def text(table, **columns):
    return pa.table({name: columns.get(name, table[name].cast(pa.string())) for name in ("age", "region", "ill")})


def test_the_identity_release_teaches_what_the_original_does(table):
    found = predicted(table, text(table))
    assert found.value == pytest.approx(found.parts["random-forest, original, accuracy"], abs=0.04)
    assert found.low <= found.value <= found.high
    assert found.value > 0.75
    assert found.parts["xgboost, release, mcc"] > 0.4


def test_suppressed_columns_teach_nothing(table):
    found = predicted(table, text(table, age=pa.array(["*"] * 2000), region=pa.array(["*"] * 2000)))
    usual = max(np.mean(np.asarray(table["ill"]) == value) for value in ("yes", "no"))
    assert found.value == pytest.approx(usual, abs=0.05)
    assert found.parts["random-forest, release, auc"] == pytest.approx(0.5, abs=0.02)


def test_plain_targets(table):
    found = predicted(table, text(table), quasi=["age"], sensitive=["region"], plain=["ill"])
    assert found.value > 0.7


@pytest.mark.parametrize(
    ("target", "columns", "reason"),
    [
        (None, {}, "names no target"),
        ("one", {}, "'one' is not published"),
        ("age", {}, "100 classes"),
        ("ill", {"ill": pa.array(["{no, yes}"] * 2000)}, "in groups"),
        ("ill", {"ill": pa.array(["no"] * 2000)}, "one class only"),
    ],
)
def test_targets_that_nothing_can_be_learned_about(table, target, columns, reason):
    found = predicted(table, text(table, **columns), target)
    assert isinstance(found, Skipped)
    assert reason in found.reason


def test_a_target_with_one_class(table):
    published = text(table).append_column("one", table["one"])
    found = predicted(table, published, "one", sensitive=["ill", "one"])
    assert found.reason == "the target 'one' has one class only"


def test_held_out_people_are_taken_out_of_the_release():
    table = {"age": [20, 21, 22, 30, 31], "ill": list("xyxxy")}
    with make_problem(table, quasi=["age"], sensitive=["ill"]) as problem:
        published = pa.table({"age": ["[20-29]"] * 3 + ["[30-39]"], "ill": list("xyxx")})
        rows = _Rows(Comparison(problem, published), "ill")
        ages = [problem.cells.domains["age"].values[code] for code in problem.cells.codes[0][rows.cell]]
        taken = {age: rows.published_of(np.array([i])).tolist() for i, age in enumerate(ages)}
        assert taken["21"] == [1]
        assert taken["20"][0] in {0, 2}
        assert taken["31"] == []
        both = rows.published_of(np.array([ages.index("20"), ages.index("22")]))
        assert sorted(both.tolist()) == [0, 2]
