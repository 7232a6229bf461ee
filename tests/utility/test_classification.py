"""One encoding for releases and originals, and models that learn through it."""

import numpy as np
import pyarrow as pa
import pytest

from medveil.errors import InputError
from medveil.hierarchy.hierarchy import build
from medveil.utility.classification import CLASSIFIERS, accuracy, estimate, make_encoding, make_task

ORIGINAL = pa.table({"age": ["10", "20", "31"], "sex": ["f", "m", "x"]})


def encode(ages, sexes, **options):
    return make_encoding(ORIGINAL, ["age", "sex"]).matrix(pa.table({"age": ages, "sex": sexes}), **options).tolist()


def test_ranges_by_midpoint_and_sets_by_shares():
    assert encode(["10", "[10-20]", "24.5", "*"], ["f", "{f, m}", "m", "*"]) == [
        [10.0, 1.0, 0.0, 0.0],
        [15.0, 0.5, 0.5, 0.0],
        [24.5, 0.0, 1.0, 0.0],
        [20.5, *[pytest.approx(1 / 3)] * 3],
    ]


def test_numbers_that_are_not_whole():
    encoding = make_encoding(pa.table({"dose": ["0.5", "1.5", "4"]}), ["dose"])
    found = encoding.matrix(pa.table({"dose": ["0.5", "[0.5-1.5]", "[1.0-4.0)"]}))
    assert found[:, 0].tolist() == [0.5, 1.0, 2.5]


def test_ids_are_read_by_the_book_and_groups_by_the_hierarchy():
    book = {"sex": {"0": "m", "1": "f", "2": "x"}}
    assert [row[1:] for row in encode(["10", "10"], ["0", "{0, 1}"], books=book)] == [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    coded = make_encoding(pa.table({"grade": ["a0", "0", "1"]}), ["grade"])
    shares = coded.matrix(pa.table({"grade": ["0", "{0, 1}"]}), books={"grade": {"0": "1", "1": "a0", "2": "0"}})
    assert shares.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    hierarchy = build(("f", "m", "x"), [("fm", "fm", "x")], None, 3.0, "sex")
    encoding = make_encoding(ORIGINAL, ["sex"], hierarchies={"sex": hierarchy})
    assert encoding.matrix(pa.table({"sex": ["fm", "x"]})).tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


def test_originals_and_values_that_training_never_saw():
    assert encode(["12", "99"], ["m", "unheard of"])[0][0] == 12.0
    shares = encode(["12", "99"], ["m", "unheard of"])[1][1:]
    assert shares == [pytest.approx(1 / 3)] * 3


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(1)
    age = chance.integers(0, 100, 600)
    sex = chance.choice(["f", "m"], 600)
    sick = np.where((age > 50) ^ (sex == "m"), "yes", "no")
    return pa.table({"age": age.astype(str), "sex": sex, "sick": sick})


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_models_learn_from_the_original_less_from_groups_and_nothing_from_stars(rows, classifier):
    encoding = make_encoding(rows, ["age", "sex"])
    train, test = rows.slice(0, 400), rows.slice(400)

    def figure(release):
        return accuracy(make_task(encoding, release, test, "sick"), classifier, seed=0)

    silent = train.set_column(0, "age", pa.array(["*"] * 400)).set_column(1, "sex", pa.array(["*"] * 400))
    tens = [f"[{int(a) // 10 * 10}-{int(a) // 10 * 10 + 9}]" for a in train["age"].to_pylist()]
    assert figure(train) > 0.9
    assert figure(train.set_column(0, "age", pa.array(tens))) > 0.85
    share = np.mean(np.asarray(test["sick"]) == "yes")
    assert figure(silent) == pytest.approx(max(share, 1 - share), abs=0.25)


def test_the_same_seed_gives_the_same_figure_and_fewer_rows_may_be_drawn(rows):
    task = make_task(make_encoding(rows, ["age", "sex"]), rows.slice(0, 400), rows.slice(400), "sick")
    assert accuracy(task, "random-forest", 3, rows=100) == accuracy(task, "random-forest", 3, rows=100)
    assert accuracy(task, "svm", 1, rows=10_000) == accuracy(task, "svm", 2)


def test_rows_of_stars_are_left_out_and_one_class_alone_is_predicted(rows):
    stars = pa.table({name: ["*", "*"] for name in rows.column_names})
    encoding = make_encoding(rows, ["age", "sex"])
    task = make_task(encoding, pa.concat_tables([rows.slice(0, 50), stars]), rows, "sick")
    assert len(task.train) == 50
    with pytest.raises(InputError, match="nothing to learn"):
        make_task(encoding, stars, rows, "sick")
    healthy = rows.filter(pa.array(np.asarray(rows["sick"]) == "no"))
    alone = make_task(encoding, healthy, rows, "sick")
    assert accuracy(alone, "svm", 0) == pytest.approx(np.mean(np.asarray(rows["sick"]) == "no"))


def test_missing_numbers_take_the_mean_of_training():
    table = pa.table({"age": ["10", "30", None], "sick": ["yes", "no", "no"]})
    task = make_task(make_encoding(table, ["age"]), table, table, "sick")
    assert task.train[:, 0].tolist() == [10.0, 30.0, 20.0]


def test_an_estimate_widens_with_scatter():
    close, far = estimate([0.80, 0.81, 0.82]), estimate([0.70, 0.81, 0.92])
    assert close.mean == pytest.approx(far.mean)
    assert far.high - far.low > close.high - close.low > 0


def test_a_kernel_by_matrix_products_is_the_same_machine(rows, monkeypatch):
    encoding = make_encoding(rows, ["age", "sex"])
    task = make_task(encoding, rows.slice(0, 200), rows.slice(200), "sick")
    by_products = accuracy(task, "svm", 0)
    monkeypatch.setattr("medveil.utility.classification.MOST_AT_ONCE", 0)
    monkeypatch.setattr("medveil.utility.classification.PIECE", 7)
    assert accuracy(task, "svm", 0) == by_products
