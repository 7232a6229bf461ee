"""The figures of pycanon, a package of checks on data frames, on random complete tables.

Where its definitions are others than the papers', the difference stands at the test.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.privacy.alpha_k import AlphaKAnonymity
from medveil.privacy.beta_likeness import BetaLikeness
from medveil.privacy.delta_disclosure import DeltaDisclosure
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.privacy.t_closeness import TCloseness
from medveil.table.schema import Kind

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
anonymity = pytest.importorskip("pycanon.anonymity", reason="pycanon is not installed")

QUASI = ["age", "sex"]

records = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["10", "20", "30"]),
        "sex": st.sampled_from(["f", "m"]),
        "disease": st.sampled_from(["a", "b", "c", "d"]),
        "cost": st.sampled_from([1, 2, 5, 9]),
    }
)
rows_of_records = st.lists(records, min_size=1, max_size=30)


@pytest.fixture(scope="session")
def compared(tables):
    def compare(rows):
        as_text = [{**row, "cost": str(row["cost"])} for row in rows]
        cells = tables.cells(as_text, QUASI, ("disease", "cost"), kinds={"cost": Kind.NUMBER})
        classes, reference = tables.classes(cells), tables.reference(cells)
        return pandas.DataFrame(rows), lambda model: model.achieved(classes, reference)

    return compare


@settings(max_examples=40)
@given(rows=rows_of_records)
def test_figures_agree(compared, rows):
    frame, achieved = compared(rows)
    assert achieved(KAnonymity(k=1)) == {"k": anonymity.k_anonymity(frame, QUASI)}
    assert achieved(LDiversity(l=1, attribute="disease")) == {"l": anonymity.l_diversity(frame, QUASI, ["disease"])}
    alpha, k = anonymity.alpha_k_anonymity(frame, QUASI, ["disease"])
    assert achieved(AlphaKAnonymity(alpha=1, k=1, attribute="disease")) == pytest.approx({"alpha": alpha, "k": k})
    equal = anonymity.t_closeness(frame, QUASI, ["disease"])
    assert achieved(TCloseness(t=1, attribute="disease")) == pytest.approx({"t": equal}, abs=1e-9)
    basic = anonymity.basic_beta_likeness(frame, QUASI, ["disease"])
    found = achieved(BetaLikeness(beta=1, variant="basic", attribute="disease"))
    assert found == pytest.approx({"beta": basic}, abs=1e-9)
    # pycanon passes over the values that a class lacks
    disclosure = anonymity.delta_disclosure(frame, QUASI, ["disease"])
    found = achieved(DeltaDisclosure(delta=1, absent="ignore", attribute="disease"))
    assert found == pytest.approx({"delta": disclosure}, abs=1e-9)


@settings(max_examples=40)
@given(rows=rows_of_records.filter(lambda rows: len({row["cost"] for row in rows}) > 1))
def test_ordered_closeness_agrees(compared, rows):
    """pycanon divides by the number of values less one, so it needs two; and it takes numbers as ordered."""
    frame, achieved = compared(rows)
    expected = anonymity.t_closeness(frame, QUASI, ["cost"])
    assert achieved(TCloseness(t=1, distance="ordered", attribute="cost")) == pytest.approx({"t": expected}, abs=1e-9)


@settings(max_examples=40)
@given(rows=rows_of_records)
def test_entropy_agrees_up_to_its_rounding_down(compared, rows):
    """pycanon rounds down to a whole number, after floating point: a diversity of 3 may come out as 2."""
    frame, achieved = compared(rows)
    found = achieved(LDiversity(l=1, variant="entropy", attribute="disease"))["l"]
    whole = anonymity.entropy_l_diversity(frame, QUASI, ["disease"])
    assert whole in {math.floor(found - 1e-9), math.floor(found + 1e-9)}


@settings(max_examples=40)
@given(classes=st.lists(st.tuples(st.integers(2, 4), st.integers(1, 5)), min_size=1, max_size=6))
def test_recursive_agrees_on_even_classes(compared, classes):
    """pycanon takes the *least* frequent value as r_1, the paper the most frequent: they agree where all values of a
    class are equally frequent. Its c is the least whole number that holds.
    """
    rows = [
        {"age": str(number), "sex": "f", "disease": "abcd"[value], "cost": 1}
        for number, (values, times) in enumerate(classes)
        for value in range(values)
        for _ in range(times)
    ]
    frame, achieved = compared(rows)
    c, l = anonymity.recursive_c_l_diversity(frame, QUASI, ["disease"])  # noqa: E741
    found = achieved(LDiversity(l=l, variant="recursive", c=1, attribute="disease"))
    assert math.floor(found["c"] + 1) == c


@settings(max_examples=40)
@given(rows=rows_of_records)
def test_enhanced_likeness_is_at_least_theirs(compared, rows):
    """pycanon cuts the largest gain of the table off at the largest -log p, whichever values the two belong to. The
    paper bounds the gain of each value by its own -log p: where that can be met, the least beta is the basic one.
    """
    frame, achieved = compared(rows)
    theirs = anonymity.enhanced_beta_likeness(frame, QUASI, ["disease"])
    basic = anonymity.basic_beta_likeness(frame, QUASI, ["disease"])
    ours = achieved(BetaLikeness(beta=1, variant="enhanced", attribute="disease"))["beta"]
    assert ours >= theirs - 1e-9
    if not np.isinf(ours):
        assert ours == pytest.approx(basic, abs=1e-9)
