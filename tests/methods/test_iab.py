"""IAB and the searches it is compared with, against brute force on random tables."""

import itertools
import json
import time
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import make_problem

import medveil
from medveil.datasets import patients
from medveil.errors import CancelledError, PolicyError, UnreachableError
from medveil.methods.iab import Exhaustive, Greedy, Iab, IabFast
from medveil.methods.iab.by_cell import ByCell
from medveil.methods.iab.by_level import ByLevel
from medveil.methods.iab.by_subtree import BySubtree
from medveil.methods.iab.recoding import Moves, Nodes
from medveil.methods.iab.table import full_table
from medveil.privacy.k_anonymity import KAnonymity
from medveil.privacy.l_diversity import LDiversity
from medveil.run import Run

QUASI = ("a", "b", "c")
VALUES = "pqrst"


@st.composite
def hierarchies(draw):
    """One to two random levels over the values above the leaves; sometimes a group is called like its only leaf."""
    levels = []
    groups = {value: value for value in VALUES}
    for level in range(draw(st.integers(0, 2))):
        parents = {group: draw(st.integers(0, 2)) for group in sorted(set(groups.values()))}
        sizes = Counter(parents.values())
        names = {g: g if sizes[p] == 1 and draw(st.booleans()) else f"{level}{p}" for g, p in parents.items()}
        groups = {value: names[group] for value, group in groups.items()}
        levels.append(dict(groups))
    return levels


@st.composite
def cases(draw):
    """A table, its hierarchies and requirements, which generalizing everything meets."""
    rows = draw(st.integers(2, 14))
    text = st.sampled_from(VALUES)
    table = {name: draw(st.lists(text, min_size=rows, max_size=rows)) for name in QUASI}
    table["s"] = draw(st.lists(st.sampled_from("uv"), min_size=rows, max_size=rows))
    table["w"] = draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))
    subject = draw(st.booleans())
    people = rows
    if subject:
        table["id"] = draw(st.lists(st.sampled_from([str(i) for i in range(rows)]), min_size=rows, max_size=rows))
        people = len(set(table["id"]))
    shields = draw(st.lists(st.sets(st.sampled_from(QUASI), min_size=1), min_size=1, max_size=2))
    models = [
        KAnonymity(k=draw(st.integers(1, min(people, 4))), on=None if len(s) == 3 else tuple(sorted(s)))
        for s in shields
    ]
    return {
        "table": table,
        "quasi": QUASI,
        "sensitive": ("s",) if draw(st.booleans()) else (),
        "plain": ("w",) if draw(st.booleans()) else (),
        "subject": "id" if subject else None,
        "models": models,
        "hierarchies": {name: draw(hierarchies()) for name in QUASI},
    }


def count_slowly(case, generalized):
    """(violating rows, rows) of a table whose quasi-identifiers are published as `generalized` says, by column."""
    table = case["table"]
    columns = [*(generalized[q] for q in QUASI), *(table[name] for name in (*case["sensitive"], *case["plain"]))]
    full = list(zip(*columns, strict=True))
    who = table["id"] if case["subject"] else range(len(full))
    violating = set()
    for model in case["models"]:
        people = defaultdict(set)
        shield = model.on or QUASI
        tuples = list(zip(*(generalized[q] for q in shield), strict=True))
        for key, person in zip(tuples, who, strict=True):
            people[key].add(person)
        violating |= {row for row, key in zip(full, tuples, strict=True) if len(people[key]) < model.k}
    return len(violating), len(set(full))


def at_levels(case, problem, levels):
    found = {}
    for name, level in zip(QUASI, levels, strict=True):
        chosen = problem.hierarchies[name].levels[level]
        code_of = {value: code for code, value in enumerate(problem.cells.domains[name].values)}
        found[name] = [chosen.labels[chosen.groups[code_of[value]]] for value in case["table"][name]]
    return found


def published(case, draft):
    """The released table as `count_slowly` reads it: its rows hold nobody's id, so only records can be counted."""
    table = draft.published.to_arrow().to_pydict()
    return {**case, "table": table, "subject": None}, {name: table[name] for name in QUASI}


@settings(max_examples=40)
@given(cases())
def test_tables_by_level_are_counted_as_by_hand(case):
    with make_problem(**case) as problem:
        recoding = ByLevel(full_table(problem))
        heights = [range(problem.hierarchies[name].height + 1) for name in QUASI]
        for levels in itertools.product(*heights):
            measured = recoding.measure(levels)
            assert (measured.violating, measured.rows) == count_slowly(case, at_levels(case, problem, levels))


@settings(max_examples=40)
@given(cases())
def test_by_level_all_reach_the_optimum_that_brute_force_finds(case):
    with make_problem(**case) as problem:
        table = full_table(problem)
        recoding = ByLevel(table)
        ranges = [
            range(problem.hierarchies[name].height + 1) if position in table.shield else [0]
            for position, name in enumerate(QUASI)
        ]
        tried = [(levels, recoding.measure(levels)) for levels in itertools.product(*ranges)]
        most = max(measured.rows for _, measured in tried if measured.violating == 0)
        found = {}
        for method in (Iab(), Exhaustive(), IabFast(), Greedy()):
            draft = method.anonymize(problem, Run())
            told = found[method.name] = draft.internal["search"]
            assert (told["rows"] == most) or (method.name == "greedy" and told["rows"] <= most)
            assert told["violating_rows"] == 0
            again, columns = published(case, draft)
            assert count_slowly(again, columns)[1] == told["rows"]
            if not case["subject"]:
                assert count_slowly(again, columns)[0] == 0
        assert found["iab"]["tables_generated"] <= found["exhaustive"]["tables_generated"] == len(tried) - 1
        assert found["iab-fast"]["tables_checked"] <= len(tried)


@settings(max_examples=40)
@given(cases(), st.sampled_from(["subtree", "cell"]))
def test_iab_ends_with_as_many_rows_as_exhaustive(case, generalization):
    with make_problem(**case) as problem:
        drafts = [
            method(generalization=generalization, time_limit=2).anonymize(problem, Run())
            for method in (Iab, Exhaustive, Greedy)
        ]
        iab, exhaustive, greedy = (draft.internal["search"] for draft in drafts)
        if exhaustive["optimal"]:
            assert iab["rows"] == exhaustive["rows"]
            assert iab["tables_generated"] <= exhaustive["tables_generated"]
        assert greedy["rows"] <= iab["rows"]
        by_level = Iab().anonymize(problem, Run()).internal["search"]
        if generalization == "subtree":
            assert iab["rows"] >= by_level["rows"]
        for draft in drafts:
            again, columns = published(case, draft)
            violating, rows = count_slowly(again, columns)
            assert rows == draft.internal["search"]["rows"]
            if not case["subject"]:
                assert violating == 0


@settings(max_examples=30)
@given(cases(), st.sampled_from([BySubtree, ByCell]), st.randoms())
def test_steps_never_add_rows_and_are_counted_as_by_hand(case, kind, random):
    """A walk at random from the original up; what is published for people is counted by people."""
    with make_problem(**case) as problem:
        recoding = kind(full_table(problem))
        state = recoding.root()
        measured = recoding.measure(state)
        for _ in range(8):
            labels = recoding.labels(state, problem.cells.codes)
            of_row = problem.cell_of_row
            columns = {n: label.take(of_row).to_pylist() for n, label in zip(QUASI, labels, strict=True)}
            assert count_slowly(case, columns) == (measured.violating, measured.rows)
            steps = list(recoding.steps(state, measured, random.choice(list(Moves))))
            if not steps:
                break
            _, state = random.choice(steps)
            rows = measured.rows
            measured = recoding.measure(state)
            assert measured.rows <= rows


def test_levels_that_look_alike_are_one():
    with make_problem({"a": ["p", "q"]}, quasi=["a"], hierarchies={"a": [{"p": "p", "q": "z"}]}) as problem:
        nodes = Nodes(problem.hierarchies["a"], 2)
        assert nodes.levels[0].tolist() == [1, 0]
        assert Nodes(problem.hierarchies["a"], 0).levels[0].tolist() == [0, 0]


PEOPLE = {"a": ["p", "q", "q", "r", "r", "r"], "b": ["x"] * 6, "s": ["u", "v", "u", "v", "u", "v"]}


@pytest.mark.parametrize("method", [Iab(), Exhaustive(), Greedy(), IabFast(), Iab(generalization="cell")])
def test_more_people_than_there_are_cannot_be_asked_for(method):
    models = [KAnonymity(k=7)]
    with (
        make_problem(PEOPLE, quasi=("a", "b"), models=models) as problem,
        pytest.raises(UnreachableError, match="k = 7 cannot hold: the table has 6 people"),
    ):
        method.anonymize(problem, Run())


@pytest.mark.parametrize(
    "method", [Iab(), Exhaustive(), Greedy(), IabFast(), Iab(generalization="subtree"), Iab(generalization="cell")]
)
def test_levels_that_do_not_suffice_are_told(method):
    with (
        make_problem(PEOPLE, quasi=("a", "b"), models=[KAnonymity(k=2)], max_levels={"a": 0, "b": 1}) as problem,
        pytest.raises(UnreachableError, match=r"1 of 3 distinct rows violate.*'max_level'"),
    ):
        method.anonymize(problem, Run())


def test_levels_are_held_between_their_bounds():
    groups = {"a": [{"p": "1", "q": "1", "r": "2"}]}
    for method in (Iab(), Exhaustive(), Greedy(), IabFast(), Iab(generalization="subtree")):
        with make_problem(
            PEOPLE, quasi=("a", "b"), models=[KAnonymity(k=1)], hierarchies=groups, min_levels={"a": 1}
        ) as problem:
            draft = method.anonymize(problem, Run())
            assert set(draft.published.to_arrow()["a"].to_pylist()) == {"1", "2"}


def test_columns_outside_every_shield_stay_as_they_are():
    models = [KAnonymity(k=2, on=("a",))]
    with make_problem({**PEOPLE, "b": list("uvwxyz")}, quasi=("a", "b"), models=models) as problem:
        for method in (Iab(), Exhaustive(), Greedy(), IabFast(), Iab(generalization="cell")):
            table = method.anonymize(problem, Run()).published.to_arrow()
            assert sorted(table["b"].to_pylist()) == list("uvwxyz")


def test_other_models_are_kept_by_level_and_by_subtree():
    models = [KAnonymity(k=2), LDiversity(l=2, attribute="s")]
    with make_problem(PEOPLE, quasi=("a", "b"), sensitive=["s"], models=models) as problem:
        for method in (Iab(), Exhaustive(), IabFast(), Iab(generalization="subtree")):
            table = method.anonymize(problem, Run()).published.to_arrow()
            kinds = defaultdict(set)
            for a, b, s in zip(*(table[name].to_pylist() for name in ("a", "b", "s")), strict=True):
                kinds[a, b].add(s)
            assert all(len(values) == 2 for values in kinds.values())
        assert Iab(generalization="cell").why_not(problem) == "by cell it keeps k-anonymity only, not l-diversity"


def test_without_time_the_first_safe_table_is_taken():
    """With no time at all, violations are followed down to a safe table, and no optimum is claimed."""
    random = np.random.default_rng(3)
    table = {name: [VALUES[i] for i in random.integers(0, 5, 60)] for name in QUASI}
    groups = {name: [{v: "1" if v in "pq" else "2" for v in VALUES}] for name in QUASI}
    with make_problem(table, quasi=QUASI, models=[KAnonymity(k=5)], hierarchies=groups) as problem:
        for generalization in ("levels", "subtree", "cell"):
            draft = Iab(generalization=generalization, time_limit=1e-9).anonymize(problem, Run())
            told = draft.internal["search"]
            assert told["violating_rows"] == 0
            assert told["optimal"] is False
            sizes = Counter(zip(*(draft.published.to_arrow()[q].to_pylist() for q in QUASI), strict=True))
            assert min(sizes.values()) >= 5


@pytest.mark.parametrize("method", [Exhaustive, Greedy, Iab], ids=lambda method: method.name)
def test_the_time_limit_is_kept_by_subtree(method):
    """Few records may have more cuts than any search can see, and plateaus on which greedy strays."""
    random = np.random.default_rng(8)
    columns = tuple("abcdef")
    values = [f"{i:03b}" for i in range(8)]
    table = {name: [values[i] for i in random.permutation(8)] for name in columns}
    halves = [{v: v[:2] for v in values}, {v: v[:1] for v in values}]
    with make_problem(
        table, quasi=columns, models=[KAnonymity(k=4)], hierarchies=dict.fromkeys(columns, halves)
    ) as problem:
        started = time.process_time()
        draft = method(generalization="subtree", time_limit=0.5).anonymize(problem, Run())
        assert time.process_time() - started < 3
    assert draft.internal["search"]["violating_rows"] == 0


def test_a_search_can_be_stopped():
    with make_problem(PEOPLE, quasi=("a", "b"), models=[KAnonymity(k=2)]) as problem, pytest.raises(CancelledError):
        Iab().anonymize(problem, Run(cancelled=lambda: True))


def test_the_tree_tells_how_the_search_went():
    with make_problem(PEOPLE, quasi=("a", "b"), models=[KAnonymity(k=2)]) as problem:
        draft = Iab().anonymize(problem, Run())
        tree = draft.internal["search-tree"]
        assert tree["requirements"] == [{"model": "2-anonymity", "shield": ["a", "b"]}]
        root, *others = tree["tables"]
        assert root == {
            "table": 0,
            "parent": None,
            "generalized": None,
            "levels": {"a": 0, "b": 0},
            "violating": 1,
            "rows": 3,
            "expanded": 1,
            "solution": False,
        }
        assert len(others) == draft.internal["search"]["tables_generated"]
        (solution,) = [t for t in others if t["solution"]]
        assert (solution["violating"], solution["rows"]) == (0, draft.internal["search"]["rows"])
        assert all(tree["tables"][t["parent"]]["rows"] >= t["rows"] for t in others)
        assert tree["left_out"] == 0


def test_spaces_too_large_to_list_are_refused():
    names = [f"c{i}" for i in range(24)]
    table = {name: ["p", "q", "q", "p"] for name in names}
    with (
        make_problem(table, quasi=names, models=[KAnonymity(k=2)]) as problem,
        pytest.raises(PolicyError, match="more than can be listed"),
    ):
        IabFast().anonymize(problem, Run())


RECODED = [
    {"name": "iab"},
    {"name": "iab", "generalization": "subtree"},
    {"name": "iab", "generalization": "cell"},
    {"name": "greedy", "generalization": "subtree"},
    {"name": "exhaustive"},
    {"name": "iab-fast"},
]


@pytest.mark.parametrize("method", RECODED, ids=lambda method: "-".join(method.values()))
@pytest.mark.parametrize("subject", [True, False])
def test_the_auditor_proves_what_was_released(method, subject, tmp_path):
    """Several shields, people or records, a plain column and missing values: every claim is counted again."""
    table = patients(600, seed=5, patient_id=True).to_pydict()
    table["region"][::50] = [None] * 12
    policy = {
        "attributes": {
            "patient_id": {"role": "subject" if subject else "identifier"},
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 20, 40]}},
            "sex": {"role": "quasi"},
            "region": {"role": "quasi"},
            "surgery": {"role": "plain", "insist": True},
            "disease": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 8, "on": ["age", "sex"]},
            {"model": "k-anonymity", "k": 3, "on": ["region"]},
        ],
        "method": {**method, **({} if method["name"] == "iab-fast" else {"time_limit": 5})},
    }
    release = medveil.anonymize(table, policy, out=tmp_path / "out")
    assert [claim["holds"] for claim in release.manifest.claims] == [True, True]
    assert [claim["achieved"]["k"] >= k for claim, k in zip(release.manifest.claims, (8, 3), strict=True)] == [
        True,
        True,
    ]
    told = json.loads((tmp_path / "out" / "internal" / "search.json").read_text())
    published = release.to_arrow()
    assert told["rows"] == published.group_by(published.column_names).aggregate([]).num_rows
    leaks = json.loads((tmp_path / "out" / "internal" / "leakage.json").read_text())
    assert leaks["counted_before"] == leaks["counted_after"] == ("people" if subject else "records")
    before = {entry["attribute"]: entry["before"]["loss"] for entry in leaks["attributes"]}
    measured = medveil.leakage(table, policy)
    assert before == pytest.approx({loss.attributes[0]: loss.loss for loss in measured.singles})
    unchanged = {e["attribute"] for e in leaks["attributes"] if e["before"] == e["after"]}
    assert {"disease", "surgery"} <= unchanged


def test_the_same_policy_gives_the_same_release():
    table = patients(400, seed=6)
    for method in RECODED:
        policy = {
            "attributes": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "region": {"role": "quasi"}},
            "privacy": [{"model": "k-anonymity", "k": 3}],
            "method": {**method, **({} if method["name"] == "iab-fast" else {"time_limit": 20})},
        }
        order = np.random.default_rng(1).permutation(400)
        first, second = medveil.anonymize(table, policy), medveil.anonymize(table.take(order), policy)
        assert first.to_arrow() == second.to_arrow()
