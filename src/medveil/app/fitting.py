"""Which methods fit a policy and its data, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medveil.app.compare import fitting_methods
from medveil.methods import methods
from medveil.policy import Policy, load_policy
from medveil.run import Run


def fitting(
    policy: Policy | Mapping[str, Any] | str | Path, *, data: Any = None, run: Run | None = None
) -> dict[str, str | None]:
    """For every method why it does not fit, None where it does. Nothing is searched, written or charged."""
    run = run or Run()
    checked, workspace = load_policy(policy, run.workspace)
    with run.stoppable():
        return fitting_methods(checked, workspace, data, list(methods()), run)
