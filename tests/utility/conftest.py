"""Six people and two releases of them, small enough to compute by hand."""

import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison

PEOPLE = {
    "age": [20, 25, 31, 38, 44, 49],
    "sex": ["f", "m", "f", "m", "f", "m"],
    "ill": ["flu", "flu", "cold", "flu", "cold", "gout"],
}
HIERARCHIES = {
    "age": [
        {"20": "[20-29]", "25": "[20-29]", "31": "[30-39]", "38": "[30-39]", "44": "[40-49]", "49": "[40-49]"},
    ],
}


@pytest.fixture
def people():
    with make_problem(PEOPLE, quasi=["age", "sex"], sensitive=["ill"], hierarchies=HIERARCHIES) as problem:
        yield problem


@pytest.fixture
def compared(people):
    """A comparison of the six with a table of labels, one list a column."""

    def compare(age, sex, ill, **options):
        table = pa.table([pa.array(column, pa.string()) for column in (age, sex, ill)], names=["age", "sex", "ill"])
        return Comparison(people, table, **options)

    return compare


@pytest.fixture
def generalized(compared):
    """Two classes of two; the last two people are suppressed."""
    return compared(["[20-29]"] * 2 + ["[30-39]"] * 2, ["*"] * 4, ["flu", "flu", "cold", "flu"])


@pytest.fixture
def identity(compared):
    return compared([str(age) for age in PEOPLE["age"]], PEOPLE["sex"], PEOPLE["ill"])


@pytest.fixture
def starred(compared):
    """Everything is suppressed, and kept as rows of `*`."""
    return compared(["*"] * 6, ["*"] * 6, ["*"] * 6)
