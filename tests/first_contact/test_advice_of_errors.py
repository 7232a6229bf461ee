"""Who follows the advice of an error gets a release. Every file that says that a goal cannot be met has a case."""

import ast
import copy
import re
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import medveil

ROOT = Path(medveil.__file__).parent
RANDOM = np.random.default_rng(0)
ILL = pd.DataFrame({"age": RANDOM.integers(0, 90, 60), "ill": RANDOM.choice(list("abcdef"), 60)})
TWO_AGES = pd.DataFrame({"age": [1] * 9 + [2]})
AGE = {"role": "quasi", "type": "number"}
WITH_ILL = {"age": AGE, "ill": {"role": "sensitive"}}
AS_IT_IS = {"age": {**AGE, "max_level": 0}}
FOLLOWED = {
    "app/alert.py",
    "lattice/search.py",
    "methods/diversity_aware/caps.py",
    "methods/diversity_aware/publishing.py",
    "methods/fixed_interval/intervals.py",
    "methods/fixed_interval/making.py",
    "methods/h_ceiling/method.py",
    "methods/iab/methods.py",
    "methods/iack.py",
    "methods/mondrian/partition.py",
    "release/ledger.py",
}
ELSEWHERE = {"app/demo.py", "app/linking.py", "app/sets.py", "methods/relocation.py", "methods/sets/recoding.py"}
"""Those whose goals a policy of one table does not set, and one that gives no figure to ask for."""


def k(number):
    return {"model": "k-anonymity", "k": number}


def diversity(number):
    return {"model": "l-diversity", "variant": "distinct", "l": number}


def closeness(number):
    return {"model": "t-closeness", "t": number}


def told(pattern, error):
    """What the error says, as a number or a text."""
    found = re.search(pattern, str(error))
    assert found is not None, str(error)
    return found[1]


def set_model(position, key, pattern, kind=int):
    def follow(policy, error):
        policy["privacy"][position][key] = kind(told(pattern, error))

    return follow


def set_method(**patterns):
    def follow(policy, error):
        given = (
            policy["method"] if isinstance(policy.get("method"), dict) else {"name": policy.get("method", "optimal")}
        )
        policy["method"] = {**given, **{key: float(told(pattern, error)) for key, pattern in patterns.items()}}

    return follow


def higher_levels(policy, error):
    assert "levels" in str(error)
    policy["attributes"]["age"].pop("max_level")


def spread_evenly(policy, error):
    policy["privacy"][0]["k"] = int(told(r"A k of (\d+) is sure", error))
    policy["method"] = {"name": "diversity-aware", "caps": "both", "sizes": "equal"}


def use_optimal(policy, error):
    assert "se the method 'optimal'" in str(error)
    policy["method"] = "optimal"


def use_optimal_for_less(policy, error):
    policy["privacy"][1]["l"] = int(told(r"reach l (\d+)", error))
    use_optimal(policy, error)


def set_alpha(policy, error):
    policy["method"]["alpha"] = told(r"'alpha: ([\d/]+)'", error)


def minimize_excess(policy, error):
    assert "'excess: minimize'" in str(error)
    policy["method"]["excess"] = "minimize"


def no_alpha(policy, error):
    assert "leave alpha out" in str(error)
    policy["method"].pop("alpha")


def allow_leakage(policy, error):
    policy["leakage"]["most"] = float(told(r"still leak ([\d.]+) of", error)) + 0.001


CASES = {
    "suppression": (TWO_AGES, AS_IT_IS, [k(2)], "optimal", set_method(suppression=r"'suppression' to ([\d.]+)")),
    "reached": (pd.DataFrame({"age": range(9)}), AS_IT_IS, [k(2)], "optimal", set_model(0, "k", r"\(k = (\d+)\)")),
    "levels": (pd.DataFrame({"age": range(9)}), AS_IT_IS, [k(2)], "optimal", higher_levels),
    "mondrian, reached": (TWO_AGES, {"age": AGE}, [k(50)], "mondrian", set_model(0, "k", r"reached is k = (\d+)")),
    "mondrian, levels": (TWO_AGES, AS_IT_IS, [k(2)], "mondrian", higher_levels),
    "fixed-interval, reached": (ILL, WITH_ILL, [k(2), diversity(9)], "fixed-interval", set_model(1, "l", r"l = (\d+)")),
    "fixed-interval, no numbers": (
        pd.DataFrame({"age": [1, 2] + [None] * 18, "sex": list("fm") * 10}),
        {"age": AGE, "sex": {"role": "quasi"}},
        [k(5)],
        "fixed-interval",
        set_model(0, "k", r"Only (\d+) of the people"),
    ),
    "iack": (
        pd.DataFrame({"age": [1] * 18 + [2, 3], "ill": list("ab") * 10}),
        {**AS_IT_IS, "ill": {"role": "sensitive"}},
        [k(2)],
        {"name": "iack"},
        set_method(suppression=r"'suppression: ([\d.]+)'"),
    ),
    "diversity-aware, t": (ILL, WITH_ILL, [k(3), closeness(0.3)], "diversity-aware", spread_evenly),
    "diversity-aware, both caps, t": (
        ILL,
        WITH_ILL,
        [k(3), closeness(0.3)],
        {"name": "diversity-aware", "caps": "both"},
        spread_evenly,
    ),
    "diversity-aware, l": (ILL, WITH_ILL, [k(3), diversity(4)], "diversity-aware", use_optimal),
    "diversity-aware, too many values": (ILL, WITH_ILL, [k(3), diversity(9)], "diversity-aware", use_optimal_for_less),
    "diversity-aware, k": (ILL, WITH_ILL, [k(100)], "diversity-aware", set_model(0, "k", r"a k up to (\d+)")),
    "diversity-aware, alpha": (ILL, WITH_ILL, [k(5)], {"name": "diversity-aware", "alpha": 1.0}, set_alpha),
    "diversity-aware, no alpha": (ILL, WITH_ILL, [k(5)], {"name": "diversity-aware", "alpha": 1.0}, no_alpha),
    "diversity-aware, excess": (ILL, WITH_ILL, [k(5)], {"name": "diversity-aware", "alpha": 1.0}, minimize_excess),
    "h-ceiling, models": (ILL, WITH_ILL, [k(3), diversity(9)], "h-ceiling", use_optimal_for_less),
    "h-ceiling, h": (
        ILL,
        WITH_ILL,
        [k(3)],
        {"name": "h-ceiling", "h": 0.0001},
        set_method(h=r"With h ([\d.]+) it works"),
    ),
    "h-ceiling as published, h": (
        ILL,
        WITH_ILL,
        [k(3)],
        {"name": "h-ceiling", "h": 0.0001, "protection": "published"},
        set_method(h=r"With h ([\d.]+) it works"),
    ),
    "iab, k": (TWO_AGES, {"age": AGE}, [k(50)], "iab", set_model(0, "k", r"k of at most (\d+)")),
    "iab, levels": (TWO_AGES, AS_IT_IS, [k(2)], "iab", higher_levels),
}


def released(frame, policy):
    return medveil.anonymize(frame, {"output": {"report": False}, "evaluation": {"advice": False}, **policy})


def place_of(error):
    """The file of medveil that raised an error."""
    inside = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    return next(path for path in reversed(inside) if path.is_relative_to(ROOT)).relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_a_release(name):
    frame, attributes, privacy, method, follow = CASES[name]
    policy = copy.deepcopy({"attributes": attributes, "privacy": privacy, "method": method})
    with pytest.raises(medveil.UnreachableError) as caught:
        released(frame, policy)
    assert place_of(caught.value) in FOLLOWED
    follow(policy, caught.value)
    assert released(frame, policy).manifest.rows["published"] > 0


def test_who_allows_the_leakage_that_is_told_gets_a_release():
    frame = pd.DataFrame({"age": [1, 1, 2, 2]})
    policy = {"attributes": {"age": AGE}, "privacy": [k(2)], "leakage": {"most": 0.1}}
    with pytest.raises(medveil.UnreachableError) as caught:
        released(frame, policy)
    allow_leakage(policy, caught.value)
    assert released(frame, policy).manifest.rows["published"] == 4


def test_who_asks_for_what_is_left_of_a_budget_gets_a_release(tmp_path):
    def policy(epsilon):
        return {
            "attributes": {
                "age": {"role": "quasi", "domain": {"range": [0, 9]}},
                "ill": {"role": "sensitive", "domain": list("abcdef")},
            },
            "privacy": [{"model": "differential-privacy", "epsilon": epsilon, "budget": 1.5}],
            "method": "dp-histogram",
            "output": {"report": False},
        }

    medveil.anonymize(ILL, policy(1.0), ledger=tmp_path / "ledger.json")
    with pytest.raises(medveil.UnreachableError) as caught:
        medveil.anonymize(ILL, policy(1.0), ledger=tmp_path / "ledger.json")
    left = float(told(r"of epsilon ([\d.]+) are spent", caught.value)) - float(
        told(r"([\d.]+) of epsilon", caught.value)
    )
    medveil.anonymize(ILL, policy(left), ledger=tmp_path / "ledger.json")


def test_who_names_a_catch_all_for_missing_values_gets_a_release(tmp_path):
    (tmp_path / "jobs.csv").write_text("nurse;care;*\ndoctor;care;*\n")
    (tmp_path / "data.csv").write_text("job\nnurse\ncook\nnurse\ncook\n")
    hierarchy = {"type": "file", "path": str(tmp_path / "jobs.csv")}
    policy = {
        "data": str(tmp_path / "data.csv"),
        "attributes": {"job": {"role": "quasi", "hierarchy": hierarchy}},
        "privacy": [k(2)],
    }
    with pytest.raises(medveil.InputError, match="'other:'"):
        released(None, policy)
    hierarchy["other"] = "something else"
    assert released(None, policy).manifest.rows["published"] == 4


def test_every_place_that_refuses_a_goal_has_a_case():
    """A new error that says how close one gets needs somebody who follows it."""
    raising = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UnreachableError"
    }
    assert raising == FOLLOWED | ELSEWHERE
