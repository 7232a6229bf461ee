"""What the releases of a data set have spent, and what one more spends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medveil.errors import PolicyError
from medveil.methods.problem import Problem
from medveil.policy import DataPolicy, Policy, load_policy
from medveil.privacy.model import Spending
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
    private = [model.spends for model in policy.privacy if model.spends is not None]
    if not private:
        if ledger.there:
            ledger.charge(Charge(policy.method.name, None, guarantee=False), None)
        return
    (spending,) = private
    budget = _budget(spending)
    unit = (
        f"{problem.schema.subject}, at most {spending.max_records_per_subject} records"
        if problem.schema.subject
        else ""
    )
    charge = Charge(policy.method.name, spending.epsilon, spending.delta, policy.method.guaranteed, unit or RECORD)
    ledger.charge(charge, budget)


def _budget(spending: Spending) -> Budget | None:
    return None if spending.budget is None else Budget(spending.budget, spending.budget_delta, spending.composition)


def budget(policy: str | Path) -> Account:
    """What all releases of a policy's data have spent."""
    checked, _ = load_policy(policy)
    ledger = ledger_of(policy, checked)
    assert ledger is not None
    return ledger.account(_budget(spending_of(checked)))


def spending_of(policy: Policy) -> Spending:
    """What the policy allows a release to spend."""
    private = [model.spends for model in policy.privacy if model.spends is not None]
    if len(private) != 1:
        raise PolicyError("The policy asks for no differential privacy.", "Name 'differential-privacy' in 'privacy:'.")
    return private[0]
