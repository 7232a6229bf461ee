"""An engine that only counts: what works on cells is done, what goes record by record is refused with the reason."""

from dataclasses import replace

import pytest
from tests.support import make_problem

from medveil.errors import InputError
from medveil.methods import methods
from medveil.methods.mondrian import Mondrian
from medveil.methods.optimal import Optimal
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.run import Run

ROWS = {"cell_of_row", "codes", "marks", "publish_rows", "take", "texts"}
TABLE = {
    "age": [str(i % 7) for i in range(60)],
    "sex": [str(i % 2) for i in range(60)],
    "ill": [str(i * i % 3) for i in range(60)],
    "note": [str(i % 4) for i in range(60)],
}


class CountsOnly:
    """An engine whose rows nobody can reach."""

    has_rows = False

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        assert name not in ROWS, f"{name} needs rows, and this engine has none"
        return getattr(self.inner, name)


@pytest.fixture
def problem():
    models = [KAnonymity(k=3), LDiversity(l=2, attribute="ill")]
    with make_problem(TABLE, quasi=["age", "sex"], sensitive=["ill"], plain=["note"], models=models) as made:
        yield replace(made, engine=CountsOnly(made.engine))


def test_methods_that_need_rows_say_so():
    needing = {name for name, method in methods().items() if method.needs_rows}
    assert needing == {"diversity-aware", "fixed-interval", "h-ceiling"}


@pytest.mark.parametrize("name", sorted(name for name, method in methods().items() if method.needs_rows))
def test_a_method_that_needs_rows_is_refused(problem, name):
    assert "record by record" in methods()[name]().why_refused(problem)


@pytest.mark.parametrize("method", [Optimal(), Mondrian()], ids=lambda method: method.name)
def test_a_method_on_cells_publishes_without_rows(problem, method):
    assert method.why_refused(problem) is None
    draft = method.anonymize(problem, Run())
    assert draft.published.rows == 60
    assert draft.published.names == ("age", "sex", "ill", "note")


def test_asking_for_rows_all_the_same_is_an_error_in_words(problem):
    with pytest.raises(InputError, match="one by one"):
        problem.cell_of_row  # noqa: B018
