from __future__ import annotations

import pytest
from pydantic import ValidationError

from medveil.errors import PolicyError
from medveil.policy import load_policy
from medveil.privacy.differential_privacy import DifferentialPrivacy

ATTRIBUTES = {"age": {"role": "quasi", "domain": {"range": [0, 9]}}, "ill": {"role": "sensitive", "domain": ["a", "b"]}}


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), "much"])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValidationError):
        DifferentialPrivacy(epsilon=epsilon)


def test_the_policy_says_where_epsilon_is_wrong():
    content = {
        "attributes": ATTRIBUTES,
        "privacy": [{"model": "differential-privacy", "epsilon": 0}],
        "method": "ipa",
    }
    with pytest.raises(PolicyError, match=r"privacy.0.epsilon.*greater than 0"):
        load_policy(content)


def test_a_seed_is_refused():
    content = {
        "attributes": ATTRIBUTES,
        "privacy": [{"model": "differential-privacy", "epsilon": 1}],
        "method": "ipa",
        "seed": 3,
    }
    with pytest.raises(PolicyError, match="remove 'seed'"):
        load_policy(content)


def test_what_contradicts_itself_is_refused():
    with pytest.raises(ValidationError, match="knows no limits"):
        DifferentialPrivacy(epsilon=1, on=("age",))
    with pytest.raises(ValidationError, match="budget_delta"):
        DifferentialPrivacy(epsilon=1, budget=3, composition="zcdp")
    with pytest.raises(ValidationError):
        DifferentialPrivacy(epsilon=1, max_records_per_subject=0)
    with pytest.raises(ValidationError):
        DifferentialPrivacy(epsilon=1, delta=1)


def test_no_table_has_it_by_itself():
    with pytest.raises(PolicyError, match="how a table is made"):
        DifferentialPrivacy(epsilon=1).holds(None, None)
    with pytest.raises(PolicyError, match="ipa"):
        DifferentialPrivacy(epsilon=1).achieved(None, None)


def test_what_it_says():
    assert DifferentialPrivacy(epsilon=0.5).summary() == "differential privacy with epsilon 0.5"
    model = DifferentialPrivacy(epsilon=1, delta=1e-6)
    assert model.summary() == "differential privacy with epsilon 1, delta 1e-06"
    assert model.required == {"epsilon": 1.0, "delta": 1e-6}
