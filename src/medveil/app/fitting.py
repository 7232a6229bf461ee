"""Which methods fit a policy and its data, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.app.compare import why_not_method
from medveil.app.preparation import opened
from medveil.methods import methods
from medveil.policy import Policy, load_policy
from medveil.run import Run


def fitting(
    policy: Policy | Mapping[str, Any] | str | Path, *, data: Any = None, run: Run | None = None
) -> dict[str, str | None]:
    """For every method why it does not fit, None where it does. Nothing is searched, written or charged."""
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    with run.stoppable(), opened(checked, workspace, data, run) as (problem, _):
        return {name: why_not_method(checked, name, problem) for name in methods()}
