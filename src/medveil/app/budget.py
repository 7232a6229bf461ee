"""What the releases of a data set have spent, and what one more spends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medveil.errors import PolicyError
from medveil.methods.problem import Problem
from medveil.policy import DataPolicy, Policy, load_policy
from medveil.privacy.differential_privacy import DifferentialPrivacy
from medveil.release.ledger import RECORD, Account, Budget, Charge, Ledger


def ledger_of(given: Any, policy: Policy, data: Any = None) -> Ledger | None:
    """The privacy ledger of the data, beside the policy file; None where the policy is no file.

    It is called after the data's file, so that all policies of a folder share one for the same data.
    """
    if not isinstance(given, str | Path):
        return None
    named = policy.data.path if isinstance(policy.data, DataPolicy) else policy.data
    if data is not None:
        named = str(data) if isinstance(data, str | Path) else None
    return Ledger(Path(given).parent, Path(named or given).name)


def charge(policy: Policy, problem: Problem, ledger: Ledger | None) -> None:
    """Write down what a release spends before anything is drawn, also one that voids what was promised before."""
    if ledger is None:
        return
    private = [model for model in policy.privacy if isinstance(model, DifferentialPrivacy)]
    if not private:
        if ledger.there:
            ledger.charge(Charge(policy.method.name, None, guarantee=False), None)
        return
    (model,) = private
    budget = _budget(model)
    unit = (
        f"{problem.schema.subject}, at most {model.max_records_per_subject} records" if problem.schema.subject else ""
    )
    charge = Charge(policy.method.name, model.epsilon, model.delta, policy.method.guaranteed, unit or RECORD)
    ledger.charge(charge, budget)


def _budget(model: DifferentialPrivacy) -> Budget | None:
    return None if model.budget is None else Budget(model.budget, model.budget_delta, model.composition)


def budget(policy: str | Path) -> Account:
    """What all releases of a policy's data have spent."""
    checked, _ = load_policy(policy)
    ledger = ledger_of(policy, checked)
    assert ledger is not None
    return ledger.account(_budget(private_model(checked)))


def private_model(policy: Policy) -> DifferentialPrivacy:
    """The policy's demand for differential privacy."""
    private = [model for model in policy.privacy if isinstance(model, DifferentialPrivacy)]
    if len(private) != 1:
        raise PolicyError("The policy asks for no differential privacy.", "Name 'differential-privacy' in 'privacy:'.")
    return private[0]
