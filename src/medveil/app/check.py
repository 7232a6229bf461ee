"""A policy that is being written: whether it holds together, and what is wrong at which line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from medveil.errors import Fault, PolicyError
from medveil.policy import check_policy
from medveil.run import Run


@dataclass(frozen=True)
class CheckedPolicy:
    """What a text is as a policy; None where it is none, and then the faults say why.

    summaries: each privacy model in a few words. spending: what a release spends, where a model spends a budget.
    """

    policy: Mapping[str, Any] | None
    faults: tuple[Fault, ...] = ()
    summaries: tuple[str, ...] = ()
    spending: Mapping[str, Any] | None = None


def check(text: str, *, run: Run | None = None) -> CheckedPolicy:
    """Check the text of a policy. Nothing that it names is opened."""
    (run or Run()).check()
    try:
        policy = check_policy(text)
    except PolicyError as error:
        return CheckedPolicy(None, error.faults)
    spending = next((model.spends for model in policy.privacy if model.spends is not None), None)
    return CheckedPolicy(
        policy.model_dump(mode="json", exclude_unset=True),
        summaries=tuple(model.summary() for model in policy.privacy),
        spending=None if spending is None else asdict(spending),
    )
