"""Eight people in a town of twenty, and releases of them."""

import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison
from medveil.privacy.l_diversity import LDiversity

PEOPLE = {
    "age": [20, 21, 22, 23, 30, 31, 32, 33],
    "sex": ["f", "f", "m", "m", "f", "f", "m", "m"],
    "ill": ["flu", "flu", "flu", "cold", "flu", "flu", "gout", "gout"],
}
DECADES = {str(age): f"[{age // 10 * 10}-{age // 10 * 10 + 9}]" for age in PEOPLE["age"]}


@pytest.fixture
def people():
    with make_problem(PEOPLE, quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": [DECADES]}) as problem:
        yield problem


@pytest.fixture
def release():
    """A table of labels, one list a column."""

    def make(age, sex, ill=PEOPLE["ill"]):
        return pa.table([pa.array(column, pa.string()) for column in (age, sex, ill)], names=["age", "sex", "ill"])

    return make


@pytest.fixture
def identity(people, release):
    return Comparison(people, release([str(age) for age in PEOPLE["age"]], PEOPLE["sex"]))


@pytest.fixture
def decades(people, release):
    """Four classes of two: decade and sex."""
    return Comparison(people, release([DECADES[str(age)] for age in PEOPLE["age"]], PEOPLE["sex"]))


@pytest.fixture
def starred(people, release):
    return Comparison(people, release(["*"] * 8, ["*"] * 8, ["*"] * 8))


@pytest.fixture
def diverse():
    return LDiversity(variant="distinct", l=2, attribute="ill")
