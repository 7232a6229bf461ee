"""MS(k, theta)-bounding against its definition, in people and in records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from medveil.errors import PolicyError
from medveil.privacy.ms_bounding import MSBounding

people = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from(["old", "young"]), st.sampled_from(["flu", "cold", "HIV"])),
    min_size=1,
    max_size=14,
)


@given(people, st.integers(1, 3), st.sampled_from([0.34, 0.5, 1.0]), st.sampled_from([0.2, 0.5]), st.booleans())
def test_every_value_has_its_bound(tables, rows, k, theta, rare, by_subject):
    table = [{"who": who, "age": age, "disease": disease} for who, age, disease in rows]
    if not any(row["disease"] == "HIV" for row in table):
        table.append({"who": "z", "age": "old", "disease": "HIV"})
    cells = tables.cells(table, ("age",), ("disease",), subject="who" if by_subject else None)
    classes, reference = tables.classes(cells), tables.reference(cells)
    model = MSBounding(k=k, theta=theta, values={"HIV": rare}, attribute="disease")
    verdicts, figures = [], []
    for age in dict.fromkeys(row["age"] for row in sorted(table, key=lambda row: row["age"])):
        here = [row for row in table if row["age"] == age]
        everybody = {row["who"] for row in here} if by_subject else range(len(here))
        worst = 0.0
        for disease in {row["disease"] for row in here}:
            ill = [row for row in here if row["disease"] == disease]
            share = len({row["who"] for row in ill} if by_subject else ill) / len(everybody)
            worst = max(worst, share / (rare if disease == "HIV" else theta))
        verdicts.append(len(everybody) >= k and worst <= 1 + 1e-12)
        figures.append((len(everybody), worst))
    assert sorted(model.holds(classes, reference).tolist()) == sorted(verdicts)
    achieved = model.achieved(classes, reference)
    assert achieved["k"] == min(size for size, _ in figures)
    assert achieved["of_bound"] == pytest.approx(max(worst for _, worst in figures))


def test_a_bound_of_a_value_that_does_not_occur_is_a_slip(tables):
    cells = tables.cells([{"age": "old", "disease": "flu"}], ("age",), ("disease",))
    model = MSBounding(k=1, values={"HVI": 0.1}, attribute="disease")
    with pytest.raises(PolicyError, match="does not occur"):
        model.holds(tables.classes(cells), tables.reference(cells))


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"k": 2, "theta": 0}, {"k": 2, "theta": 1.2}, {"k": 2, "values": {"a": 0}}]
)
def test_bounds_are_shares(wrong):
    with pytest.raises(ValidationError):
        MSBounding(**wrong)


def test_what_it_is_called_and_when_it_absorbs():
    assert MSBounding(k=3, theta=0.5, attribute="disease").summary() == "MS(3,0.5)-bounding of disease"
    assert MSBounding(k=3, theta=0.5, values={"a": 0.1}).summary() == "MS(3,0.5*)-bounding"
    assert MSBounding(k=3).absorbing
    assert not MSBounding(k=3, values={"a": 0.1}).absorbing
