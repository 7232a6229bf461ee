"""Leakage against its definition over people; sets against trying all; what a prior and a subject change."""

import itertools
import json
import math
from collections import Counter as Tally
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import make_problem

import medveil
from medveil.engine.links import Links
from medveil.errors import InputError, PolicyError
from medveil.risk.leakage import leakage_of
from medveil.risk.leakage_count import Counter
from medveil.risk.leakage_entries import make_entries
from medveil.risk.leakage_release import before_and_after
from medveil.risk.leakage_sets import Explorer

NAMES = ("a", "b", "c", "d")


@st.composite
def records(draw, *, subject=None, weighted=None):
    """Records of four small columns, and perhaps whose they are and how likely each person is the target."""
    rows = draw(st.integers(1, 25))
    sizes = [draw(st.integers(1, 4)) for _ in NAMES]
    codes = [draw(st.lists(st.integers(0, s - 1), min_size=rows, max_size=rows)) for s in sizes]
    has_subject = draw(st.booleans()) if subject is None else subject
    person = None
    if has_subject:
        drawn = draw(st.lists(st.integers(0, 7), min_size=rows, max_size=rows))
        number = {who: i for i, who in enumerate(dict.fromkeys(drawn))}
        person = [number[who] for who in drawn]
    weights = None
    if draw(st.booleans()) if weighted is None else weighted:
        people = rows if person is None else max(person) + 1
        of_person = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=people, max_size=people))
        of_person[0] = 1.0
        weights = [of_person[who] for who in (person or range(rows))]
    return {"sizes": sizes, "codes": codes, "person": person, "weights": weights}


def entries_from(case):
    return make_entries(
        NAMES,
        np.array(case["codes"], dtype=np.int32),
        case["sizes"],
        np.ones(len(case["codes"][0]), dtype=np.int64),
        person=None if case["person"] is None else np.array(case["person"], dtype=np.int32),
        weights=None if case["weights"] is None else np.array(case["weights"]),
    )


def entropy(shares):
    return -sum(p * math.log2(p) for p in shares if p > 0)


def slow_loss(case, positions):
    """Proposition 2 over people, the sum over values of p(E_j) (S_0 - S_j): values, loss, S_0, people alone."""
    rows = len(case["codes"][0])
    person = case["person"] or list(range(rows))
    weights = case["weights"] or [1.0] * rows
    likely = dict(zip(person, weights, strict=True))
    total = sum(likely.values())
    shown = Tally(person)
    joint = defaultdict(lambda: defaultdict(float))
    for row, who in enumerate(person):
        value = tuple(case["codes"][p][row] for p in positions)
        joint[value][who] += likely[who] / total / shown[who]
    initial = entropy([weight / total for weight in likely.values()])
    loss = 0.0
    for people in joint.values():
        share = sum(people.values())
        if share > 0:
            loss += share * (initial - entropy([p / share for p in people.values()]))
    alone = {next(iter(people)) for people in joint.values() if len(people) == 1}
    return len(joint), loss, initial, len(alone)


@given(records())
def test_every_set_leaks_what_the_definition_says(case):
    entries = entries_from(case)
    counter = Counter(entries)
    for size in range(1, 5):
        for positions in itertools.combinations(range(4), size):
            values, loss, initial, alone = slow_loss(case, positions)
            found = counter.divide(positions)
            assert entries.initial == pytest.approx(initial, abs=1e-9)
            assert found.loss == pytest.approx(loss, abs=1e-9)
            assert (found.values, found.unique) == (values, alone)
            assert 0 <= found.loss <= entries.initial


@given(records())
def test_leakage_grows_with_attributes_by_at_most_their_entropy(case):
    counter = Counter(entries_from(case))
    known = {p: counter.divide(p) for size in (1, 2, 3, 4) for p in itertools.combinations(range(4), size)}
    for positions, division in known.items():
        for more in set(range(4)) - set(positions):
            larger = known[tuple(sorted((*positions, more)))]
            assert larger.loss >= division.loss - 1e-9
            assert larger.loss <= division.loss + known[more,].entropy + 1e-9
            assert larger.unique >= division.unique
            if case["person"] is None:
                assert larger.loss <= division.loss + known[more,].loss + 1e-9


def test_with_several_records_a_person_a_set_may_leak_more_than_its_parts():
    """Each of two people shows either value of each attribute as often; together the two give them away."""
    entries = make_entries(
        ("a", "b"),
        np.array([[0, 1, 0, 1], [0, 1, 1, 0]], dtype=np.int32),
        (2, 2),
        np.ones(4, dtype=np.int64),
        person=np.array([0, 0, 1, 1], dtype=np.int32),
    )
    counter = Counter(entries)
    assert counter.divide((0,)).loss == counter.divide((1,)).loss == 0
    assert counter.divide((0, 1)).loss == 1
    assert [loss.attributes for loss in leakage_of(entries, up_to=2, top=1).sets] == [("a", "b")]


@given(records(), st.integers(2, 4), st.integers(1, 6))
def test_the_top_sets_are_those_that_trying_all_finds(case, up_to, number):
    entries = entries_from(case)
    found = leakage_of(entries, up_to=up_to, top=number)
    every = leakage_of(entries, up_to=up_to)
    assert len(every.sets) == every.examined == every.possible == sum(math.comb(4, s) for s in range(1, up_to + 1))
    assert [s.loss for s in found.sets] == pytest.approx([s.loss for s in every.sets[:number]], abs=1e-9)
    assert found.examined <= every.examined


@given(records(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]))
def test_the_smallest_set_that_makes_people_unique_is_the_one_that_trying_all_finds(case, share):
    entries = entries_from(case)
    found = leakage_of(entries, unique=share).smallest
    every = leakage_of(entries, up_to=4).sets
    enough = [s for s in every if s.unique > share]
    if not enough:
        assert found is None
        return
    size = min(len(s.attributes) for s in enough)
    assert len(found.attributes) == size
    assert found.unique == max(s.unique for s in enough if len(s.attributes) == size)


@given(records(subject=False, weighted=False), st.randoms())
def test_the_order_of_records_and_how_they_are_counted_change_nothing(case, random):
    order = list(range(len(case["codes"][0])))
    random.shuffle(order)
    codes = np.array(case["codes"], dtype=np.int32)
    one = leakage_of(entries_from(case), up_to=3)
    tuples, counts = np.unique(codes[:, order], axis=1, return_counts=True)
    assert leakage_of(make_entries(NAMES, tuples, case["sizes"], counts), up_to=3) == one


@given(records(subject=False, weighted=False))
def test_equal_weights_are_no_weights_and_one_record_a_person_is_no_subject(case):
    rows = len(case["codes"][0])
    plain = leakage_of(entries_from(case))
    weighted = leakage_of(entries_from({**case, "weights": [2.5] * rows}))
    people = leakage_of(entries_from({**case, "person": list(range(rows))}))
    for other in (weighted, people):
        assert {s.attributes: pytest.approx(s.loss, abs=1e-9) for s in plain} == {s.attributes: s.loss for s in other}
        assert [s.unique for s in plain.singles] == [plain[s.attributes].unique for s in plain.singles]


def test_twenty_visits_of_one_patient_are_one_patient():
    table = {"id": ["1"] * 20 + ["2", "3"], "sex": ["F"] * 20 + ["M", "F"]}
    once = medveil.leakage({"id": ["1", "2", "3"], "sex": ["F", "M", "F"]}, subject="id", columns=["sex"])
    often = medveil.leakage(table, subject="id", columns=["sex"])
    assert often["sex"].loss == pytest.approx(once["sex"].loss)
    assert (often.people, often.counted) == (3, "people")
    assert medveil.leakage(table, columns=["sex"]).people == 22


def test_an_attacker_who_has_ruled_people_out_learns_less_from_what_they_share():
    """Sex tells nothing once all men are ruled out, and everything where one man and one woman are left."""
    table = {"sex": ["F", "F", "M", "M"], "w": ["1", "1", "0", "0"], "v": ["0", "1", "1", "0"]}
    assert medveil.leakage(table, prior="w")["sex"].loss == 0
    assert medveil.leakage(table, prior="v")["sex"].normalized == 1


def test_one_person_has_nothing_left_to_leak():
    found = medveil.leakage({"a": ["1"], "b": ["2"]}, up_to=2, unique=0.5)
    assert found.initial == 0
    assert {loss.normalized for loss in found} == {0.0}
    assert found.smallest.attributes == ("a",)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"columns": ["agee"]}, InputError, "Did you mean 'age'"),
        ({"subject": "nobody"}, InputError, "no column 'nobody'"),
        ({"prior": "sex"}, InputError, "2 of the 2 distinct values of the prior 'sex'"),
        ({"prior": "none"}, InputError, "1 of the 1 distinct values of the prior 'none'"),
        ({"prior": "zero"}, InputError, "add up to nothing"),
        ({"prior": "age", "subject": "sex"}, InputError, "1 people have several prior weights"),
        ({"unique": 1.0}, PolicyError, "from 0 to below 1"),
    ],
)
def test_bad_input_is_told(options, error, words):
    table = {
        "age": ["1", "2", "3"],
        "sex": ["F", "F", "M"],
        "zero": ["0"] * 3,
        "none": pa.array([None] * 3, pa.string()),
    }
    with pytest.raises(error, match=words) as told:
        medveil.leakage(table, **options)
    assert told.value.exit_code == 2


def test_too_many_sets_are_refused():
    table = {f"c{i}": ["1", "2"] for i in range(40)}
    with pytest.raises(PolicyError, match="Name fewer columns"):
        medveil.leakage(table, columns=list(table), up_to=6)


def test_a_policy_tells_what_to_measure(tmp_path):
    (tmp_path / "d.csv").write_text("id,name,age,sex,ill\n1,x,30,F,no\n1,x,31,F,no\n2,y,40,M,no\n3,z,50,M,yes\n")
    (tmp_path / "p.yaml").write_text(
        "data: d.csv\nattributes:\n  id: {role: subject}\n  name: {role: identifier}\n  age: {role: quasi}\n"
        "  sex: {role: quasi}\n  ill: {role: sensitive}\nprivacy: [{model: k-anonymity, k: 2}]\n"
    )
    found = medveil.leakage(tmp_path / "p.yaml", up_to=2)
    assert {loss.attributes for loss in found.singles} == {("age",), ("sex",), ("ill",)}
    assert {loss.attributes for loss in found.sets} == {("age",), ("sex",), ("age", "sex")}
    assert (found.people, found.counted) == (3, "people")
    assert found["age"].normalized == pytest.approx(1)
    assert medveil.leakage(tmp_path / "d.csv").people == 4


def test_json_has_the_four_figures_and_more_only_where_asked():
    table = {"a": list("xxy"), "b": list("uvw")}
    plain = medveil.leakage(table, columns=["a", "b"], up_to=2)
    assert [set(entry) for entry in plain.to_list()] == [{"attributes", "values", "loss", "normalized"}] * 3
    asked = medveil.leakage(table, columns=["a", "b"], unique=0.5).to_list()
    assert [entry["attributes"] for entry in asked if entry["smallest"]] == [["b"]]
    json.dumps(asked)


def test_the_same_division_whichever_way_it_is_counted(monkeypatch):
    """By a counter for each combination, or by rank from a part of the set."""
    random = np.random.default_rng(5)
    names, sizes = [str(i) for i in range(5)], (6,) * 5
    entries = make_entries(names, random.integers(0, 6, (5, 400)).astype(np.int32), sizes, np.ones(400, dtype=np.int64))
    direct = leakage_of(entries, up_to=5)
    monkeypatch.setattr("medveil.risk.leakage_count.DIRECT", 0)
    monkeypatch.setattr("medveil.risk.leakage_count.PER_ENTRY", 0)
    assert leakage_of(entries, up_to=5) == direct


@pytest.mark.parametrize("seed", range(4))
def test_few_sets_need_counting(seed):
    """Far more people than combinations of four values: bounds from pairs rule most sets out."""
    random = np.random.default_rng(seed)
    sizes = (12, 3, 4, 8, 10, 6, 2, 7, 5)
    codes = np.stack([random.integers(0, size, 30_000) for size in sizes]).astype(np.int32)
    entries = make_entries([str(i) for i in range(9)], codes, sizes, np.ones(30_000, dtype=np.int64))
    found = leakage_of(entries, up_to=4, top=10)
    explorer = Explorer(Counter(entries), range(9))
    assert [s.attributes for s in found.sets] == [tuple(map(str, s)) for s in explorer.all(4)[:10]]
    assert found.possible == 255
    assert found.examined < 255 / 2


def test_before_and_after_a_release_with_a_subject_counts_people():
    table = {
        "id": ["1", "1", "2", "3", "4"],
        "a": ["p", "q", "q", "r", "r"],
        "s": ["u", "u", "v", "u", "v"],
        "w": ["1", "2", "2", "1", "1"],
    }
    with make_problem(table, quasi=["a"], sensitive=["s"], plain=["w"], subject="id") as problem:
        published = pa.table({"a": ["*"] * 4, "s": ["u", "u", "v", "u"], "w": ["1", "2", "2", "1"]})
        labels = pa.table({"a": ["*"] * 5, "s": ["u", "u", "v", "u", "v"]})
        links = Links(np.array([True, True, True, True, False]), labels)
        told = before_and_after(problem, published, links)
        assert (told["number_before"], told["number_after"], told["counted_after"]) == (4, 3, "people")
        by_name = {entry["attribute"]: entry for entry in told["attributes"]}
        assert by_name["a"]["after"] == {"values": 1, "loss": 0.0, "normalized": 0.0, "unique": 0.0}
        assert by_name["a"]["before"]["loss"] == pytest.approx(
            slow_loss({"codes": [[0, 1, 1, 2, 2]], "person": [0, 0, 1, 2, 3], "weights": None}, (0,))[1]
        )
        assert by_name["w"]["after"]["loss"] == pytest.approx(
            slow_loss({"codes": [[0, 1, 1, 0]], "person": [0, 0, 1, 2], "weights": None}, (0,))[1]
        )
        assert told["all_quasi_identifiers"]["after"]["loss"] == 0
        assert by_name["w"]["before"]["loss"] == pytest.approx(
            slow_loss({"codes": [[0, 1, 1, 0, 0]], "person": [0, 0, 1, 2, 3], "weights": None}, (0,))[1]
        )
        without = before_and_after(problem, published)
        assert (without["counted_after"], without["number_after"]) == ("records", 4)


def test_before_a_release_a_missing_value_of_a_plain_column_is_a_value_of_its_own():
    table = {"a": ["p"] * 4, "w": ["1", None, None, "2"]}
    with make_problem(table, quasi=["a"], plain=["w"]) as problem:
        told = before_and_after(problem, pa.table(table))
    (found,) = [entry for entry in told["attributes"] if entry["attribute"] == "w"]
    slow = slow_loss({"codes": [[0, 1, 1, 2]], "person": None, "weights": None}, (0,))[1]
    assert found["before"] == found["after"]
    assert found["before"]["loss"] == pytest.approx(slow)
    assert (found["before"]["values"], found["before"]["unique"]) == (3, 0.5)
