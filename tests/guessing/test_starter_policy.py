from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from medveil.guessing.column_profile import profile
from medveil.guessing.guess import Guess, guess
from medveil.guessing.starter_policy import one_subject, quote, starter_policy
from medveil.hierarchy.dates import Dates
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.mask import Mask
from medveil.hierarchy.propose import ColumnFacts, propose
from medveil.table.schema import Kind, Role

SPECIFICATIONS = {"dates": Dates, "intervals": Intervals, "mask": Mask}
TABLE = {
    "patient_id": [str(1000 + i % 60) for i in range(100)],
    "ID": [str(1000 + i % 60) for i in range(100)],
    "no": ["a", "b"] * 50,
    "born": [f"19{i % 60 + 20}-01-02" for i in range(100)],
    "zip": [f"0{i % 7}115" for i in range(100)],
    "age": [str(i) for i in range(100)],
    "weight: kg": [f"{40 + i / 2}" for i in range(100)],
    "disease": ["flu", "gout"] * 50,
    "income": [str(1000 * (i % 9)) for i in range(100)],
    "notes": [f"She said that her neighbour number {i} had the same" for i in range(100)],
}


def read(text):
    return YAML(typ="safe", pure=True).load(text)


@pytest.fixture
def policy():
    return starter_policy(
        "data/patients 1.csv", [(name, guess(profile(name, values))) for name, values in TABLE.items()]
    )


def test_it_reads_back_with_every_column_once(policy):
    read_back = read(policy)
    assert read_back["data"] == "data/patients 1.csv"
    assert list(read_back["attributes"]) == list(TABLE)
    assert read_back["method"] == {"name": "optimal", "suppression": 0.02}
    assert read_back["output"] == {"format": "csv"}


def test_roles_types_and_hierarchies(policy):
    attributes = read(policy)["attributes"]
    assert attributes["patient_id"] == {"role": "subject"}
    assert attributes["ID"] == {"role": "identifier"}
    assert attributes["notes"] == {"role": "identifier"}
    assert attributes["no"] == {"role": "quasi", "type": "category"}
    assert attributes["zip"] == {
        "role": "quasi",
        "type": "code",
        "hierarchy": {"type": "mask", "length": 5},
        "min_level": 2,
    }
    assert attributes["age"]["hierarchy"]["top"] == 90
    assert attributes["disease"] == {"role": "sensitive", "type": "category"}
    assert attributes["income"] == {"role": "sensitive", "type": "number"}


def test_every_proposed_hierarchy_is_one(policy):
    proposed = [a["hierarchy"] for a in read(policy)["attributes"].values() if "hierarchy" in a]
    assert {hierarchy["type"] for hierarchy in proposed} == {"dates", "intervals", "mask"}
    for hierarchy in proposed:
        SPECIFICATIONS[hierarchy["type"]].model_validate(hierarchy)


def test_one_goal_stands_and_the_others_are_comments(policy):
    privacy = read(policy)["privacy"]
    assert privacy == [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "disease"},
    ]
    assert "# - {model: l-diversity, variant: distinct, l: 2, attribute: income}" in policy


def test_reasons_stand_above_their_columns(policy):
    lines = policy.splitlines()
    assert "HIPAA identifier B" in " ".join(
        lines[: lines.index(next(line for line in lines if line.startswith("  zip:")))]
    )
    assert all(len(line) <= 120 for line in lines if line.lstrip().startswith("#"))


def test_without_sensitive_columns_and_with_too_many_quasi_identifiers():
    plain = Guess(Kind.CATEGORY, Role.QUASI, "By caution.")
    policy = starter_policy("p.csv", [(f"q{i}", plain) for i in range(13)])
    assert "There are 13 quasi-identifiers" in policy
    assert "There is no sensitive column" in policy
    assert read(policy)["privacy"] == [{"model": "k-anonymity", "k": 5}]
    assert read(starter_policy("p.csv", []))["attributes"] == {}


def test_the_subject_is_the_column_whose_name_vouches_for_it():
    bare, named = (
        Guess(Kind.CODE, Role.SUBJECT, "An id.", concept="key"),
        Guess(Kind.CODE, Role.SUBJECT, "A.", concept="record"),
    )
    assert [g.role for _, g in one_subject([("id", bare), ("patient_id", named)])] == [Role.IDENTIFIER, Role.SUBJECT]
    assert [g.role for _, g in one_subject([("id", bare)])] == [Role.SUBJECT]


@given(st.text(min_size=1))
def test_any_name_survives_yaml(name):
    assert read(f"{quote(name)}: {{attribute: {quote(name)}}}") == {name: {"attribute": name}}


@pytest.mark.parametrize(
    "name", ["yes", "No", "ON", "null", "~", "1e3", "0x1", ".5", "2020-01-01", "<<", "=", "- a", "a#b", "NaN"]
)
def test_names_that_yaml_would_misread(name):
    assert read(f"{quote(name)}: 1") == {name: 1}


@given(
    low=st.floats(-1e9, 1e9),
    span=st.floats(0, 1e9),
    whole=st.booleans(),
)
def test_any_number_column_gets_a_valid_proposal_or_none(low, span, whole):
    facts = ColumnFacts(Kind.NUMBER, 50, low, low + span, whole, frozenset({1}), frozenset("12"))
    hierarchy = propose(facts, declare_domain=False)
    if hierarchy is not None:
        column = Guess(Kind.NUMBER, Role.QUASI, "By caution.", hierarchy=hierarchy)
        text = starter_policy("p.csv", [("q", column)])
        widths = Intervals.model_validate(read(text)["attributes"]["q"]["hierarchy"]).widths
        assert widths is not None
        assert widths[0] * 20 >= span * (1 - 1e-9)


def test_a_name_of_any_length_reads_back():
    """YAML takes a key of more than 1,024 characters only where it is said to be one."""
    name = "x" * 10_000
    text = starter_policy("data.csv", [(name, guess(profile(name, ["a", "b"])))])
    assert list(read(text)["attributes"]) == [name]
